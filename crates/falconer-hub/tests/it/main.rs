//! The hub on a real store with the native engine on scripted models.

#[cfg(test)]
mod adopted;
mod answers;
#[cfg(test)]
mod death;
#[cfg(test)]
mod images;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod place;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod sessions;

//! The native engine through the API of `falconer`, on scripted models.

#[cfg(test)]
mod asking;
#[cfg(test)]
mod conversation;
#[cfg(test)]
mod many;
#[cfg(test)]
mod queries;
#[cfg(test)]
mod refusing;
#[cfg(test)]
mod workplace;

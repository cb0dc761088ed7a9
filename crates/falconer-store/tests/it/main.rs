//! The SQLite store from outside: real files, real processes, real trouble.

#[cfg(test)]
mod busy;
#[cfg(test)]
mod child;
#[cfg(test)]
mod disk;
#[cfg(test)]
mod files;
#[cfg(test)]
mod killed;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod two_processes;
#[cfg(test)]
mod versions;

//! The environment variable by which descendants are recognised after they lost their parents.

use std::ffi::OsString;
use std::fmt;
use std::sync::OnceLock;

use uuid::Uuid;

/// The beginning of every marker's name.
pub(super) const PREFIX: &str = "FALCONER_RUN_";

/// Names a process that starts others, for those who come after it.
///
/// It is different for each process, also for one that gets the same process id later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostId(Uuid);

impl HostId {
    /// This process.
    pub fn this() -> Self {
        Self(host().0)
    }

    /// Another process, by its id.
    pub fn new(id: Uuid) -> Self {
        Self(id)
    }

    /// The id, to be kept.
    pub fn uuid(self) -> Uuid {
        self.0
    }
}

/// A name that is unique for each supervised process.
///
/// The name carries the identity, not the value, so that a process inside another supervised
/// process has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Marker(Uuid);

impl Marker {
    pub(super) fn new() -> Self {
        Self(Uuid::new_v4())
    }

    pub(super) fn of(host: HostId) -> Self {
        Self(host.0)
    }

    /// 62 bits that no other marker has.
    pub(super) fn random_bits(self) -> u64 {
        // The two highest bits of the lower half say which kind of UUID it is.
        self.0.as_u64_pair().1 & ((1 << 62) - 1)
    }

    /// All markers in a block of `NAME=value` strings separated by NUL.
    pub(super) fn find_in(environ: &[u8]) -> impl Iterator<Item = Self> {
        memchr::memmem::find_iter(environ, PREFIX.as_bytes())
            .filter(|at| *at == 0 || environ[*at - 1] == 0)
            .filter_map(|at| {
                let name = environ[at + PREFIX.len()..]
                    .split(|byte| *byte == b'=')
                    .next()?;
                Uuid::try_parse_ascii(name).ok().map(Self)
            })
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0.simple())
    }
}

/// Marks everything that this process starts, and nothing that another one does.
pub(super) fn host() -> Marker {
    static HOST: OnceLock<Marker> = OnceLock::new();
    *HOST.get_or_init(Marker::new)
}

/// The markers this process was itself started with.
pub(super) fn inherited() -> &'static [(OsString, OsString)] {
    static INHERITED: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();
    INHERITED.get_or_init(|| {
        std::env::vars_os()
            .filter(|(name, _)| is_marker(name))
            .collect()
    })
}

pub(super) fn is_marker(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_by_their_whole_name_only() {
        let (one, two) = (Marker::new(), Marker::new());
        let found = |environ: String| Marker::find_in(environ.as_bytes()).collect::<Vec<_>>();

        assert_eq!(found(format!("A=1\0{one}=1\0B=2\0{two}=1\0")), [one, two]);
        assert_eq!(found(format!("{one}=1\0")), [one]);
        assert_eq!(found(format!("X{one}=1\0")), []);
        assert_eq!(found(format!("A={one}\0")), []);
        assert_eq!(found("FALCONER_RUN_zz=1\0".to_owned()), []);
        assert_eq!(found("FALCONER_RUN_".to_owned()), []);
        assert_eq!(found(String::new()), []);
    }
}

//! Confines the calling process; used by a child between `clone` and `execve`.

use std::os::fd::{AsRawFd, RawFd};

use super::Cage;

/// A [`Cage`] as the child needs it: nothing to allocate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bars {
    ruleset: RawFd,
    filter: libc::sock_fprog,
}

impl Bars {
    pub(crate) fn of(cage: &Cage) -> Self {
        Self {
            ruleset: cage.ruleset.as_raw_fd(),
            filter: libc::sock_fprog {
                // The table has a few hundred entries.
                len: u16::try_from(cage.filter.len()).unwrap_or(u16::MAX),
                filter: cage.filter.as_ptr().cast_mut(),
            },
        }
    }

    /// Gives up every right to change something. On failure errno says why, and the process must
    /// end.
    ///
    /// # Safety
    /// Only in a child that is about to become another program, while the [`Cage`] is alive.
    pub(crate) unsafe fn close(&self) -> bool {
        const YES: libc::c_ulong = 1;
        const NOTHING: libc::c_ulong = 0;
        // SAFETY: plain system calls; the filter's pointer and length belong together.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, YES, NOTHING, NOTHING, NOTHING) == 0
                && drop_capabilities()
                && dump_no_core()
                && libc::syscall(
                    libc::SYS_landlock_restrict_self,
                    self.ruleset,
                    0 as libc::c_ulong,
                ) == 0
                && libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER as libc::c_ulong,
                    &raw const self.filter,
                ) == 0
        }
    }
}

/// Keeps a crash from leaving a core file, or from starting the program that would take it: the
/// kernel does that for a limit of one byte, but not for none.
///
/// # Safety
/// See [`Bars::close`].
unsafe fn dump_no_core() -> bool {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: plain system calls on a limit that is alive.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) != 0 {
            return false;
        }
        limit.rlim_max = limit.rlim_max.min(1);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_CORE, &raw const limit) == 0
    }
}

/// `struct __user_cap_header_struct`.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: i32,
}

/// `struct __user_cap_data_struct`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapabilitySets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Leaves root no capability but to read what belongs to others; because no new privileges can be
/// had, `execve` does not bring them back.
///
/// # Safety
/// See [`Bars::close`].
unsafe fn drop_capabilities() -> bool {
    const VERSION_3: u32 = 0x2008_0522;
    const DAC_READ_SEARCH: u32 = 1 << 2;
    let mut header = CapabilityHeader {
        version: VERSION_3,
        pid: 0,
    };
    let mut sets = [CapabilitySets::default(); 2];
    // SAFETY: header and sets have the layout and number that version 3 asks for.
    unsafe {
        if libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) != 0 {
            return false;
        }
        let kept = sets[0].permitted & DAC_READ_SEARCH;
        sets = [CapabilitySets::default(); 2];
        sets[0].permitted = kept;
        sets[0].effective = kept;
        libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()) == 0
    }
}

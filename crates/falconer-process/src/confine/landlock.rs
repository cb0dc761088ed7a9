//! The Landlock rules of confined commands: what they may write, as a descriptor.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

// Rights on files, by the version of the interface that brought them.
const EXECUTE: u64 = 1 << 0;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

/// All rights of version 5; earlier ones have fewer.
const ALL: u64 = (1 << 16) - 1;
const READING: u64 = EXECUTE | READ_FILE | READ_DIR;

const TCP: u64 = 0b11;
/// Signals and abstract unix sockets stay in the confined tree.
const SCOPES: u64 = 0b11;

/// The first version that keeps files from being truncated.
pub(super) const OLDEST: u32 = 3;
/// The first version with scopes.
pub(super) const SCOPING: u32 = 6;

/// A place where something may be written.
pub(super) enum Writable<'a> {
    /// Everything below a directory, except for devices.
    Below(BorrowedFd<'a>),
    /// One device.
    Device(BorrowedFd<'a>),
}

/// Returns the version of the kernel's interface.
pub(super) fn version() -> io::Result<u32> {
    const VERSION: libc::c_ulong = 1;
    let null = ptr::null::<libc::c_void>();
    // SAFETY: without attributes and with this flag the call only returns a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            null,
            0 as libc::size_t,
            VERSION,
        )
    };
    u32::try_from(version).map_err(|_| io::Error::last_os_error())
}

/// Makes the rules: reading everywhere, writing in the given places only, no TCP.
pub(super) fn ruleset(version: u32, places: &[Writable<'_>]) -> io::Result<OwnedFd> {
    let files = handled(version);
    let attributes = Attributes {
        files,
        network: TCP,
        scopes: SCOPES,
    };
    // An older kernel refuses fields that it does not know.
    let size: libc::size_t = match version {
        ..4 => 8,
        4..SCOPING => 16,
        _ => 24,
    };
    // SAFETY: the attributes are alive and at least `size` bytes long.
    let made = unsafe {
        let attributes = &raw const attributes;
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            attributes,
            size,
            0 as libc::c_ulong,
        )
    };
    let made = i32::try_from(made).ok().filter(|fd| *fd >= 0);
    // SAFETY: the call made this descriptor, and nobody else owns it.
    let ruleset = unsafe { OwnedFd::from_raw_fd(made.ok_or_else(io::Error::last_os_error)?) };
    for place in places {
        let (allowed, parent) = match place {
            Writable::Below(fd) => (files & !(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV), fd),
            Writable::Device(fd) => (files & (WRITE_FILE | TRUNCATE | IOCTL_DEV), fd),
        };
        add(&ruleset, allowed, *parent)?;
    }
    Ok(ruleset)
}

/// All rights of a version but those to read.
fn handled(version: u32) -> u64 {
    let known = if version >= 5 { ALL } else { ALL & !IOCTL_DEV };
    known & !READING
}

fn add(ruleset: &OwnedFd, allowed: u64, parent: BorrowedFd<'_>) -> io::Result<()> {
    const PATH_BENEATH: libc::c_int = 1;
    let rule = PathBeneath {
        allowed,
        parent: parent.as_raw_fd(),
    };
    // SAFETY: the rule is alive and what the call expects for this type of rule.
    let added = unsafe {
        let ruleset = ruleset.as_raw_fd();
        let rule = &raw const rule;
        let flags: libc::c_ulong = 0;
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset,
            PATH_BENEATH,
            rule,
            flags,
        )
    };
    if added == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// `struct landlock_ruleset_attr`.
#[repr(C)]
struct Attributes {
    files: u64,
    network: u64,
    scopes: u64,
}

/// `struct landlock_path_beneath_attr`.
#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

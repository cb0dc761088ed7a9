//! Closes a process that holds keys to others: at its start, before it has threads.
//!
//! Whoever may read `/proc/PID/environ` reads the variables a process was started with, for as
//! long as it lives, whatever it does to its environment afterwards: the kernel shows the memory
//! where it put them. So the values are copied and overwritten there.

use std::ffi::{CStr, OsStr, OsString, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::OnceLock;

/// Variables that were taken out of the environment of this process.
static TAKEN: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// Closes this process: other processes of the user cannot read its memory, a crash leaves no
/// core file, and the variables that `is_secret` names leave the environment and the memory that
/// `/proc/PID/environ` shows. [`variables`] still has them.
///
/// Processes that are started later are as open as before.
///
/// # Errors
/// If the system refuses, or if the process has more than one thread: the others may be reading
/// the environment.
pub fn seal(is_secret: impl Fn(&OsStr, &OsStr) -> bool) -> io::Result<()> {
    // SAFETY: a plain system call without pointers.
    if unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0 as libc::c_ulong) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("the process has threads already"));
    }
    let secret: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, value)| is_secret(name, value))
        .collect();
    for (name, _) in &secret {
        // SAFETY: there is no other thread that could read or change the environment.
        unsafe {
            overwrite(name);
            std::env::remove_var(name);
        }
    }
    // Sealed twice, the first time counts: then they were there.
    let _ = TAKEN.set(secret);
    Ok(())
}

/// Returns the variables this process was started with, those that [`seal`] took out included.
pub fn variables() -> Vec<(OsString, OsString)> {
    let taken = TAKEN.get().into_iter().flatten().cloned();
    std::env::vars_os().chain(taken).collect()
}

/// Overwrites the value of each variable of this name with zeros.
///
/// # Safety
/// No other thread may use the environment.
unsafe fn overwrite(name: &OsStr) {
    // SAFETY: `environ` is NULL or a list of NUL-terminated strings that ends with NULL; nobody
    // else uses them now. What is written stays within one string.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let text = *entry;
            let bytes = CStr::from_ptr(text).to_bytes();
            let length = bytes.len();
            let begins = bytes.strip_prefix(name.as_bytes());
            if begins.is_some_and(|rest| rest.first() == Some(&b'=')) {
                let value = name.as_bytes().len() + 1;
                text.add(value).write_bytes(0, length - value);
            }
            entry = entry.add(1);
        }
    }
}

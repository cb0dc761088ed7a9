//! Starts a program: the part that needs `unsafe`.
//!
//! `std::process::Command` can run code in the child only by `fork`, which copies the page
//! tables: 5 ms for a host of 100 MB, 20 ms for one of 500 MB. So this does what
//! `posix_spawn` does (a child that borrows our memory until it execs, while the calling thread
//! waits) and adds the two `prctl` calls that `posix_spawn` has no way to ask for. Because the
//! memory is shared, the child can say exactly which step failed.

use std::ffi::{CString, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::tag::{Limit, Tag};
use crate::confine::{Attempts, Bars, Cage};

/// Everything the child needs, prepared so that it has nothing to allocate.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) program: CString,
    pub(crate) argv: Vec<CString>,
    pub(crate) envp: Vec<CString>,
    pub(crate) cwd: Option<CString>,
    /// Its descriptors 0, 1 and 2. Everything else is closed.
    pub(crate) stdio: [OwnedFd; 3],
    pub(crate) kind: Kind,
    /// The limits by which it is recognised.
    pub(crate) tag: Option<Tag>,
    /// The rules that confine it.
    pub(crate) cage: Option<Cage>,
    /// Attempts that it makes instead of becoming a program.
    pub(crate) attempts: Option<Attempts>,
}

/// The role of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Leads a process group, adopts its orphaned descendants, gets SIGTERM when the thread
    /// that started it ends.
    Supervised,
    /// Leads a session of its own and outlives us.
    Detached,
}

/// A process that has begun to run its program.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) pid: Pid,
    pub(crate) pidfd: OwnedFd,
}

/// The step that failed, and how.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) source: io::Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Step {
    /// Before anything is started.
    Guard,
    Clone,
    Prepare,
    Chdir,
    Confine,
    Exec,
}

/// Starts `image`; returns once it has replaced the child's memory, or failed to.
pub(crate) fn start(image: &Image) -> Result<Started, Failure> {
    let argv = pointers(&image.argv);
    let envp = pointers(&image.envp);
    let plan = Plan {
        program: image.program.as_ptr(),
        argv: argv.as_ptr(),
        envp: envp.as_ptr(),
        cwd: image.cwd.as_ref().map_or(ptr::null(), |cwd| cwd.as_ptr()),
        stdio: [0, 1, 2].map(|index: usize| image.stdio[index].as_raw_fd()),
        kind: image.kind,
        tag: image.tag,
        bars: image.cage.as_ref().map(Bars::of),
        attempts: image.attempts.as_ref(),
        parent: rustix::process::getpid().as_raw_nonzero().get(),
        step: AtomicI32::new(Step::Clone as i32),
        errno: AtomicI32::new(0),
    };
    let started = clone_with(&plan).map_err(|source| Failure {
        step: Step::Clone,
        source,
    })?;
    let errno = plan.errno.load(Ordering::Acquire);
    if errno == 0 {
        return Ok(started);
    }
    // The child has ended; collect it.
    let _ = rustix::io::retry_on_intr(|| {
        waitid(
            WaitId::PidFd(std::os::fd::AsFd::as_fd(&started.pidfd)),
            WaitIdOptions::EXITED,
        )
    });
    let step = match plan.step.load(Ordering::Acquire) {
        step if step == Step::Exec as i32 => Step::Exec,
        step if step == Step::Chdir as i32 => Step::Chdir,
        step if step == Step::Confine as i32 => Step::Confine,
        _ => Step::Prepare,
    };
    Err(Failure {
        step,
        source: io::Error::from_raw_os_error(errno),
    })
}

/// Blocks every signal for the calling thread for good.
///
/// The host's handlers then run on its own threads, and writing to a closed pipe is an error
/// instead of SIGPIPE even if the host has not ignored that.
pub(super) fn block_signals() {
    swap_signal_mask(&full_set());
}

/// The input of the child, and the pipe for its errors.
struct Plan<'a> {
    program: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
    cwd: *const c_char,
    stdio: [RawFd; 3],
    kind: Kind,
    tag: Option<Tag>,
    bars: Option<Bars>,
    attempts: Option<&'a Attempts>,
    parent: c_int,
    step: AtomicI32,
    errno: AtomicI32,
}

/// 64 KiB; the child calls nothing but thin wrappers of system calls.
type Stack = [MaybeUninit<u128>; 4096];

fn clone_with(plan: &Plan<'_>) -> io::Result<Started> {
    let mut stack = Box::<Stack>::new_uninit();
    let mut pidfd: RawFd = -1;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    // No handler of the host may run in the child, where it would change the host's memory.
    let mask = swap_signal_mask(&full_set());
    // SAFETY: CLONE_VFORK suspends this thread until the child has called execve or _exit, so
    // `plan`, what it points to and `stack` outlive the child's use of them. The stack's top is
    // aligned to 16 bytes because the elements are. `child` never returns or unwinds, allocates
    // nothing and takes no lock.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(1).cast::<c_void>();
        let plan = ptr::from_ref(plan).cast_mut().cast::<c_void>();
        libc::clone(child, top, flags, plan, &raw mut pidfd)
    };
    let error = io::Error::last_os_error();
    swap_signal_mask(&mask);
    drop(stack);
    let Some(pid) = (pid > 0).then(|| Pid::from_raw(pid)).flatten() else {
        return Err(error);
    };
    // SAFETY: clone succeeded with CLONE_PIDFD, so this is a new descriptor nobody else owns.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Started { pid, pidfd })
}

extern "C" fn child(plan: *mut c_void) -> c_int {
    // SAFETY: the pointer comes from `clone_with`, whose thread waits for us.
    let plan = unsafe { &*plan.cast::<Plan<'_>>() };
    // SAFETY: we are the child of `clone_with`.
    unsafe {
        become_program(plan);
        plan.errno
            .store(*libc::__errno_location(), Ordering::Release);
        libc::_exit(127)
    }
}

/// Returns only if something failed; errno and `plan.step` say what.
///
/// # Safety
/// Only in a child that shares memory with a waiting parent: async-signal-safe calls only.
unsafe fn become_program(plan: &Plan<'_>) {
    let at = |step: Step| plan.step.store(step as i32, Ordering::Release);
    at(Step::Prepare);
    // SAFETY: all pointers in `plan` are NUL-terminated strings or NULL-terminated lists of
    // them; the calls are async-signal-safe.
    unsafe {
        if !join(plan) {
            return;
        }
        for (target, source) in (0..).zip(plan.stdio) {
            if libc::dup2(source, target) < 0 {
                return;
            }
        }
        // Descriptors the host opened without close-on-exec are none of the child's business.
        // Kernels before 5.11 do not know the flag; then they are inherited as usual.
        let (first, last) = (3 as libc::c_long, libc::c_long::from(u32::MAX));
        let flags = libc::CLOSE_RANGE_CLOEXEC as libc::c_long;
        libc::syscall(libc::SYS_close_range, first, last, flags);
        if !plan.cwd.is_null() {
            at(Step::Chdir);
            if libc::chdir(plan.cwd) < 0 {
                return;
            }
        }
        reset_signals();
        if let Some(bars) = &plan.bars {
            at(Step::Confine);
            if !bars.close() {
                return;
            }
        }
        if let Some(attempts) = plan.attempts {
            libc::_exit(attempts.make());
        }
        at(Step::Exec);
        libc::execve(plan.program, plan.argv, plan.envp);
    }
}

/// Takes the process's place in the tree: group or session, adopter, signal on our death.
///
/// # Safety
/// See `become_program`.
unsafe fn join(plan: &Plan<'_>) -> bool {
    // SAFETY: plain system calls.
    unsafe {
        if plan.kind == Kind::Detached {
            return libc::setsid() >= 0;
        }
        // A confined process gets no terminal either.
        let leads = match plan.bars {
            Some(_) => libc::setsid() >= 0,
            None => libc::setpgid(0, 0) == 0,
        };
        if let Some(tag) = plan.tag {
            wear(tag);
        }
        let joined = leads
            && libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1 as libc::c_ulong) == 0
            && libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong) == 0;
        if joined && libc::getppid() != plan.parent {
            // The parent died before the signal was asked for: nobody is left to tell.
            libc::_exit(127);
        }
        joined
    }
}

/// Sets the limits that mark the process and what it starts. Without them its environment still
/// does.
///
/// # Safety
/// See `become_program`.
unsafe fn wear(tag: Tag) {
    let limit = libc::rlimit64 {
        rlim_cur: tag.host,
        rlim_max: tag.root,
    };
    let (this, old) = (0 as libc::c_long, ptr::null_mut::<libc::rlimit64>());
    // SAFETY: a plain system call; the new limit is alive, and the old one is not asked for.
    unsafe {
        let limit = &raw const limit;
        libc::syscall(libc::SYS_prlimit64, this, tag.limit.number(), limit, old);
    }
}

/// Reads one of the limits of a process: the soft and the hard one.
pub(super) fn limits_of(pid: u32, limit: Limit) -> Option<(u64, u64)> {
    let mut found = libc::rlimit64 {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let new = ptr::null::<libc::rlimit64>();
    // SAFETY: the new limit is NULL, so the call only fills in `found`.
    let read = unsafe {
        let (pid, found) = (libc::c_long::from(pid), &raw mut found);
        libc::syscall(libc::SYS_prlimit64, pid, limit.number(), new, found)
    };
    (read == 0).then_some((found.rlim_cur, found.rlim_max))
}

/// Signal handling as a fresh process expects it: no handlers, SIGPIPE kills, nothing blocked.
///
/// # Safety
/// See `become_program`.
unsafe fn reset_signals() {
    // SAFETY: an all-zero sigaction is SIG_DFL without flags; the sets are initialised by
    // sigemptyset or by the kernel before they are read.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        for signal in 1..=libc::SIGRTMAX() {
            let mut old = MaybeUninit::<libc::sigaction>::uninit();
            if libc::sigaction(signal, ptr::null(), old.as_mut_ptr()) != 0 {
                continue;
            }
            let handler = old.assume_init_ref().sa_sigaction;
            let ignored = handler == libc::SIG_IGN && signal != libc::SIGPIPE;
            if handler != libc::SIG_DFL && !ignored {
                libc::sigaction(signal, &raw const default, ptr::null_mut());
            }
        }
        let mut none = MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

fn full_set() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigfillset initialises the set.
    unsafe {
        libc::sigfillset(set.as_mut_ptr());
        set.assume_init()
    }
}

/// Sets the calling thread's signal mask and returns the one before.
fn swap_signal_mask(mask: &libc::sigset_t) -> libc::sigset_t {
    let mut old = full_set();
    // SAFETY: both sets are initialised; the call cannot fail with a valid `how`.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, &raw mut old);
    }
    old
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings
        .iter()
        .map(|string| string.as_ptr())
        .chain([ptr::null()])
        .collect()
}

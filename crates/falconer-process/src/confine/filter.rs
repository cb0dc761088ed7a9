//! The seccomp filter of confined commands: a table of system calls and the program made of it.
//!
//! Landlock decides about files that are opened, made or removed. It does not know changes of
//! metadata, sockets other than TCP, other processes' settings or the kernel's own state, so the
//! table refuses those. Calls that are newer than the table do not exist for a confined command.

#[cfg(test)]
mod tests;

use libc::{c_long, sock_filter};

/// The party that keeps signals from leaving the confined tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signals {
    /// Landlock, which lets members of the tree signal each other.
    Scoped,
    /// The filter, which refuses to send any.
    Refused,
}

/// The rule for one system call.
enum Rule {
    /// Fails with EPERM.
    Refuse,
    /// Fails with ENOSYS, so that libraries fall back to an older call.
    Missing,
    /// Runs if every condition holds, and fails with EPERM otherwise.
    Only(&'static [Condition]),
}

/// A condition on the low 32 bits of an argument; all those arguments are 32 bits wide in the
/// kernel, too.
enum Condition {
    OneOf(u8, &'static [u32]),
    NoneOf(u8, &'static [u32]),
    Without(u8, u32),
}

use Condition::{NoneOf, OneOf, Without};
use Rule::{Missing, Only, Refuse};

/// The last system call that the table was written for.
const LAST_KNOWN: u32 = 469;

/// Calls with the same number everywhere that the libc crate may not know yet.
const FCHMODAT2: c_long = 452;
const LSM_SET_SELF_ATTR: c_long = 460;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
/// No machine: every call is foreign.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: u32 = 0;

/// The flag of the x32 calls of x86-64; no other architecture has numbers that high.
const X32: u32 = 0x4000_0000;

const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

/// Stream and packet pairs; a datagram pair can be aimed at a socket of somebody else.
const PAIRS: &[u32] = &[
    0x1, 0x801, 0x8_0001, 0x8_0801, // SOCK_STREAM, with SOCK_NONBLOCK and SOCK_CLOEXEC
    0x5, 0x805, 0x8_0005, 0x8_0805, // SOCK_SEQPACKET
];

/// Requests that only look. Others change flags, snapshots, terminals or devices, many of them
/// through descriptors that are open for reading only.
const LOOKING_IOCTLS: &[u32] = &[
    0x5401,      // TCGETS
    0x802c_542a, // TCGETS2
    0x540f,      // TIOCGPGRP
    0x5413,      // TIOCGWINSZ
    0x5429,      // TIOCGSID
    0x541b,      // FIONREAD
    0x5421,      // FIONBIO
    0x5450,      // FIONCLEX
    0x5451,      // FIOCLEX
    0x5452,      // FIOASYNC
    0x2,         // FIGETBSZ
    0xc020_660b, // FS_IOC_FIEMAP
    0x8008_6601, // FS_IOC_GETFLAGS
    0x8008_7601, // FS_IOC_GETVERSION
    0x801c_581f, // FS_IOC_FSGETXATTR
    0x8008_1272, // BLKGETSIZE64
];

/// Commands of `fcntl` that reach other processes or files: owners of signals, leases, notices,
/// hints about writing.
const REACHING_FCNTLS: &[u32] = &[8, 10, 15, 1024, 1026, 1036, 1038];

const FIRST_IS_SELF: Rule = Only(&[OneOf(0, &[0])]);

/// The calls that signal, for kernels whose Landlock cannot scope signals.
const SIGNALLING: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// The calls that exist everywhere.
const RULES: &[(c_long, Rule)] = &[
    // Sockets.
    (libc::SYS_socket, Refuse),
    (libc::SYS_connect, Refuse),
    (libc::SYS_bind, Refuse),
    (libc::SYS_listen, Refuse),
    (libc::SYS_accept, Refuse),
    (libc::SYS_accept4, Refuse),
    (
        libc::SYS_socketpair,
        Only(&[OneOf(0, &[1]), OneOf(1, PAIRS)]),
    ),
    // Metadata of files.
    (libc::SYS_fchmod, Refuse),
    (libc::SYS_fchmodat, Refuse),
    (FCHMODAT2, Refuse),
    (libc::SYS_fchown, Refuse),
    (libc::SYS_fchownat, Refuse),
    (libc::SYS_utimensat, Refuse),
    (libc::SYS_setxattr, Refuse),
    (libc::SYS_lsetxattr, Refuse),
    (libc::SYS_fsetxattr, Refuse),
    (SETXATTRAT, Refuse),
    (libc::SYS_removexattr, Refuse),
    (libc::SYS_lremovexattr, Refuse),
    (libc::SYS_fremovexattr, Refuse),
    (REMOVEXATTRAT, Refuse),
    (FILE_SETATTR, Refuse),
    (libc::SYS_mknodat, Refuse),
    (libc::SYS_open_by_handle_at, Refuse),
    (libc::SYS_ioctl, Only(&[OneOf(1, LOOKING_IOCTLS)])),
    (libc::SYS_fcntl, Only(&[NoneOf(1, REACHING_FCNTLS)])),
    (libc::SYS_fanotify_init, Refuse),
    (libc::SYS_fanotify_mark, Refuse),
    // Namespaces and mounts.
    // A sibling (CLONE_PARENT) would be a child of ours.
    (
        libc::SYS_clone,
        Only(&[Without(
            0,
            NEW_NAMESPACES | libc::CLONE_PARENT.cast_unsigned(),
        )]),
    ),
    (libc::SYS_clone3, Missing),
    (libc::SYS_unshare, Refuse),
    (libc::SYS_setns, Refuse),
    (libc::SYS_chroot, Refuse),
    (libc::SYS_pivot_root, Refuse),
    (libc::SYS_mount, Refuse),
    (libc::SYS_umount2, Refuse),
    (libc::SYS_open_tree, Refuse),
    (OPEN_TREE_ATTR, Refuse),
    (libc::SYS_move_mount, Refuse),
    (libc::SYS_mount_setattr, Refuse),
    (libc::SYS_fsopen, Refuse),
    (libc::SYS_fsconfig, Refuse),
    (libc::SYS_fsmount, Refuse),
    (libc::SYS_fspick, Refuse),
    // Other processes.
    (libc::SYS_ptrace, Refuse),
    (libc::SYS_process_vm_readv, Refuse),
    (libc::SYS_process_vm_writev, Refuse),
    (libc::SYS_process_madvise, Refuse),
    (libc::SYS_process_mrelease, Refuse),
    (libc::SYS_pidfd_getfd, Refuse),
    (libc::SYS_kcmp, Refuse),
    (libc::SYS_migrate_pages, Refuse),
    (libc::SYS_move_pages, Refuse),
    (libc::SYS_prlimit64, FIRST_IS_SELF),
    (libc::SYS_sched_setparam, FIRST_IS_SELF),
    (libc::SYS_sched_setscheduler, FIRST_IS_SELF),
    (libc::SYS_sched_setattr, FIRST_IS_SELF),
    (libc::SYS_sched_setaffinity, FIRST_IS_SELF),
    (
        libc::SYS_setpriority,
        Only(&[OneOf(0, &[0]), OneOf(1, &[0])]),
    ),
    (
        libc::SYS_ioprio_set,
        Only(&[OneOf(0, &[1]), OneOf(1, &[0])]),
    ),
    // Shared memory, queues and keys.
    (libc::SYS_shmget, Refuse),
    (libc::SYS_shmat, Refuse),
    (libc::SYS_shmctl, Refuse),
    (libc::SYS_shmdt, Refuse),
    (libc::SYS_semget, Refuse),
    (libc::SYS_semop, Refuse),
    (libc::SYS_semctl, Refuse),
    (libc::SYS_semtimedop, Refuse),
    (libc::SYS_msgget, Refuse),
    (libc::SYS_msgsnd, Refuse),
    (libc::SYS_msgrcv, Refuse),
    (libc::SYS_msgctl, Refuse),
    (libc::SYS_mq_open, Refuse),
    (libc::SYS_mq_unlink, Refuse),
    (libc::SYS_mq_timedsend, Refuse),
    (libc::SYS_mq_timedreceive, Refuse),
    (libc::SYS_mq_notify, Refuse),
    (libc::SYS_mq_getsetattr, Refuse),
    (libc::SYS_add_key, Refuse),
    (libc::SYS_request_key, Refuse),
    (libc::SYS_keyctl, Refuse),
    // The kernel and the machine.
    (libc::SYS_io_uring_setup, Refuse),
    (libc::SYS_io_uring_enter, Refuse),
    (libc::SYS_io_uring_register, Refuse),
    (libc::SYS_bpf, Refuse),
    (libc::SYS_perf_event_open, Refuse),
    (libc::SYS_userfaultfd, Refuse),
    (libc::SYS_memfd_secret, Refuse),
    (LSM_SET_SELF_ATTR, Refuse),
    (libc::SYS_personality, Only(&[OneOf(0, &[0, u32::MAX])])),
    (libc::SYS_syslog, Refuse),
    (libc::SYS_vhangup, Refuse),
    (libc::SYS_acct, Refuse),
    (libc::SYS_quotactl, Refuse),
    (libc::SYS_quotactl_fd, Refuse),
    (libc::SYS_swapon, Refuse),
    (libc::SYS_swapoff, Refuse),
    (libc::SYS_reboot, Refuse),
    (libc::SYS_kexec_load, Refuse),
    (libc::SYS_init_module, Refuse),
    (libc::SYS_finit_module, Refuse),
    (libc::SYS_delete_module, Refuse),
    (libc::SYS_settimeofday, Refuse),
    (libc::SYS_clock_settime, Refuse),
    (libc::SYS_adjtimex, Refuse),
    (libc::SYS_clock_adjtime, Refuse),
    (libc::SYS_sethostname, Refuse),
    (libc::SYS_setdomainname, Refuse),
    (libc::SYS_nfsservctl, Refuse),
];

/// Older forms of the same calls.
#[cfg(target_arch = "x86_64")]
const OLD_RULES: &[(c_long, Rule)] = &[
    (libc::SYS_chmod, Refuse),
    (libc::SYS_chown, Refuse),
    (libc::SYS_lchown, Refuse),
    (libc::SYS_utime, Refuse),
    (libc::SYS_utimes, Refuse),
    (libc::SYS_futimesat, Refuse),
    (libc::SYS_mknod, Refuse),
    (libc::SYS_uselib, Refuse),
    (libc::SYS__sysctl, Refuse),
    (libc::SYS_modify_ldt, Refuse),
    (libc::SYS_iopl, Refuse),
    (libc::SYS_ioperm, Refuse),
    (libc::SYS_kexec_file_load, Refuse),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_RULES: &[(c_long, Rule)] = &[(KEXEC_FILE_LOAD, Refuse)];
#[cfg(not(target_arch = "x86_64"))]
const KEXEC_FILE_LOAD: c_long = 294;

/// The program for the kernel: a search tree, because the kernel tries the program on every call
/// when it is installed, and a list would make that the longest part of a start.
pub(super) fn program(signals: Signals) -> Vec<sock_filter> {
    let signalling = match signals {
        Signals::Scoped => &[],
        Signals::Refused => SIGNALLING,
    };
    let rules = RULES.iter().chain(OLD_RULES);
    let mut rules: Vec<(u32, &Rule)> = rules
        .map(|(call, rule)| (number(*call), rule))
        .chain(signalling.iter().map(|call| (number(*call), &Refuse)))
        .collect();
    rules.sort_by_key(|(number, _)| *number);
    let mut program = vec![
        load(ARCHITECTURE_AT),
        jump(JEQ, ARCHITECTURE, 1, 0),
        ret(libc::SECCOMP_RET_KILL_PROCESS),
        load(NUMBER_AT),
        jump(JGE, X32, 0, 1),
        ret(libc::SECCOMP_RET_KILL_PROCESS),
        jump(JGE, LAST_KNOWN + 1, 0, 1),
        ret(fail_with(libc::ENOSYS)),
    ];
    program.extend(tree(&rules));
    program
}

/// Numbers of calls are small; one that is not would never match.
fn number(call: c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn tree(rules: &[(u32, &Rule)]) -> Vec<sock_filter> {
    const LEAF: usize = 3;
    if rules.len() <= LEAF {
        let mut leaf: Vec<_> = rules
            .iter()
            .flat_map(|(call, rule)| one(*call, rule))
            .collect();
        leaf.push(ret(libc::SECCOMP_RET_ALLOW));
        return leaf;
    }
    let (low, high) = rules.split_at(rules.len() / 2);
    let (low, split) = (tree(low), high[0].0);
    let over_low = u32::try_from(low.len()).unwrap_or(u32::MAX);
    let head = [jump(JGE, split, 0, 1), instruction(JUMP, over_low, 0, 0)];
    head.into_iter().chain(low).chain(tree(high)).collect()
}

/// Instructions that decide about one call, and go on behind themselves for others.
fn one(call: u32, rule: &Rule) -> Vec<sock_filter> {
    let body = match rule {
        Refuse => vec![ret(fail_with(libc::EPERM))],
        Missing => vec![ret(fail_with(libc::ENOSYS))],
        Only(conditions) => {
            let mut body: Vec<_> = conditions.iter().flat_map(check).collect();
            body.push(ret(libc::SECCOMP_RET_ALLOW));
            body
        }
    };
    let head = jump(JEQ, call, 0, distance(body.len()));
    std::iter::once(head).chain(body).collect()
}

/// Instructions that go on behind themselves if the condition holds, and fail the call if not.
fn check(condition: &Condition) -> Vec<sock_filter> {
    let refuse = ret(fail_with(libc::EPERM));
    let (argument, mut code) = match condition {
        OneOf(argument, values) => {
            // Each match jumps over the rest and the refusal.
            let matches = (values.iter().rev().enumerate().rev())
                .map(|(rest, value)| jump(JEQ, *value, distance(rest + 1), 0));
            (*argument, matches.chain([refuse]).collect::<Vec<_>>())
        }
        NoneOf(argument, values) => {
            let matches = values
                .iter()
                .flat_map(|value| [jump(JEQ, *value, 0, 1), refuse]);
            (*argument, matches.collect())
        }
        Without(argument, bits) => (*argument, vec![jump(JSET, *bits, 0, 1), refuse]),
    };
    code.insert(0, load(ARGUMENTS_AT + 8 * u32::from(argument) + LOW_HALF));
    code
}

/// Tables are far shorter than 256; a longer one would jump too short, into a refusal.
fn distance(instructions: usize) -> u8 {
    u8::try_from(instructions).unwrap_or(0)
}

fn fail_with(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno.cast_unsigned()
}

// Offsets into `seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;
const LOW_HALF: u32 = if cfg!(target_endian = "big") { 4 } else { 0 };

// Instructions of classic BPF.
const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
const JEQ: u16 = 0x15;
const JGE: u16 = 0x35;
const JSET: u16 = 0x45;
const RET: u16 = 0x06;

fn load(at: u32) -> sock_filter {
    instruction(LOAD, at, 0, 0)
}

fn jump(code: u16, value: u32, if_true: u8, if_false: u8) -> sock_filter {
    instruction(code, value, if_true, if_false)
}

fn ret(value: u32) -> sock_filter {
    instruction(RET, value, 0, 0)
}

fn instruction(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

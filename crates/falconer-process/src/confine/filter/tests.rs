//! The filter, run by an interpreter.

use super::*;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

/// Runs a program as the kernel does.
fn decide(program: &[sock_filter], architecture: u32, call: u32, arguments: [u64; 6]) -> u32 {
    let (mut at, mut value) = (0, 0);
    loop {
        let now = program[at];
        at += 1;
        let jumps = match now.code {
            LOAD => {
                value = match now.k {
                    NUMBER_AT => call,
                    ARCHITECTURE_AT => architecture,
                    offset => {
                        let argument = arguments[(offset as usize - 16) / 8];
                        assert_eq!(offset % 8, LOW_HALF, "only low halves are looked at");
                        argument as u32
                    }
                };
                continue;
            }
            RET => return now.k,
            JUMP => {
                at += now.k as usize;
                continue;
            }
            JEQ => value == now.k,
            JGE => value >= now.k,
            JSET => value & now.k != 0,
            other => panic!("unknown instruction {other:#x}"),
        };
        at += usize::from(if jumps { now.jt } else { now.jf });
    }
}

fn check(signals: Signals, call: c_long, arguments: [u64; 6]) -> u32 {
    let call = u32::try_from(call).unwrap();
    decide(&program(signals), ARCHITECTURE, call, arguments)
}

#[test]
fn every_table_entry_decides_about_its_call() {
    let refused = fail_with(libc::EPERM);
    for (call, rule) in RULES.iter().chain(OLD_RULES) {
        let told = check(Signals::Scoped, *call, [u64::MAX; 6]);
        match rule {
            Refuse => assert_eq!(told, refused, "{call}"),
            Missing => assert_eq!(told, fail_with(libc::ENOSYS), "{call}"),
            // These fail because no list of allowed values has all bits set.
            Only(conditions) => {
                let refuses = !matches!(conditions[0], NoneOf(..) | OneOf(0, [0, u32::MAX]));
                assert_eq!(told == refused, refuses, "{call}");
            }
        }
    }
    for call in SIGNALLING {
        assert_eq!(check(Signals::Scoped, *call, [0; 6]), ALLOW);
        assert_eq!(check(Signals::Refused, *call, [0; 6]), refused);
    }
}

#[test]
fn arguments_decide_where_a_call_has_two_sides() {
    let namespaces = u64::from(libc::CLONE_NEWUSER.cast_unsigned()) | 17;
    let threads = 0x3d_0f00; // as pthread_create asks for
    let cases: &[(c_long, [u64; 3], bool)] = &[
        (libc::SYS_clone, [17, 0, 0], true),
        (libc::SYS_clone, [threads, 0, 0], true),
        (libc::SYS_clone, [namespaces, 0, 0], false),
        (libc::SYS_clone, [0x8000 | 17, 0, 0], false),
        (libc::SYS_ioctl, [1, 0x5401, 0], true),
        (libc::SYS_ioctl, [1, 0x5413, 0], true),
        (libc::SYS_ioctl, [1, 0x8008_1272, 0], true),
        (libc::SYS_ioctl, [1, 0x5412, 0], false), // TIOCSTI
        (libc::SYS_ioctl, [1, 0x1_0000_5412, 0], false),
        (libc::SYS_ioctl, [1, 0x4008_6602, 0], false), // FS_IOC_SETFLAGS
        (libc::SYS_fcntl, [1, 3, 0], true),
        (libc::SYS_fcntl, [1, 8, 0], false),
        (libc::SYS_fcntl, [1, 1038, 0], false),
        (libc::SYS_socketpair, [1, 1, 0], true),
        (libc::SYS_socketpair, [1, 0x8_0805, 0], true),
        (libc::SYS_socketpair, [1, 2, 0], false),
        (libc::SYS_socketpair, [2, 1, 0], false),
        (libc::SYS_prlimit64, [0, 7, 1], true),
        (libc::SYS_prlimit64, [1, 7, 1], false),
        (libc::SYS_setpriority, [0, 0, 5], true),
        (libc::SYS_setpriority, [0, 1, 5], false),
        (libc::SYS_setpriority, [2, 0, 5], false),
        (libc::SYS_personality, [0xffff_ffff, 0, 0], true),
        (libc::SYS_personality, [0x4_0000, 0, 0], false),
        (libc::SYS_read, [0, 0, 0], true),
        (libc::SYS_openat, [0, 0, 0], true),
        (libc::SYS_execve, [0, 0, 0], true),
    ];
    for (call, [one, two, three], allowed) in cases {
        let told = check(Signals::Scoped, *call, [*one, *two, *three, 0, 0, 0]);
        assert_eq!(told == ALLOW, *allowed, "{call} {one:#x} {two:#x}");
    }
}

#[test]
fn every_other_call_passes() {
    let listed: Vec<u32> = RULES
        .iter()
        .chain(OLD_RULES)
        .map(|(call, _)| number(*call))
        .collect();
    let program = program(Signals::Scoped);
    for call in (0..=LAST_KNOWN).filter(|call| !listed.contains(call)) {
        let told = decide(&program, ARCHITECTURE, call, [u64::MAX; 6]);
        assert_eq!(told, ALLOW, "{call}");
    }
}

#[test]
fn foreign_and_unknown_calls_do_not_pass() {
    let program = program(Signals::Scoped);
    let kill = libc::SECCOMP_RET_KILL_PROCESS;
    let decide = |architecture, call| decide(&program, architecture, call, [0; 6]);
    assert_eq!(decide(0x4000_0003, 5), kill, "i386");
    assert_eq!(decide(ARCHITECTURE, X32 | 1), kill, "x32");
    assert_eq!(
        decide(ARCHITECTURE, LAST_KNOWN + 1),
        fail_with(libc::ENOSYS)
    );
    assert!(program.len() < 4096, "longer than the kernel takes");
}

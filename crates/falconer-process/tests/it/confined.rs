//! Commands that are confined change nothing outside their private directory.
//!
//! Each hostile command runs twice in a world of its own: confined it must leave everything as it
//! was, unconfined it must leave a trace, or it would prove nothing.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use falconer_process::{ExitStatus, Spec};

use crate::process::{clean_status, spawn, until};

/// A directory with things to spoil, ears on the network, and a process to harm.
struct World {
    root: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    stream: UnixListener,
    datagram: UnixDatagram,
    victim: Child,
}

/// Whether a command is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Confined,
    Free,
}

/// Everything about a world that a command could change.
#[derive(Debug, PartialEq)]
struct State {
    /// A change of content or metadata changes the time of the last change, too.
    files: BTreeMap<PathBuf, (u64, u32, i64, i64, u64)>,
    victim: String,
    calls: [bool; 4],
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::write(at("file"), "before\n").unwrap();
        std::fs::create_dir(at("dir")).unwrap();
        std::fs::write(at("dir/inner"), "inner\n").unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let stream = UnixListener::bind(at("stream")).unwrap();
        let datagram = UnixDatagram::bind(at("datagram")).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        stream.set_nonblocking(true).unwrap();
        datagram.set_nonblocking(true).unwrap();
        let mut victim = Command::new("sleep");
        let victim = victim.arg("1000").stdin(Stdio::null()).spawn().unwrap();
        Self {
            root,
            tcp,
            udp,
            stream,
            datagram,
            victim,
        }
    }

    fn state(&mut self) -> State {
        let mut files = BTreeMap::new();
        list(self.root.path(), &mut files);
        State {
            files,
            victim: self.victim_state(),
            calls: [
                self.tcp.accept().is_ok(),
                self.udp.recv(&mut [0; 9]).is_ok(),
                self.stream.accept().is_ok(),
                self.datagram.recv(&mut [0; 9]).is_ok(),
            ],
        }
    }

    /// Its life, priority and limits.
    fn victim_state(&mut self) -> String {
        let read = |name: &str| {
            let path = format!("/proc/{}/{name}", self.victim.id());
            std::fs::read_to_string(path).unwrap_or_default()
        };
        let (stat, limits) = (read("stat"), read("limits"));
        let nice = stat.split_whitespace().nth(18).map(str::to_owned);
        let ended = self.victim.try_wait().unwrap().is_some();
        format!("{ended} {nice:?} {limits}")
    }

    /// Runs a script in this world and returns its output.
    fn run(&self, script: &str, how: How) -> (ExitStatus, String) {
        let mut spec = Spec::new("/bin/bash");
        spec.args = vec!["-c".into(), format!("exec 2>&1; {script}").into()];
        spec.cwd = Some(self.root.path().to_owned());
        let ports = [
            ("TCP", self.tcp.local_addr().unwrap().port()),
            ("UDP", self.udp.local_addr().unwrap().port()),
        ];
        spec.env = vec![
            ("PATH".into(), "/usr/bin:/bin:/usr/sbin:/sbin".into()),
            ("VICTIM".into(), self.victim.id().to_string().into()),
        ];
        spec.env
            .extend(ports.map(|(name, port)| (name.into(), port.to_string().into())));
        if how == How::Confined {
            spec = spec.confined().unwrap();
        }
        let process = spawn(spec).unwrap();
        let mut output = Vec::new();
        let mut pipe = std::fs::File::from(process.stdout.try_clone().unwrap());
        // Ends with the last process that has it open, so with the sweep at the latest.
        pipe.read_to_end(&mut output).unwrap();
        let status = clean_status(&process);
        (status, String::from_utf8_lossy(&output).into_owned())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = Command::new("chattr")
            .args(["-R", "-i"])
            .arg(self.root.path())
            .stderr(Stdio::null())
            .status();
    }
}

fn list(directory: &Path, files: &mut BTreeMap<PathBuf, (u64, u32, i64, i64, u64)>) {
    for path in std::iter::once(directory.to_owned()).chain(
        std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().path()),
    ) {
        let found = path.symlink_metadata().unwrap();
        let facts = (
            found.ino(),
            found.mode(),
            found.ctime(),
            found.ctime_nsec(),
            found.size(),
        );
        if found.is_dir() && path != directory {
            list(&path, files);
        }
        files.insert(path, facts);
    }
}

/// Perl that connects a socket of a family to a packed address and sends a word.
const PERL_SEND: &str = "use Socket; sub s_ { my($f,$t,$a)=@_; socket(my $s,$f,$t,0) or die \
                         qq(no: $!\\n); connect($s,$a) or die qq(no: $!\\n); syswrite($s,q(hi)); }";

const HOSTILE: &[&str] = &[
    // Content.
    "echo x > file",
    "echo x >> file",
    ": > file",
    "echo x > new",
    "cat file > dir/inner",
    "exec 3<>file; echo x >&3",
    "tee file <<<x",
    "dd if=/dev/zero of=file bs=1 count=1 conv=notrunc",
    "truncate -s 0 file",
    "truncate -s 100 file",
    "fallocate -l 100 file",
    "sed -i s/before/after/ file",
    "sort -o file /etc/passwd",
    "cp /etc/passwd file",
    "install -m 755 /bin/true new",
    "python3 -c 'open(\"file\",\"w\").write(\"x\")'",
    "perl -e 'open F,\">file\" or die; print F 1'",
    "perl -e 'sysopen(F,\"file\",512) or die'", // O_RDONLY | O_TRUNC
    "perl -e 'truncate(\"file\",1) or die'",
    "git init -q repo",
    "mktemp -p .",
    "( echo x > file ) & wait",
    "setsid -w bash -c 'echo x > file'",
    "bash -c 'bash -c \"echo x > $PWD/file\"'",
    "env -i /bin/sh -c 'echo x > file'",
    "coproc { echo x > file; }; wait",
    "echo x > \"$(pwd)/dir/../file\"",
    "echo x > /proc/self/cwd/file",
    "cd /proc/$$/cwd && echo x > file",
    "find . -name file -exec sh -c 'echo x > \"$1\"' _ {} \\;",
    "xargs -I{} sh -c 'echo x > {}' <<<file",
    "awk 'BEGIN{print 1 > \"file\"}'",
    // Names.
    "rm file",
    "rm -r dir",
    "rmdir dir || rm -r dir",
    "mv file gone",
    "mv dir gone",
    "mkdir made",
    "ln file hard",
    "ln -s file soft",
    "mkfifo pipe",
    "mknod null c 1 3",
    "perl -e 'rename(\"file\",\"dir/inner\") or die'",
    "perl -e 'link(\"file\",\"h\") or die'",
    "find . -name inner -delete",
    // Metadata.
    "chmod 600 file",
    "chmod -R 700 .",
    "chown 1:1 file",
    "chgrp 1 file",
    "touch file",
    "touch -t 200001010000 file",
    "touch -r /etc/passwd dir",
    "perl -e 'utime(1,1,\"file\") or die'",
    "perl -e 'open my $f,q(<),q(file); chmod(0600,$f) or die'",
    "python3 -c 'import os; os.setxattr(\"file\",\"user.x\",b\"1\")'",
    "chattr +i file",
    // Network.
    "echo hi > /dev/tcp/127.0.0.1/$TCP",
    "echo hi > /dev/udp/127.0.0.1/$UDP",
    "exec 3<>/dev/tcp/127.0.0.1/$TCP; echo hi >&3",
    "perl -e '$SEND; s_(AF_INET,SOCK_STREAM,pack_sockaddr_in($ENV{TCP},inet_aton(q(127.0.0.1))))'",
    "perl -e '$SEND; s_(AF_INET,SOCK_DGRAM,pack_sockaddr_in($ENV{UDP},inet_aton(q(127.0.0.1))))'",
    "perl -e '$SEND; s_(AF_UNIX,SOCK_STREAM,pack_sockaddr_un(q(stream)))'",
    "perl -e '$SEND; s_(AF_UNIX,SOCK_DGRAM,pack_sockaddr_un(q(datagram)))'",
    "perl -e 'use Socket; socketpair($a,$b,AF_UNIX,SOCK_DGRAM,0) or die; \
     send($a,q(hi),0,pack_sockaddr_un(q(datagram))) or die'",
    "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\",'$TCP'))'",
    // Processes.
    "kill $VICTIM",
    "kill -9 $VICTIM",
    "perl -e 'kill(9,$ENV{VICTIM}) or die'",
    "setsid -w sh -c 'kill -9 $VICTIM'",
    "renice -n 15 -p $VICTIM",
    "prlimit --pid $VICTIM --nofile=9:9",
];

#[test]
fn hostile_commands_leave_no_trace_when_they_are_confined() {
    for script in HOSTILE {
        let script = script.replace("$SEND", PERL_SEND);
        for how in [How::Confined, How::Free] {
            let mut world = World::new();
            let before = world.state();
            let (_, output) = world.run(&script, how);
            if how == How::Free {
                // Packets and signals may arrive a moment later.
                let trace = format!("a trace of `{script}`: {output}");
                until(&trace, || world.state() != before);
            } else {
                assert_eq!(world.state(), before, "`{script}`: {output}");
            }
        }
    }
}

/// Attempts that have no visible effect here even if they succeed; they must say that they failed.
const REFUSED: &[&str] = &[
    "unshare -U true",
    "unshare -r -m true",
    "perl -e 'exit(syscall(101,16,$ENV{VICTIM},0,0)==0?0:1)'", // ptrace(PTRACE_ATTACH)
    "perl -e 'exit(syscall(425,8,q(x)x120)>=0?0:1)'",          // io_uring_setup
    "perl -e 'exit(syscall(321,0,q(x)x120,120)>=0?0:1)'",      // bpf
    "perl -e 'exit(syscall(250,0,-3,1)>=0?0:1)'",              // keyctl(GET_KEYRING_ID)
    "perl -e 'exit(syscall(29,0,4096,0600|01000)>=0?0:1)'",    // shmget
    "perl -e 'exit(syscall(240,q(/x),0100|1,0600,0)>=0?0:1)'", // mq_open
    "perl -e 'exit(syscall(323,0)>=0?0:1)'",                   // userfaultfd
    "mount -t tmpfs none dir",
    "umount /proc",
    "chroot / true",
    "hostname other",
    "date -s 2030-01-01",
    "sysctl -w kernel.domainname=x",
    "echo 1 > /proc/sys/kernel/sysrq",
    "echo 500 > /proc/self/oom_score_adj",
    "echo x > /dev/shm/falconer-test",
    "echo x > /dev/kmsg",
    "cat /proc/$VICTIM/environ",
    "readlink /proc/$VICTIM/cwd",
    "echo x > /dev/tty",
    "ipcmk -Q",
    "chrt -p 0 $VICTIM",
    "taskset -p 1 $VICTIM",
    "ionice -c 3 -p $VICTIM",
    "nsenter -t 1 -m true",
    "setpriv --reuid 1 true",
    "bwrap --ro-bind / / true",
];

#[cfg(target_arch = "x86_64")]
#[test]
fn what_leaves_no_trace_is_refused_too() {
    let world = World::new();
    for script in REFUSED {
        let (status, output) = world.run(script, How::Confined);
        let failed = matches!(status, ExitStatus::Code(code) if code != 0);
        assert!(failed, "`{script}`: {status:?} {output}");
    }
}

#[test]
fn foreign_system_calls_end_the_process() {
    let world = World::new();
    // x32 number of getpid
    let (status, _) = world.run("exec perl -e 'syscall(0x40000000|39)'", How::Confined);
    assert_eq!(
        status,
        ExitStatus::Signal(rustix::process::Signal::SYS.as_raw())
    );
}

#[test]
fn reading_and_temporary_files_work() {
    let world = World::new();
    let cases = [
        ("cat file", "before\n"),
        ("cat < file | wc -l", "1\n"),
        ("cat <<<x", "x\n"),
        ("cat <<E\nx\nE\n", "x\n"),
        ("cat <(echo x)", "x\n"),
        ("echo x > /dev/null; echo x >/dev/stdout", "x\n"),
        ("grep -r inner . 2>/dev/null", "./dir/inner:inner\n"),
        ("find . -name inner", "./dir/inner\n"),
        ("echo x > $TMPDIR/a && cat $TMPDIR/a", "x\n"),
        ("stat -c %a $TMPDIR", "700\n"),
        ("[ $TMPDIR = $TMP ] && mktemp >/dev/null && echo ok", "ok\n"),
        ("sleep 1000 & kill $!; wait $!; echo $?", "143\n"),
        ("timeout 0.01 sleep 1000; echo $?", "124\n"),
        ("seq 1 100000 | sort -S 1K -n | tail -n 1", "100000\n"),
        ("perl -e 'print -t STDOUT ? 1 : 0, qq(\\n)'", "0\n"),
        ("git --version | cut -c1-3", "git\n"),
        ("ulimit -c", "0\n"),
        ("exit 7", ""),
    ];
    for (script, expected) in cases {
        let (_, output) = world.run(script, How::Confined);
        assert_eq!(output, expected, "{script}");
    }
}

#[test]
fn the_private_directory_is_gone_with_the_command() {
    let world = World::new();
    for fill in ["true", "echo x > $TMPDIR/a", "mkdir -p $TMPDIR/a/b/c"] {
        let (_, path) = world.run(&format!("echo $TMPDIR; {fill}"), How::Confined);
        let path = Path::new(path.trim());
        assert!(path.is_absolute(), "{path:?}");
        until("the directory is gone", || !path.exists());
    }
}

#[test]
fn set_user_id_programs_gain_nothing() {
    let world = World::new();
    let program = world.root.path().join("sh");
    std::fs::copy("/bin/sh", &program).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o6755)).unwrap();
    let before = std::fs::read(world.root.path().join("file")).unwrap();
    world.run("./sh -p -c 'echo x > file'", How::Confined);
    assert_eq!(
        std::fs::read(world.root.path().join("file")).unwrap(),
        before
    );
    let (_, output) = world.run("grep -h NoNewPrivs /proc/self/status", How::Confined);
    assert_eq!(output, "NoNewPrivs:\t1\n");
    let (_, capabilities) = world.run("grep -h CapEff /proc/self/status", How::Confined);
    let set = capabilities.trim().rsplit('\t').next().unwrap().to_owned();
    let set = u64::from_str_radix(&set, 16).unwrap();
    assert_eq!(set & !4, 0, "more than CAP_DAC_READ_SEARCH: {set:x}");
}

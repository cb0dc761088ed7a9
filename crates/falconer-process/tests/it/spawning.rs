//! Starting: pipes, environment, and each kind of failure.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use falconer_process::{ExitStatus, HostId, SpawnError, Spec};

use crate::process::{Den, clean_status, spawn};

fn output(spec: Spec) -> String {
    let process = spawn(spec).unwrap();
    let mut text = String::new();
    File::from(process.stdout.try_clone().unwrap())
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(clean_status(&process), ExitStatus::Code(0));
    text
}

#[test]
fn the_three_pipes_are_connected() {
    let den = Den::new();
    let process = den.spawn("read line; echo \"out $line\"; echo \"err $line\" >&2; exit 7");
    File::from(process.stdin.try_clone().unwrap())
        .write_all(b"hello\n")
        .unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    File::from(process.stdout.try_clone().unwrap())
        .read_to_string(&mut out)
        .unwrap();
    File::from(process.stderr.try_clone().unwrap())
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!((out.as_str(), err.as_str()), ("out hello\n", "err hello\n"));
    assert_eq!(clean_status(&process), ExitStatus::Code(7));
}

#[test]
fn the_environment_is_what_was_given_and_two_markers() {
    let den = Den::new();
    let mut spec = den.spec("exec cat /proc/self/environ");
    spec.env.push(("GIVEN".into(), "a=b c".into()));
    spec.env.push(("FALCONER_RUN_stale".into(), "1".into()));
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    let text = output(spec);
    let mut entries: Vec<&str> = text.split_terminator('\0').collect();
    entries.retain(|entry| !entry.starts_with("PWD="));
    let (markers, others): (Vec<&str>, Vec<&str>) = entries
        .into_iter()
        .partition(|entry| entry.starts_with("FALCONER_RUN_"));
    let host = format!("FALCONER_RUN_{}=1", HostId::this().uuid().simple());
    assert_eq!(markers.len(), 2, "{markers:?}");
    assert!(markers.iter().all(|marker| marker.len() == host.len()));
    assert!(markers.contains(&host.as_str()), "{markers:?}");
    assert_ne!(markers[0], markers[1]);
    let mut expected = vec!["GIVEN=a=b c", &path];
    expected.sort_unstable();
    let mut others = others;
    others.sort_unstable();
    assert_eq!(others, expected);
}

#[test]
fn a_process_starts_with_a_fresh_group_mask_and_no_foreign_descriptors() {
    let den = Den::new();
    // A descriptor that would be inherited, were it not closed.
    let open = File::open("/dev/null").unwrap();
    let inheritable = rustix::io::dup(&open).unwrap();
    let text = output(den.spec(
        "while read -r name value; do case $name in SigBlk:|SigIgn:) echo $value; esac; \
         done </proc/$$/status; ls /proc/self/fd | wc -l; cut -d' ' -f1,5 /proc/$$/stat",
    ));
    drop(inheritable);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "0000000000000000", "blocked signals");
    let ignored = u64::from_str_radix(lines[1], 16).unwrap();
    assert_eq!(ignored & (1 << 12), 0, "SIGPIPE is ignored in {ignored:x}");
    // 0, 1, 2 and the one `ls` reads the directory with.
    assert_eq!(lines[2].trim(), "4", "{text}");
    let (pid, group) = lines[3].split_once(' ').unwrap();
    assert_eq!(pid, group);
}

#[test]
fn a_bare_name_is_looked_up_in_the_given_path_only() {
    let den = Den::new();
    script(&den, "tool", "#!/bin/sh\necho mine\n", 0o755);
    let mut spec = Spec::new("tool");
    spec.env = vec![(
        "PATH".into(),
        format!("/nowhere:{}", den.path().display()).into(),
    )];
    assert_eq!(output(spec), "mine\n");
}

#[test]
fn a_relative_program_is_relative_to_the_caller_not_to_the_child() {
    let den = Den::new();
    let mut spec = Spec::new("./Cargo.toml");
    spec.cwd = Some(den.path().to_owned());
    let error = spawn(spec).unwrap_err();
    let expected = std::env::current_dir().unwrap().join("Cargo.toml");
    assert!(
        matches!(&error, SpawnError::ProgramNotExecutable { program, .. } if *program == expected),
        "{error:?}"
    );
}

#[test]
fn each_reason_not_to_start_has_its_own_error() {
    let den = Den::new();
    let here = |name: &str| den.path().join(name);
    script(&den, "no-permission", "#!/bin/sh\n", 0o644);
    script(&den, "garbage", "\x01\x02 no program", 0o755);
    script(&den, "no-interpreter", "#!/no/such/interpreter\n", 0o755);
    fs::write(here("other-machine"), foreign_elf()).unwrap();
    fs::set_permissions(here("other-machine"), fs::Permissions::from_mode(0o755)).unwrap();

    let cases: &[(PathBuf, PathBuf, &str)] = &[
        (here("absent"), here(""), "missing"),
        ("absent-everywhere".into(), here(""), "missing"),
        (here("garbage/below-a-file"), here(""), "missing"),
        (here("no-permission"), here(""), "not executable"),
        (here(""), here(""), "not executable"),
        (here("garbage"), here(""), "format"),
        (here("no-interpreter"), here(""), "format"),
        (here("other-machine"), here(""), "format"),
        ("/bin/true".into(), here("absent"), "directory"),
        ("/bin/true".into(), here("garbage"), "directory"),
        ("/bin/tr\0ue".into(), here(""), "io"),
    ];
    for (program, cwd, expected) in cases {
        let mut spec = Spec::new(program);
        spec.cwd = Some(cwd.clone());
        let error = spawn(spec).unwrap_err();
        let kind = match &error {
            SpawnError::ProgramMissing { .. } => "missing",
            SpawnError::ProgramNotExecutable { .. } => "not executable",
            SpawnError::ProgramFormat { .. } => "format",
            SpawnError::WorkingDirectory { path, .. } if path == cwd => "directory",
            SpawnError::Io { .. } => "io",
            _ => "?",
        };
        assert_eq!(kind, *expected, "{program:?} in {cwd:?}: {error}");
        let named = if kind == "directory" { cwd } else { program };
        assert!(
            error.to_string().contains(&*named.to_string_lossy()),
            "{error}"
        );
    }
    assert_eq!(den.processes(), [0; 0]);
}

fn script(den: &Den, name: &str, text: &str, mode: u32) {
    let file = den.path().join(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

/// The header of an ELF executable for a machine that does not exist.
fn foreign_elf() -> Vec<u8> {
    let mut elf = vec![0; 64];
    elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    elf[16] = 2;
    elf[18] = 0xfe;
    elf[19] = 0xca;
    elf
}

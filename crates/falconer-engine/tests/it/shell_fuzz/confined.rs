//! The confinement alone: whatever is run confined changes nothing and reaches nobody.
//!
//! The judgement is replaced by a yes to everything. Inside the jail, this executable itself
//! starts the commands as the engine does, so that a hole harms nobody but the jail.

use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::time::Duration;

use falconer_process::{ExitStatus, Ladder, Spec, spawn};
use tokio::io::AsyncReadExt;

use super::hunt::{Hunter, hunt};
use super::jail::{Driver, Effect, Jail, Setup};
use super::judge::Judge;
use super::{corpus, length, scene, seed};

/// Set for the executable in the jail: the writable directory.
pub(super) const BASE: &str = "FALCONER_FUZZ_JAIL";

const LIMIT: Duration = Duration::from_millis(1500);

fn setup() -> Setup {
    Setup {
        driver: Driver::Confined,
        ..Setup::default()
    }
}

/// Confinement does not restrict reading, and the jail's own refusals come first.
fn is_reading(effect: &Effect) -> bool {
    matches!(effect, Effect::ReadOutside | Effect::Attempted)
}

#[test]
fn nothing_gets_out_of_confinement() {
    let bag = hunt(
        &Judge::Everything,
        &setup(),
        is_reading,
        seed(),
        length(500),
    );
    println!("{}", bag.report());
    assert!(bag.hits.is_empty(), "{}", bag.report());
}

#[test]
fn no_hostile_command_of_the_corpus_gets_out_of_confinement() {
    let mut hunter = Hunter::new(Judge::Everything, &setup()).expecting(is_reading);
    for seed in corpus::hostile() {
        let scenes: &[&'static str] = match seed.class.as_str() {
            "name-as-option" => &scene::names(),
            "git" => &["plain", "repository"],
            _ => &["plain"],
        };
        for scene in scenes {
            hunter.attempt(scene, &seed.command);
        }
    }
    let bag = hunter.finish();
    assert!(bag.hits.is_empty(), "{}", bag.report());
}

/// Commands really run, and only what they must not do is missing.
#[test]
fn confined_commands_read_and_write_their_own_temporary_files() {
    let mut jail = Jail::start(&setup());
    assert_eq!(jail.run("plain", "cat link"), [Effect::ReadOutside]);
    let private = "echo TOPSECRET >$TMPDIR/a && rev $TMPDIR/a | rev; touch PWNED /tmp/PWNED";
    assert_eq!(jail.run("plain", private), [Effect::ReadOutside]);
    assert_eq!(jail.run("plain", "echo a >$TMPDIR/a; touch PWNED"), []);
}

/// Starts commands in the jail; does nothing anywhere else. Speaks as `driver.sh` does.
#[test]
fn driver() {
    let Ok(base) = std::env::var(BASE) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut input = std::io::stdin().lock();
    loop {
        let (scene, command) = (string(&mut input), string(&mut input));
        if scene.is_empty() {
            return;
        }
        let code = runtime.block_on(run(Path::new(&base), &scene, &command));
        let (tcp, udp) = network();
        let mut output = std::io::stdout().lock();
        // The test runner writes to this pipe, too.
        writeln!(output, "\nDONE {code} {tcp} {udp}").unwrap();
        output.flush().unwrap();
    }
}

fn string(input: &mut impl BufRead) -> String {
    let mut bytes = Vec::new();
    input.read_until(0, &mut bytes).unwrap();
    bytes.pop();
    String::from_utf8(bytes).unwrap()
}

async fn run(base: &Path, scene: &str, command: &str) -> i32 {
    let mut spec = Spec::new("/bin/bash");
    spec.args = ["-c", "exec 2>&1 </dev/null; eval \"$1\"", "bash", command]
        .map(Into::into)
        .to_vec();
    spec.cwd = Some(base.join(scene).join("work"));
    spec.env = vec![
        ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
        ("HOME".into(), base.join(scene).join("home").into()),
        ("LANG".into(), "C.UTF-8".into()),
    ];
    let process = spawn(spec.confined().unwrap()).await.unwrap();
    drop(process.stdin);
    drop(process.stderr);
    let mut stdout = process.handle.output(process.stdout).unwrap().take(1 << 20);
    let mut text = Vec::new();
    let reading = stdout.read_to_end(&mut text);
    let _ = tokio::time::timeout(LIMIT, reading).await;
    process.handle.end(Ladder {
        exit: Duration::ZERO,
        term: Duration::ZERO,
    });
    let exit = process.handle.exited().await;
    std::fs::write(base.join("out"), &text).unwrap();
    match exit.status {
        ExitStatus::Code(code) => code,
        _ => 137,
    }
}

/// Connections and datagrams that were sent from this network namespace.
fn network() -> (u64, u64) {
    let mut text = String::new();
    let mut file = std::fs::File::open("/proc/net/snmp").unwrap();
    file.read_to_string(&mut text).unwrap();
    let field = |name: &str, at: usize| {
        let values = text.lines().filter(|line| line.starts_with(name)).nth(1);
        let value = values.and_then(|line| line.split(' ').nth(at));
        value.and_then(|value| value.parse().ok()).unwrap_or(0)
    };
    (field("Tcp:", 5), field("Udp:", 4))
}

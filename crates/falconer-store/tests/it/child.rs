//! Other processes: this program again, with a role.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

/// Says what a process is to do.
const ROLE: &str = "FALCONER_STORE_TEST_ROLE";
/// Where its database is.
const DATABASE: &str = "FALCONER_STORE_TEST_DATABASE";
/// What its words begin with, so that they are told from the output of the test harness.
const SAYS: &str = "CHILD ";

/// A process with a role.
pub(crate) struct Played {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

/// The command that plays a role.
pub(crate) fn command(role: &str, database: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child::role_of_a_child", "--nocapture"])
        .env(ROLE, role)
        .env(DATABASE, database);
    command
}

impl Played {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next thing it says; `None` when it is over.
    pub(crate) fn says(&mut self) -> Option<String> {
        self.lines.by_ref().find_map(|line| {
            let line = line.unwrap();
            // The harness may have begun the line.
            line.split_once(SAYS).map(|(_, said)| said.to_owned())
        })
    }

    /// SIGKILL, and what it had said before.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        let said = std::iter::from_fn(|| self.says()).collect();
        self.child.wait().unwrap();
        said
    }

    /// Waits for a good end.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let said = std::iter::from_fn(|| self.says()).collect();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {said:?}");
        said
    }
}

/// Says something to the process that gave the role.
pub(crate) fn say(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{SAYS}{text}").unwrap();
    out.flush().unwrap();
}

/// Without a role it shows that children get theirs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn role_of_a_child() {
    let Ok(role) = std::env::var(ROLE) else {
        let said = Played::start(command("echo", Path::new("/nowhere"))).finish();
        assert_eq!(said, ["/nowhere"]);
        return;
    };
    let database = std::env::var_os(DATABASE).unwrap();
    let database = Path::new(&database);
    match role.as_str() {
        "echo" => say(database.display()),
        "append" => crate::killed::append_for_ever(database).await,
        "answer" => crate::two_processes::answer(database).await,
        "write" => crate::two_processes::write(database).await,
        "populate" => crate::versions::make(database).await,
        "fill" => crate::disk::fill(database).await,
        "make" => crate::disk::make(database).await,
        "fail" => crate::disk::fail_to_open(database).await,
        other => panic!("no role {other}"),
    }
}

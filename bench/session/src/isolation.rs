//! Starting the official CLI, plain and isolated, up to the moment it is ready for a prompt.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use falconer::isolation::IsolationConfig;
use falconer::{Client, Options};
use falconer_testkit::ApiServer;
use falconer_testkit::scenario::Scenario;
use tempfile::TempDir;

use crate::{Arguments, facts, median};

const STARTS: usize = 7;
const KEY: &str = "sk-ant-key-of-a-measurement";

/// Everything a start needs.
struct Ground {
    program: PathBuf,
    server: ApiServer,
    project: TempDir,
    homes: TempDir,
}

impl Ground {
    fn plain(&self) -> Options {
        let options = Options::new()
            .executable(&self.program)
            .cwd(self.project.path())
            .base_url(self.server.url())
            .env("ANTHROPIC_API_KEY", KEY)
            .env("HOME", self.homes.path());
        quiet().into_iter().fold(options, |options, name| options.env(name, "1"))
    }

    fn isolated(&self, proof_age: Duration) -> Options {
        let config = IsolationConfig::with_api_key(KEY)
            .homes_in(self.homes.path())
            .proof_age(proof_age);
        let config = quiet().into_iter().fold(config, |config, name| config.env(name, "1"));
        Options::new()
            .executable(&self.program)
            .cwd(self.project.path())
            .base_url(self.server.url())
            .isolation(config)
    }
}

fn quiet() -> [&'static str; 3] {
    [
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    ]
}

async fn start(options: Options) -> f64 {
    let begun = Instant::now();
    let (client, _messages) = Client::connect(options).await.expect("starts");
    let took = begun.elapsed().as_secs_f64();
    client.close().await.expect("ends");
    took
}

/// The middle of several starts, in seconds.
async fn starts(options: impl Fn() -> Options) -> f64 {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        times.push(start(options()).await);
    }
    median(times)
}

pub(crate) fn measure(_: &Arguments) {
    let Some(program) = std::env::var_os("FALCONER_CLAUDE_PATH") else {
        eprintln!("note: FALCONER_CLAUDE_PATH names no official CLI, so no start is measured");
        return;
    };
    let ground = Ground {
        program: program.into(),
        server: ApiServer::start(Scenario::new()).expect("a server"),
        project: TempDir::new().expect("a project"),
        homes: TempDir::new().expect("a place for homes"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (plain, remembered, tried) = runtime.block_on(async {
        start(ground.plain()).await;
        start(ground.isolated(Duration::from_secs(600))).await;
        (
            starts(|| ground.plain()).await,
            starts(|| ground.isolated(Duration::from_secs(600))).await,
            starts(|| ground.isolated(Duration::ZERO)).await,
        )
    });
    let shown = |seconds: f64| format!("**{seconds:.2} s**");
    facts(
        "Starting the official CLI until it is ready",
        &[
            ("not isolated", shown(plain), ""),
            ("isolated, the proof is remembered", shown(remembered), ""),
            ("isolated, the sandbox is tried first", shown(tried), ""),
        ],
    );
}

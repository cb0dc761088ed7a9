//! The server the browser talks to: this executable, started once more by the test in Node.
//!
//! It runs until it is killed. Its first line says where it is and how to come in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer::Options;
use falconer_event::Run;
use falconer_hub::{EngineName, Engines, Hub, HubConfig, Launch, LaunchError};
use falconer_native::NativeEngine;
use falconer_scenario::Scenario;
use falconer_server::{Bypass, Server, ServerConfig};
use falconer_store::{SessionRecord, SqliteStore};
use falconer_testkit::{FakeEngine, fake_engine_path};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::place::{LIMIT, client};

/// The folder with the store, the scripts and the projects.
const ROOT: &str = "FALCONER_STAGE_ROOT";
/// The port, so that a server that is started again is where the first one was.
const PORT: &str = "FALCONER_STAGE_PORT";
/// Set if sessions may run without asking; the server then must not be root.
const BYPASS: &str = "FALCONER_STAGE_BYPASS";

/// A role, which the tests in Node play. Without one it shows that whoever plays it is served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve() {
    if let Some(root) = std::env::var_os(ROOT) {
        return stand(Path::new(&root)).await;
    }
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("work")).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut server = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "browser::stage::serve", "--nocapture"])
        .env(ROOT, root.path())
        .env(PORT, port.to_string())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let ready = loop {
        let line = lines
            .next_line()
            .await
            .unwrap()
            .expect("it is ready before it ends");
        if let Some((_, ready)) = line.split_once("READY ") {
            break ready.to_owned();
        }
    };
    let token = ready.split(' ').next().unwrap();
    let engines = client();
    let engines = engines.get(format!("http://127.0.0.1:{port}/v1/engines"));
    let answer = engines
        .bearer_auth(token)
        .timeout(LIMIT)
        .send()
        .await
        .unwrap();
    let told = answer.text().await.unwrap();
    assert!(told.contains("absent"), "{told}");
    server.kill().await.unwrap();
}

async fn stand(root: &Path) {
    let store = SqliteStore::open(root.join("store.db")).await.unwrap();
    let engines = Scripted {
        root: root.to_owned(),
    };
    let mut hub = HubConfig::new(engines, root.join("locks"));
    let port: u16 = std::env::var(PORT).unwrap().parse().unwrap();
    let mut config = ServerConfig::new(([127, 0, 0, 1], port).into());
    config.roots = vec![root.join("work")];
    if std::env::var_os(BYPASS).is_some() {
        config.bypass = Bypass::Accepted;
        hub = hub.bypass(falconer_hub::Bypass::Accepted);
    }
    let hub = Hub::open(Arc::new(store), hub).await.unwrap();
    let server = Server::bind(hub, config).await.unwrap();
    let links = [(); 8].map(|()| server.login_link().unwrap());
    let all = falconer_server::Scope::ALL;
    let token = server.make_token("test", all).await.unwrap();
    println!("READY {} {}", token.reveal(), links.join(" "));
    server.run(std::future::pending()).await;
}

/// `script` is the native engine with a scripted model; `fake` says what its script says.
struct Scripted {
    root: PathBuf,
}

impl Scripted {
    fn options(&self) -> Options {
        Options::new()
            .env_clear()
            .env_inherit("PATH")
            .env("HOME", self.root.join("home"))
            .env("TMPDIR", self.root.join("home"))
    }

    fn scenario(&self) -> Scenario {
        let text = std::fs::read_to_string(self.root.join("scenario.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

impl Engines for Scripted {
    fn launch(&self, session: &SessionRecord) -> Result<Launch, LaunchError> {
        let options = match session.engine.as_str() {
            "fake" => self
                .options()
                .executable(fake_engine_path().unwrap())
                .env(FakeEngine::SCRIPT, self.root.join("fake.json")),
            _ => self
                .options()
                .engine(NativeEngine::scripted(self.scenario())),
        };
        let mut about = Run::default();
        about.engine = session.engine.clone();
        Ok(Launch::new(options, about))
    }

    fn names(&self) -> Vec<EngineName> {
        let about = "it is a test";
        vec![
            EngineName::available("script", about),
            EngineName::available("fake", about),
            EngineName::missing("absent", "not found in /any/place ".repeat(60)),
        ]
    }
}

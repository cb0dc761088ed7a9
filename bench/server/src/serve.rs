//! The server that is measured, with the native engine on a scripted model. Every line of the
//! engine gets the time at which it was handed over.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use falconer::{EngineLaunch, Error, InProcessEngine, Inbound, LineSource, Link, Options};
use falconer_event::Run;
use falconer_hub::{EngineName, Engines, Hub, HubConfig, Launch, LaunchError};
use falconer_native::{NativeEngine, Scenario};
use falconer_server::{Scope, Server, ServerConfig};
use falconer_store::{SessionRecord, SqliteStore};
use falconer_testkit::scenario::{any, text};
use futures::future::BoxFuture;

use crate::role::{READY, end_with_parent};
use crate::stamp;

pub(crate) fn run(folder: &Path) {
    end_with_parent();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(serve(folder.to_owned()));
}

async fn serve(folder: PathBuf) {
    let store = SqliteStore::open(folder.join("store.db")).await;
    let engines = Stamped {
        home: folder.clone(),
        engine: Arc::new(Stamping(NativeEngine::scripted(scenario()))),
    };
    let config = HubConfig::new(engines, folder.join("locks"));
    let store = Arc::new(store.expect("the store opens"));
    let hub = Hub::open(store, config).await.expect("the hub opens");
    let mut config = ServerConfig::new(([127, 0, 0, 1], 0).into());
    config.roots = vec![folder];
    config.caps.connections = 8192;
    config.caps.streams = 4096;
    let server = Server::bind(hub, config).await.expect("an address");
    let token = server
        .make_token("bench", Scope::ALL)
        .await
        .expect("a token");
    println!("{READY}{} {}", server.url(), token.reveal());
    server.run(std::future::pending()).await;
}

fn scenario() -> Scenario {
    let words = format!("{} {}", stamp::BLANK, "lorem ipsum ".repeat(20));
    Scenario::new().on(any()).always().reply(text(words))
}

struct Stamped {
    home: PathBuf,
    engine: Arc<Stamping>,
}

impl Engines for Stamped {
    fn launch(&self, _: &SessionRecord) -> Result<Launch, LaunchError> {
        let options = Options::new()
            .env_clear()
            .env_inherit("PATH")
            .env("HOME", &self.home)
            .shared_engine(self.engine.clone());
        let mut about = Run::default();
        about.engine = "script".to_owned();
        Ok(Launch::new(options, about))
    }

    fn names(&self) -> Vec<EngineName> {
        vec![EngineName::available("script", "it is a benchmark")]
    }
}

/// An engine whose lines know when they were said.
#[derive(Debug)]
struct Stamping(NativeEngine);

impl InProcessEngine for Stamping {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn open(&self, launch: EngineLaunch) -> BoxFuture<'static, Result<Link, Error>> {
        let opening = self.0.open(launch);
        Box::pin(async move {
            let mut link = opening.await?;
            link.source = Box::new(StampingSource(link.source));
            Ok(link)
        })
    }
}

struct StampingSource(Box<dyn LineSource>);

impl LineSource for StampingSource {
    fn poll_lines(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Inbound>>> {
        let lines = ready!(self.0.poll_lines(cx));
        Poll::Ready(match lines {
            Some(Ok(Inbound::Lines(lines))) => {
                let filled = stamp::fill(&lines).map_or(lines, Into::into);
                Some(Ok(Inbound::Lines(filled)))
            }
            other => other,
        })
    }
}

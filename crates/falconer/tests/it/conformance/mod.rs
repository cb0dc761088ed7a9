//! The official CLI, driven through the library against a scripted model.
//!
//! Each test shows one behaviour of the real executable that the library relies on. It needs
//! `FALCONER_CLAUDE_PATH`, which `cargo xtask test` sets, and fails without it.

mod background;
mod controls;
mod evidence;
mod failures;
mod hooks;
mod interrupt;
mod isolation;
mod limits;
mod mcp;
mod permissions;
mod plain;
mod processes;
mod questions;
mod queue;
mod seen;
mod session_files;
mod store_mirror;
mod structured;
mod turns;

use std::path::{Path, PathBuf};

use falconer::{Client, Message, Messages, Options, Outcome, ResultMessage, query};
use falconer_testkit::scenario::Scenario;
use falconer_testkit::{ApiServer, RealCli, clean_env};
use tempfile::TempDir;

use crate::scripted::LIMIT;

/// One run of the CLI: a home, a project and a model of its own.
pub(crate) struct Stage {
    pub(crate) server: ApiServer,
    home: TempDir,
    project: TempDir,
    cli: RealCli,
}

impl Stage {
    /// A stage on which the model plays this scenario.
    pub(crate) fn new(scenario: Scenario) -> Self {
        Self {
            server: ApiServer::start(scenario).unwrap(),
            home: TempDir::new().unwrap(),
            project: TempDir::new().unwrap(),
            cli: RealCli::find().unwrap(),
        }
    }

    /// Options for the real CLI in a clean environment.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new()
            .executable(self.cli.path())
            .cwd(self.project.path())
            .env_clear();
        for (name, value) in clean_env(self.home.path(), &self.server.url()) {
            options = options.env(name, value);
        }
        options
    }

    /// The directory the agent works in.
    pub(crate) fn project(&self) -> &Path {
        self.project.path()
    }

    /// A file in that directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    /// The CLI's own configuration directory.
    pub(crate) fn config(&self) -> PathBuf {
        self.home.path().join(".claude")
    }

    /// Runs one prompt to its end.
    pub(crate) async fn run(&self, prompt: &str, options: Options) -> Outcome {
        self.try_run(prompt, options).await.unwrap()
    }

    /// Runs one prompt to its end or failure.
    pub(crate) async fn try_run(
        &self,
        prompt: &str,
        options: Options,
    ) -> Result<Outcome, falconer::Error> {
        let run = async { query(prompt, options).await?.outcome().await };
        tokio::time::timeout(LIMIT * 3, run)
            .await
            .expect("the run hangs")
    }

    /// Runs one prompt and returns every message.
    pub(crate) async fn all_messages(&self, prompt: &str, options: Options) -> Vec<Message> {
        let collect = async {
            let mut run = query(prompt, options).await.unwrap();
            let mut all = Vec::new();
            while let Some(message) = run.next().await {
                all.push(message.unwrap());
            }
            all
        };
        tokio::time::timeout(LIMIT * 3, collect)
            .await
            .expect("the run hangs")
    }

    /// Opens a conversation.
    pub(crate) async fn connect(&self, options: Options) -> (Client, Messages) {
        Client::connect(options).await.unwrap()
    }
}

/// Reads until the next result.
pub(crate) async fn next_result(messages: &mut Messages) -> ResultMessage {
    let reading = async {
        loop {
            match messages.next().await.expect("the messages ended").unwrap() {
                Message::Result(result) => return *result,
                _ => continue,
            }
        }
    };
    tokio::time::timeout(LIMIT * 3, reading)
        .await
        .expect("no result")
}

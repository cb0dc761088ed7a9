//! A scratch project for tests of tools.

use std::path::PathBuf;
use std::sync::Arc;

use falconer_protocol::{MessageUuid, ToolUseId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Call, Outcome, Tool, TypedTool};
use crate::workbench::{Workbench, Workshop};

pub(crate) struct Bench {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) workbench: Arc<Workbench>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Workshop)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let workbench = Workbench::for_tests_with(directory.path(), change);
        Self {
            directory,
            workbench: Arc::new(workbench),
        }
    }

    pub(crate) fn strict() -> Self {
        Self::with(|shop| shop.limits.strict_reads = true)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file of the project, with its directories.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn call(&self) -> Call {
        Call {
            id: ToolUseId::from("toolu_1"),
            prompt: MessageUuid::from("prompt"),
            workbench: Arc::clone(&self.workbench),
            cancelled: CancellationToken::new(),
            bounds: crate::tool::Bounds::default(),
        }
    }

    /// Reads the input and runs the call, as the loop does.
    pub(crate) async fn run<T: TypedTool>(&self, tool: &T, input: Value) -> Outcome {
        run(tool, input, self.call()).await
    }
}

impl Bench {
    /// The same for a tool whose type is not known.
    pub(crate) async fn run_any(&self, tool: Arc<dyn Tool>, input: Value) -> Outcome {
        match tool.prepare(input.as_object().unwrap()) {
            Ok(prepared) => prepared.run(self.call()).await,
            Err(text) => Outcome::refused(text),
        }
    }
}

/// Reads an input and runs a call.
pub(crate) async fn run<T: TypedTool>(tool: &T, input: Value, call: Call) -> Outcome {
    let Value::Object(input) = input else {
        panic!("inputs are objects");
    };
    match tool.parse(&input) {
        Ok(input) => tool.run(Arc::new(input), call).await,
        Err(text) => Outcome::refused(text),
    }
}

/// What the model sees, when it is one text.
pub(crate) fn text(outcome: &Outcome) -> &str {
    outcome.said()
}

//! Where the tools of an agent work, and what the agents of a session share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use falconer_model::SideModel;
use falconer_process::Confinement;
use falconer_secret::Environment;

use crate::task::Tasks;
use crate::tool::{FileMemory, Todos};
use falconer_transcript::Checkpoints;

/// The tools' side of one agent: its directory, what it has read, what it wants to do.
#[derive(Debug)]
pub(crate) struct Workbench {
    /// Where the agent was started.
    pub(crate) original_cwd: PathBuf,
    /// Where shell commands run now: `cd` lasts from one command to the next.
    cwd: Mutex<PathBuf>,
    /// What has been read, to notice files that were changed by others since.
    pub(crate) files: FileMemory,
    pub(crate) todos: Todos,
    /// The file in which the plan of plan mode is kept, if there is a place for it.
    pub(crate) plan_file: Option<PathBuf>,
    pub(crate) shop: Arc<Workshop>,
}

/// What the workbenches of a session share.
#[derive(Debug)]
pub(crate) struct Workshop {
    /// Directories beside the original one in which the session works.
    pub(crate) additional_dirs: Vec<PathBuf>,
    pub(crate) environment: Arc<Environment>,
    /// Copies of files before their first change after a prompt.
    pub(crate) checkpoints: Checkpoints,
    /// Shells in the background.
    pub(crate) tasks: Tasks,
    /// A small model for tools that need one.
    pub(crate) side_model: Arc<dyn SideModel>,
    /// Where outputs that are too large for the conversation go.
    pub(crate) overflow: PathBuf,
    pub(crate) limits: ToolLimits,
    /// Keeps commands that only read from doing anything else, if the kernel can.
    pub(crate) confinement: Option<Confinement>,
}

impl Workbench {
    /// A workbench for another agent, in the same workshop or in a new one.
    pub(crate) fn new(cwd: PathBuf, plan_file: Option<PathBuf>, shop: Arc<Workshop>) -> Self {
        Self {
            original_cwd: cwd.clone(),
            cwd: Mutex::new(cwd),
            files: FileMemory::default(),
            todos: Todos::default(),
            plan_file,
            shop,
        }
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.cwd
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns `true` for the directories the session works in and those below. Links are followed.
    pub(crate) fn is_inside_work(&self, directory: &Path) -> bool {
        let directory = resolved(directory);
        let additional = self.shop.additional_dirs.iter();
        let mut roots = additional.chain([&self.original_cwd]);
        roots.any(|root| directory.starts_with(resolved(root)))
    }

    /// The directories that the session was started with.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        std::iter::once(&self.original_cwd)
            .chain(&self.shop.additional_dirs)
            .cloned()
            .collect()
    }

    pub(crate) fn change_cwd(&self, cwd: PathBuf) {
        *self.cwd.lock().unwrap_or_else(PoisonError::into_inner) = cwd;
    }
}

fn resolved(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Limits on tools.
#[derive(Debug, Clone)]
pub(crate) struct ToolLimits {
    /// Characters of shell output in the conversation; the rest goes to a file.
    pub(crate) shell_output: usize,
    /// Refuse to edit or overwrite a file that was not read before.
    pub(crate) strict_reads: bool,
}

#[cfg(test)]
impl Workbench {
    /// A workbench in a directory, with defaults for everything else.
    pub(crate) fn for_tests(dir: &Path) -> Self {
        Self::for_tests_with(dir, |_| {})
    }

    /// The same with something changed about the workshop.
    pub(crate) fn for_tests_with(dir: &Path, change: impl FnOnce(&mut Workshop)) -> Self {
        #[derive(Debug)]
        struct Echo;
        impl SideModel for Echo {
            fn ask(
                &self,
                prompt: String,
            ) -> futures_util::future::BoxFuture<'_, Result<String, falconer_model::ApiFailure>>
            {
                Box::pin(async move { Ok(format!("model saw: {prompt}")) })
            }
        }
        let variables = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/nonexistent"),
        ];
        let mut shop = Workshop {
            additional_dirs: Vec::new(),
            environment: Arc::new(Environment::new(
                variables.map(|(name, value)| (name.into(), value.into())),
            )),
            checkpoints: Checkpoints::default(),
            tasks: Tasks::default(),
            side_model: Arc::new(Echo),
            overflow: dir.join("overflow"),
            limits: ToolLimits {
                shell_output: 30_000,
                strict_reads: false,
            },
            confinement: None,
        };
        change(&mut shop);
        let plan = Some(dir.join("plan.md"));
        Self::new(dir.to_owned(), plan, Arc::new(shop))
    }
}

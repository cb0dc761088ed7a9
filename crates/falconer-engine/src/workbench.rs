//! What the tools of a session share: where they work, what they have read, what they started.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use falconer_model::SideModel;
use falconer_process::Confinement;
use falconer_secret::Environment;

use crate::task::Tasks;
use crate::tool::{FileMemory, Todos};
use falconer_transcript::Checkpoints;

/// One per session.
#[derive(Debug)]
pub(crate) struct Workbench {
    /// Where the session was started.
    pub(crate) original_cwd: PathBuf,
    /// Where shell commands run now: `cd` lasts from one command to the next.
    cwd: Mutex<PathBuf>,
    /// Directories beside the original one in which the session works.
    pub(crate) additional_dirs: Mutex<Vec<PathBuf>>,
    pub(crate) environment: Arc<Environment>,
    /// What has been read, to notice files that were changed by others since.
    pub(crate) files: FileMemory,
    /// Copies of files before their first change after a prompt.
    pub(crate) checkpoints: Checkpoints,
    /// Shells in the background.
    pub(crate) tasks: Tasks,
    pub(crate) todos: Todos,
    /// A small model for tools that need one.
    pub(crate) side_model: Arc<dyn SideModel>,
    /// Where outputs that are too large for the conversation go.
    pub(crate) overflow: PathBuf,
    /// The file in which the plan of plan mode is kept, if there is a place for it.
    pub(crate) plan_file: Option<PathBuf>,
    pub(crate) limits: ToolLimits,
    /// Keeps commands that only read from doing anything else, if the kernel can.
    pub(crate) confinement: Option<Confinement>,
}

impl Workbench {
    pub(crate) fn cwd(&self) -> PathBuf {
        self.cwd
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether a directory is one of those the session works in, or below. Links are followed.
    pub(crate) fn is_inside_work(&self, directory: &Path) -> bool {
        let directory = resolved(directory);
        let additional = self.additional_dirs.lock();
        let additional = additional.unwrap_or_else(PoisonError::into_inner);
        let mut roots = additional.iter().chain([&self.original_cwd]);
        roots.any(|root| directory.starts_with(resolved(root)))
    }

    /// The directories that the session was started with.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let additional = self.additional_dirs.lock();
        let additional = additional.unwrap_or_else(PoisonError::into_inner);
        std::iter::once(&self.original_cwd)
            .chain(additional.iter())
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

/// How much, and how long, tools may.
#[derive(Debug, Clone)]
pub(crate) struct ToolLimits {
    /// Characters of shell output in the conversation; the rest goes to a file.
    pub(crate) shell_output: usize,
    /// Refuse to edit or overwrite a file that was not read before.
    pub(crate) strict_reads: bool,
}

/// What a workbench is made of, beside its directory.
#[derive(Debug)]
pub(crate) struct Fittings {
    pub(crate) additional_dirs: Vec<PathBuf>,
    pub(crate) environment: Arc<Environment>,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) side_model: Arc<dyn SideModel>,
    pub(crate) overflow: PathBuf,
    pub(crate) plan_file: Option<PathBuf>,
    pub(crate) limits: ToolLimits,
    pub(crate) confinement: Option<Confinement>,
}

impl Workbench {
    pub(crate) fn new(cwd: PathBuf, fittings: Fittings) -> Self {
        Self {
            original_cwd: cwd.clone(),
            cwd: Mutex::new(cwd),
            additional_dirs: Mutex::new(fittings.additional_dirs),
            environment: fittings.environment,
            files: FileMemory::default(),
            checkpoints: fittings.checkpoints,
            tasks: Tasks::default(),
            todos: Todos::default(),
            side_model: fittings.side_model,
            overflow: fittings.overflow,
            plan_file: fittings.plan_file,
            limits: fittings.limits,
            confinement: fittings.confinement,
        }
    }
}

#[cfg(test)]
impl Workbench {
    /// A workbench in a directory, with defaults for everything else.
    pub(crate) fn for_tests(dir: &Path) -> Self {
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
        let fittings = Fittings {
            additional_dirs: Vec::new(),
            environment: Arc::new(Environment::new(
                variables.map(|(name, value)| (name.into(), value.into())),
            )),
            checkpoints: Checkpoints::default(),
            side_model: Arc::new(Echo),
            overflow: dir.join("overflow"),
            plan_file: Some(dir.join("plan.md")),
            limits: ToolLimits {
                shell_output: 30_000,
                strict_reads: false,
            },
            confinement: None,
        };
        Self::new(dir.to_owned(), fittings)
    }
}

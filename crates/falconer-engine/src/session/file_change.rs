//! Files that hooks wait for: they are told when one was made, changed or removed.

use std::path::Path;
use std::sync::Arc;

use falconer_protocol::hook::HookEvent;

use super::actor::sleep_until;
use super::core::Core;
use super::lookout::FileChange;
use crate::turn::hooks::Base;

impl Core {
    /// Begins to watch what matchers name and what hooks on the start asked for.
    pub(super) fn watch_files(&self, paths: Vec<String>) {
        let names = self.hooks.watched();
        let wanted = [HookEvent::FileChanged, HookEvent::CwdChanged];
        let is_wanted = wanted.iter().any(|it| self.hooks.has_in_settings(it));
        if is_wanted || !paths.is_empty() {
            let cwd = self.workbench.cwd();
            self.lookout().begin(&cwd, names, paths);
        }
    }

    /// Whether settings files want to know of files or of the working directory. If not, hooks of
    /// the host are not told either.
    pub(crate) fn is_attentive(&self) -> bool {
        self.lookout().is_begun()
    }

    /// Names mean files of this directory from now on; paths of before are forgotten.
    pub(crate) fn watch_files_in(&self, cwd: &Path, paths: Vec<String>) {
        self.lookout().move_to(cwd, paths);
    }

    /// The next changes of watched files. Never ready if nothing is watched. May be dropped and
    /// called again at any time.
    pub(super) async fn next_file_changes(&self) -> Vec<FileChange> {
        loop {
            let (moved, due) = self.lookout().expected();
            if due.is_none() {
                moved.notified().await;
                self.lookout().expect_look();
                continue;
            }
            sleep_until(due).await;
            let changes = self.lookout().look();
            if !changes.is_empty() {
                return changes;
            }
        }
    }

    /// Asks the hooks. They cannot object, for it has happened; they may name other paths.
    pub(super) async fn tell_file_changes(self: Arc<Self>, changes: Vec<FileChange>) {
        for change in changes {
            let prompt = self.state().last_prompt_id.clone();
            let base = Base::of_session(&self, prompt.as_deref());
            let input = base.file_changed(&change.path, change.event());
            let name = change.path.file_name().map(|name| name.to_string_lossy());
            let token = self.hooks.closing();
            let fired = self.hooks.fire(&input, name.as_deref(), token).await;
            if !fired.watch_paths.is_empty() {
                self.lookout().set_paths(fired.watch_paths);
            }
        }
    }
}

//! Settings files that change while a session runs.
//!
//! What they forbid now is in force at once. What they permit, and the programs they name, are
//! for sessions to come: a file in a project may be changed by a command of the model.

use std::sync::Arc;

use super::core::Core;
use crate::settings::{Changed, Source};
use crate::turn::hooks::Base;

/// The name of a source for hooks.
fn hook_name(source: Source) -> &'static str {
    match source {
        Source::User => "user_settings",
        Source::Project => "project_settings",
        Source::Local => "local_settings",
        Source::Flag => "flag_settings",
        Source::Managed => "policy_settings",
    }
}

impl Core {
    /// Tells hooks of changes, and takes over what the files forbid, unless a hook objects.
    pub(super) async fn take_changes(self: Arc<Self>, changes: Vec<Changed>) {
        let mut taken = false;
        for change in changes {
            let prompt = self.state().last_prompt_id.clone();
            let base = Base::of_session(&self, prompt.as_deref());
            let name = hook_name(change.source);
            let input = base.config_change(name, &change.path);
            let fired = self.hooks.fire(&input, Some(name), self.hooks.closing());
            let is_blocked = fired.await.block.is_some();
            // What the administrator says is not for others to refuse.
            taken |= !is_blocked || change.source == Source::Managed;
        }
        if taken {
            self.take_restrictions();
        }
    }

    /// What the files forbid by now.
    pub(super) fn take_restrictions(&self) {
        let settings = self.watch().read();
        for warning in settings.warnings() {
            tracing::warn!(%warning, "a settings file was changed");
        }
        self.permissions().restrict(settings.permission_rules());
    }
}

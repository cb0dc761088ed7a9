//! Shells and sub-agents.

use std::collections::BTreeMap;

use falconer_protocol::system::{
    TaskNotification, TaskProgress, TaskStarted, TaskStatus, TaskUpdated,
};

use super::Normaliser;
use crate::body::{Body, Task, TaskEnd};
use crate::envelope::Draft;

/// The tasks of a run that are not over.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: BTreeMap<String, Task>,
}

impl Tasks {
    fn start(&mut self, started: &TaskStarted) -> Task {
        let call = started.tool_use_id.as_ref();
        let task = Task {
            id: started.task_id.as_str().to_owned(),
            kind: started.task_type.clone(),
            description: started.description.clone(),
            tool_use_id: call.map(|id| id.as_str().to_owned()),
            in_background: started.is_backgrounded == Some(true),
            summary: None,
            end: None,
        };
        self.known.insert(task.id.clone(), task.clone());
        task
    }

    /// Sends a task to the background, or back; returns it if that is a change.
    fn move_to(&mut self, id: &str, in_background: bool) -> Option<Task> {
        let task = self.known.get_mut(id)?;
        let before = std::mem::replace(&mut task.in_background, in_background);
        (before != in_background).then(|| task.clone())
    }

    fn end(&mut self, id: &str) -> Task {
        let task = self.get(id);
        self.known.remove(id);
        task
    }

    fn get(&self, id: &str) -> Task {
        let unseen = || Task {
            id: id.to_owned(),
            ..Task::default()
        };
        self.known.get(id).cloned().unwrap_or_else(unseen)
    }
}

impl Normaliser {
    pub(super) fn task_started(&mut self, started: &TaskStarted, out: &mut Vec<Draft>) {
        let task = self.tasks.start(started);
        self.push(None, Body::TaskStarted(Box::new(task)), out);
    }

    pub(super) fn task_progress(&mut self, progress: &TaskProgress, out: &mut Vec<Draft>) {
        let mut task = self.tasks.get(progress.task_id.as_str());
        let said = progress.summary.clone();
        task.summary = said.or_else(|| progress.last_tool_name.clone());
        self.push(None, Body::TaskProgress(Box::new(task)), out);
    }

    /// Of interest is a task that the agent does not wait for any more, or again; its end is
    /// told with more by its notification.
    pub(super) fn task_updated(&mut self, updated: &TaskUpdated, out: &mut Vec<Draft>) {
        let id = updated.task_id.as_str();
        let now = updated.patch.is_backgrounded;
        if let Some(task) = now.and_then(|now| self.tasks.move_to(id, now)) {
            self.push(None, Body::TaskProgress(Box::new(task)), out);
        }
    }

    pub(super) fn task_ended(&mut self, ended: &TaskNotification, out: &mut Vec<Draft>) {
        let mut task = self.tasks.end(ended.task_id.as_str());
        task.summary.clone_from(&ended.summary);
        task.end = Some(match ended.status {
            TaskStatus::Completed => TaskEnd::Completed,
            TaskStatus::Stopped | TaskStatus::Killed => TaskEnd::Stopped,
            _ => TaskEnd::Failed,
        });
        self.push(None, Body::TaskCompleted(Box::new(task)), out);
    }
}

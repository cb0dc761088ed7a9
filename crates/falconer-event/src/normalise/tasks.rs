//! Shells and sub-agents.

use falconer_protocol::system::{
    TaskNotification, TaskProgress, TaskStarted, TaskStatus, TaskUpdated,
};

use super::Normaliser;
use crate::body::{Body, Task, TaskEnd};
use crate::envelope::Draft;

impl Normaliser {
    pub(super) fn task_started(&mut self, started: &TaskStarted, out: &mut Vec<Draft>) {
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
        self.tasks.insert(task.id.clone(), task.clone());
        self.push(None, Body::TaskStarted(Box::new(task)), out);
    }

    pub(super) fn task_progress(&mut self, progress: &TaskProgress, out: &mut Vec<Draft>) {
        let mut task = self.task(progress.task_id.as_str());
        let said = progress.summary.clone();
        task.summary = said.or_else(|| progress.last_tool_name.clone());
        self.push(None, Body::TaskProgress(Box::new(task)), out);
    }

    /// Of interest is a task that the agent does not wait for any more, or again; its end is
    /// told with more by its notification.
    pub(super) fn task_updated(&mut self, updated: &TaskUpdated, out: &mut Vec<Draft>) {
        let Some(now) = updated.patch.is_backgrounded else {
            return;
        };
        let Some(task) = self.tasks.get_mut(updated.task_id.as_str()) else {
            return;
        };
        if std::mem::replace(&mut task.in_background, now) != now {
            let task = task.clone();
            self.push(None, Body::TaskProgress(Box::new(task)), out);
        }
    }

    pub(super) fn task_ended(&mut self, ended: &TaskNotification, out: &mut Vec<Draft>) {
        let mut task = self.task(ended.task_id.as_str());
        self.tasks.remove(ended.task_id.as_str());
        task.summary.clone_from(&ended.summary);
        task.end = Some(match ended.status {
            TaskStatus::Completed => TaskEnd::Completed,
            TaskStatus::Stopped | TaskStatus::Killed => TaskEnd::Stopped,
            _ => TaskEnd::Failed,
        });
        self.push(None, Body::TaskCompleted(Box::new(task)), out);
    }

    fn task(&self, id: &str) -> Task {
        let unseen = || Task {
            id: id.to_owned(),
            ..Task::default()
        };
        self.tasks.get(id).cloned().unwrap_or_else(unseen)
    }
}

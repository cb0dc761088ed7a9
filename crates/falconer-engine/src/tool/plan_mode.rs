//! `EnterPlanMode` and `ExitPlanMode`: planning first, and the user's consent to the plan.

use std::io::Read;
use std::sync::Arc;

use falconer_protocol::Object;
use falconer_protocol::permission::PermissionMode;
use falconer_protocol::tool::EXIT_PLAN_MODE;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Call, Describe, Effect, Outcome, Target, TypedTool};
use crate::workbench::Workbench;

/// Begins a phase in which nothing is changed.
#[derive(Debug, Default)]
pub(crate) struct EnterPlanMode;

impl Describe for EnterPlanMode {
    fn name(&self) -> &str {
        "EnterPlanMode"
    }

    fn description(&self) -> String {
        "Switches to plan mode, in which you look around and work out a plan \
         without changing anything. Use it before work that is large, has several sensible \
         ways, or is hard to undo; not for small and clear tasks."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn needs_person(&self) -> bool {
        true
    }
}

impl TypedTool for EnterPlanMode {
    type Input = ();

    fn parse(&self, _input: &Object) -> Result<(), String> {
        Ok(())
    }

    fn target(&self, (): &(), _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, _input: Arc<()>, _call: Call) -> BoxFuture<'_, Outcome> {
        #[derive(Serialize)]
        struct Output {
            message: &'static str,
        }
        let message = "Plan mode is on. Read and search as much as you need, change nothing, \
                       ask the user where it is unclear, and call ExitPlanMode when the plan is \
                       ready.";
        let mut outcome = Outcome::text(message, Output { message });
        outcome.effects.push(Effect::EnterPlanMode);
        Box::pin(async move { outcome })
    }
}

/// Longest plan that is shown.
const PLAN: u64 = 1024 * 1024;

/// The plan in its file, if there is one.
fn plan(workbench: &Workbench) -> Option<String> {
    let mut text = String::new();
    let file = std::fs::File::open(workbench.plan_file.as_deref()?).ok()?;
    file.take(PLAN).read_to_string(&mut text).ok()?;
    (!text.trim().is_empty()).then_some(text)
}

/// Presents the plan to the user.
///
/// The permission question is the presentation: by the time the call runs, the user agreed.
#[derive(Debug, Default)]
pub(crate) struct ExitPlanMode;

impl Describe for ExitPlanMode {
    fn name(&self) -> &str {
        EXIT_PLAN_MODE
    }

    fn description(&self) -> String {
        "Ends plan mode: shows the plan in its file to the user and asks whether to go ahead. Call it when \
         the plan for a task with changes is complete. Do not call it for questions that only \
         need an answer, and do not ask for approval in any other way."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "allowedPrompts": {
                    "type": "array",
                    "description": "No longer used",
                    "items": {
                        "type": "object",
                        "properties": {"tool": {"type": "string"}, "prompt": {"type": "string"}},
                        "required": ["tool", "prompt"]
                    }
                }
            }
        })
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn needs_person(&self) -> bool {
        true
    }

    /// The plan that counts is the one in the file, which the user can read and change.
    fn taken(&self, mut input: Object) -> Object {
        input.shift_remove("plan");
        input
    }

    fn refusal_in(&self, mode: &PermissionMode) -> Option<&'static str> {
        (*mode != PermissionMode::Plan).then_some(
            "Plan mode is not on, so there is nothing to leave. If a plan was approved before, go \
             on with the work.",
        )
    }

    /// Shows the plan in its file.
    fn present(&self, input: &mut Object, workbench: &Workbench) {
        if let Some(plan) = plan(workbench) {
            input.insert("plan".to_owned(), json!(plan));
            input.insert("planFilePath".to_owned(), json!(workbench.plan_file));
        }
    }
}

/// The plan that was approved. `plan` is declared as `string | null`, so it is never left out.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    plan: Option<String>,
    is_agent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<String>,
}

impl TypedTool for ExitPlanMode {
    type Input = ();

    fn parse(&self, input: &Object) -> Result<(), String> {
        if input.get("plan").is_some_and(|plan| !plan.is_string()) {
            return Err("plan must be a string".to_owned());
        }
        Ok(())
    }

    fn target(&self, (): &(), _workbench: &Workbench) -> Target {
        Target::User
    }

    fn run(&self, _input: Arc<()>, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let file = call.workbench.plan_file.as_deref();
            let output = Output {
                plan: plan(&call.workbench),
                is_agent: false,
                file_path: file.map(|file| file.display().to_string()),
            };
            let text = "The user approved leaving plan mode. You can start with the work now.";
            let mut outcome = Outcome::text(text, output);
            outcome.effects.push(Effect::LeavePlanMode);
            outcome
        })
    }
}

//! `EnterPlanMode` and `ExitPlanMode`: planning first, and the user's consent to the plan.

use std::io::Read;

use falconer_protocol::Object;
use falconer_protocol::tool::ExitPlanModeOutput;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Call, Effect, Outcome, Target, Tool};
use crate::workbench::Workbench;

/// Begins a phase in which nothing is changed.
#[derive(Debug, Default)]
pub(crate) struct EnterPlanMode;

impl Tool for EnterPlanMode {
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

    fn check(&self, _input: &Object) -> Result<(), String> {
        Ok(())
    }

    fn is_read_only(&self, _input: &Object) -> bool {
        true
    }

    fn target(&self, _input: &Object, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, _call: Call) -> BoxFuture<'_, Outcome> {
        let message = "Plan mode is on. Read and search as much as you need, change nothing, \
                       ask the user where it is unclear, and call ExitPlanMode when the plan is \
                       ready.";
        let mut outcome = Outcome::text(message, json!({"message": message}));
        outcome.effects.push(Effect::EnterPlanMode);
        Box::pin(async move { outcome })
    }
}

/// Longest plan that is shown.
const PLAN: u64 = 1024 * 1024;

/// The plan in its file, if there is one.
pub(crate) fn plan(workbench: &Workbench) -> Option<String> {
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

impl Tool for ExitPlanMode {
    fn name(&self) -> &str {
        "ExitPlanMode"
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

    fn check(&self, input: &Object) -> Result<(), String> {
        if input.get("plan").is_some_and(|plan| !plan.is_string()) {
            return Err("plan must be a string".to_owned());
        }
        Ok(())
    }

    /// The plan that counts is the one in the file, which the user can read and change.
    fn taken(&self, mut input: Object) -> Object {
        input.shift_remove("plan");
        input
    }

    fn is_read_only(&self, _input: &Object) -> bool {
        false
    }

    fn target(&self, _input: &Object, _workbench: &Workbench) -> Target {
        Target::User
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let file = call.workbench.plan_file.as_deref();
            let plan = plan(&call.workbench);
            let output = ExitPlanModeOutput {
                plan,
                file_path: file.map(|file| file.display().to_string()),
                is_agent: Some(false),
                ..ExitPlanModeOutput::default()
            };
            let mut output = serde_json::to_value(output).unwrap_or_default();
            // Declared as `string | null`, so it is never left out.
            if output.get("plan").is_none() {
                output["plan"] = Value::Null;
            }
            let text = "The user approved leaving plan mode. You can start with the work now.";
            let mut outcome = Outcome::text(text, output);
            outcome.effects.push(Effect::LeavePlanMode);
            outcome
        })
    }
}

//! What hosts ask for in `initialize` and this engine does not have.
//!
//! What would do the same work with fewer restrictions if it were left out is refused; the rest is
//! left out and said. Empty lists and `false` ask for nothing: the official SDKs send them always.

use falconer_protocol::control::InitializeRequest;

/// Returns the notices for what is left out.
///
/// `supportedDialogKinds` is no request but says what the host could show; nothing is shown.
pub(super) fn look(request: &InitializeRequest) -> Result<Vec<String>, String> {
    if let Some(agents) = &request.agents
        && let Some(problem) = unsupported_agents(agents.keys())
    {
        return Err(format!("initialize: {problem}"));
    }
    let is_on = |switch: Option<bool>| switch == Some(true);
    let asked = [
        (
            request.skills.as_ref().is_some_and(|it| !it.is_empty()),
            "skills is ignored: there are no skills",
        ),
        (
            request.plugins.as_ref().is_some_and(|it| !it.is_empty()),
            "plugins is ignored: plugins are not loaded",
        ),
        (
            is_on(request.agent_progress_summaries),
            "agentProgressSummaries is ignored: there are no sub-agents",
        ),
        (
            is_on(request.forward_subagent_text),
            "forwardSubagentText is ignored: there are no sub-agents",
        ),
        (
            is_on(request.prompt_suggestions),
            "promptSuggestions is ignored: the next prompt is not guessed",
        ),
        (
            is_on(request.system_prompt_snapshot),
            "systemPromptSnapshot is ignored: the system prompt is made for each request",
        ),
    ];
    let notices = asked.into_iter().filter(|(is_asked, _)| *is_asked);
    Ok(notices.map(|(_, text)| text.to_owned()).collect())
}

/// Why agents with these names cannot be had; `None` if there are no names.
pub(crate) fn unsupported_agents<'a>(names: impl Iterator<Item = &'a String>) -> Option<String> {
    let names: Vec<&str> = names.map(String::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the native engine has no agents ({}), and without them their limits on tools and \
             modes would not hold; use the engine `claude`, or leave them out",
            names.join(", ")
        )
    })
}

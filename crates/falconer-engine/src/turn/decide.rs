//! What follows a response and a batch of tools: the decision table of a turn, without effects.

/// How often the model may be asked to go on after its output was cut.
pub(crate) const OUTPUT_RECOVERIES: u32 = 3;
/// How many calls of `StructuredOutput` may fail.
pub(crate) const STRUCTURED_ATTEMPTS: u32 = 5;
/// How often Stop hooks may send the model back in one turn.
pub(crate) const STOP_BLOCKS: u32 = 20;

/// What a response amounts to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Answer<'a> {
    pub(crate) stop_reason: Option<&'a str>,
    /// Calls of tools that we run.
    pub(crate) tool_calls: usize,
    /// Whether there is anything to see: text or a call.
    pub(crate) visible: bool,
    /// A tool that the API runs has begun and has no result yet.
    pub(crate) server_tool_open: bool,
}

/// What has happened in the turn so far, and what its limits are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    /// Requests answered, this one included.
    pub(crate) requests: u64,
    pub(crate) output_recoveries: u32,
    pub(crate) refusals: u32,
    pub(crate) empty_nudges: u32,
    pub(crate) fallback_left: bool,
    pub(crate) over_budget: bool,
    /// 0 means no limit.
    pub(crate) max_turns: u64,
    pub(crate) structured: Structured,
}

impl Progress {
    /// Whether no more requests may be made.
    pub(crate) fn is_out_of_turns(&self) -> bool {
        self.max_turns > 0 && self.requests >= self.max_turns
    }
}

/// Where a turn that owes a structured answer stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Structured {
    #[default]
    NotAsked,
    Owed {
        nudged: bool,
    },
}

/// What to do after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    RunTools,
    /// Stop hooks, then the end.
    Stop,
    /// Ask again with a note for the model.
    Nudge(Nudge),
    /// Send the answer back as it is; the API goes on where it paused.
    Resume,
    /// The model declined; ask another one.
    FallBack,
    OverBudget,
    OutputLimit,
    Refused,
}

/// Why the model is asked to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nudge {
    OutputCut,
    Refusal,
    Empty,
    Structured,
}

/// Decides what follows a response.
pub(crate) fn after_response(answer: &Answer<'_>, progress: &Progress) -> Next {
    if progress.over_budget {
        return Next::OverBudget;
    }
    if answer.tool_calls > 0 {
        return Next::RunTools;
    }
    match answer.stop_reason {
        Some("max_tokens" | "model_context_window_exceeded") => cut(progress),
        Some("refusal") => refused(progress),
        Some("pause_turn") if answer.server_tool_open => Next::Resume,
        _ => stopped(answer, progress),
    }
}

fn cut(progress: &Progress) -> Next {
    if progress.output_recoveries < OUTPUT_RECOVERIES {
        Next::Nudge(Nudge::OutputCut)
    } else {
        Next::OutputLimit
    }
}

fn refused(progress: &Progress) -> Next {
    match progress.refusals {
        0 => Next::Nudge(Nudge::Refusal),
        _ if progress.fallback_left => Next::FallBack,
        _ => Next::Refused,
    }
}

fn stopped(answer: &Answer<'_>, progress: &Progress) -> Next {
    match progress.structured {
        Structured::Owed { nudged: false } => Next::Nudge(Nudge::Structured),
        _ if !answer.visible && progress.empty_nudges == 0 => Next::Nudge(Nudge::Empty),
        _ => Next::Stop,
    }
}

/// What a batch of tools came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Batch {
    pub(crate) interrupted: bool,
    /// A hook put a call off.
    pub(crate) deferred: bool,
    /// A hook wants the turn to end.
    pub(crate) hook_stopped: bool,
    pub(crate) structured_done: bool,
    pub(crate) structured_failures: u32,
}

/// What to do after the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterTools {
    Request,
    Interrupted,
    Deferred,
    HookStopped,
    StructuredDone,
    StructuredExhausted,
    MaxTurns,
}

/// Decides what follows a batch of tools.
pub(crate) fn after_tools(batch: &Batch, progress: &Progress) -> AfterTools {
    if batch.interrupted {
        AfterTools::Interrupted
    } else if batch.deferred {
        AfterTools::Deferred
    } else if batch.structured_done {
        AfterTools::StructuredDone
    } else if batch.hook_stopped {
        AfterTools::HookStopped
    } else if batch.structured_failures >= STRUCTURED_ATTEMPTS {
        AfterTools::StructuredExhausted
    } else if progress.is_out_of_turns() {
        AfterTools::MaxTurns
    } else {
        AfterTools::Request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(stop: &str) -> Answer<'_> {
        Answer {
            stop_reason: Some(stop),
            visible: true,
            ..Answer::default()
        }
    }

    #[test]
    fn each_response_has_one_consequence() {
        let none = Progress::default();
        let calls = Answer {
            tool_calls: 2,
            ..text("max_tokens")
        };
        let empty = Answer {
            visible: false,
            ..text("end_turn")
        };
        let paused = Answer {
            server_tool_open: true,
            ..text("pause_turn")
        };
        let owed = |nudged| Progress {
            structured: Structured::Owed { nudged },
            ..none
        };
        let recovered = |output_recoveries| Progress {
            output_recoveries,
            ..none
        };
        let refused = |fallback_left| Progress {
            refusals: 1,
            fallback_left,
            ..none
        };
        let broke = Progress {
            over_budget: true,
            ..none
        };
        let nudged = Progress {
            empty_nudges: 1,
            ..none
        };
        let table: &[(&str, Answer<'_>, Progress, Next)] = &[
            ("an end", text("end_turn"), none, Next::Stop),
            ("a stop sequence", text("stop_sequence"), none, Next::Stop),
            (
                "no reason at all",
                Answer {
                    stop_reason: None,
                    ..text("")
                },
                none,
                Next::Stop,
            ),
            ("calls win over a cut", calls, none, Next::RunTools),
            (
                "a first cut",
                text("max_tokens"),
                none,
                Next::Nudge(Nudge::OutputCut),
            ),
            (
                "a third cut",
                text("max_tokens"),
                recovered(2),
                Next::Nudge(Nudge::OutputCut),
            ),
            (
                "a fourth cut",
                text("max_tokens"),
                recovered(3),
                Next::OutputLimit,
            ),
            (
                "a full window",
                text("model_context_window_exceeded"),
                none,
                Next::Nudge(Nudge::OutputCut),
            ),
            (
                "a pause without a tool",
                text("pause_turn"),
                none,
                Next::Stop,
            ),
            ("a pause in a tool", paused, none, Next::Resume),
            (
                "a first refusal",
                text("refusal"),
                none,
                Next::Nudge(Nudge::Refusal),
            ),
            (
                "a second refusal",
                text("refusal"),
                refused(true),
                Next::FallBack,
            ),
            (
                "nobody left",
                text("refusal"),
                refused(false),
                Next::Refused,
            ),
            ("nothing to see", empty, none, Next::Nudge(Nudge::Empty)),
            ("still nothing to see", empty, nudged, Next::Stop),
            (
                "an answer owed",
                text("end_turn"),
                owed(false),
                Next::Nudge(Nudge::Structured),
            ),
            ("still owed", text("end_turn"), owed(true), Next::Stop),
            ("money spent", calls, broke, Next::OverBudget),
            ("an unknown reason", text("brand_new"), none, Next::Stop),
        ];
        for (case, answer, progress, expected) in table {
            assert_eq!(after_response(answer, progress), *expected, "{case}");
        }
    }

    #[test]
    fn each_batch_has_one_consequence() {
        let progress = |requests, max_turns| Progress {
            requests,
            max_turns,
            ..Progress::default()
        };
        let batch = Batch::default();
        let table: &[(&str, Batch, Progress, AfterTools)] = &[
            ("no limit", batch, progress(9, 0), AfterTools::Request),
            (
                "below the limit",
                batch,
                progress(1, 2),
                AfterTools::Request,
            ),
            ("at the limit", batch, progress(2, 2), AfterTools::MaxTurns),
            (
                "interrupted at the limit",
                Batch {
                    interrupted: true,
                    ..batch
                },
                progress(2, 2),
                AfterTools::Interrupted,
            ),
            (
                "deferred",
                Batch {
                    deferred: true,
                    ..batch
                },
                progress(1, 0),
                AfterTools::Deferred,
            ),
            (
                "a hook said stop",
                Batch {
                    hook_stopped: true,
                    ..batch
                },
                progress(1, 0),
                AfterTools::HookStopped,
            ),
            (
                "the answer is there",
                Batch {
                    structured_done: true,
                    structured_failures: 4,
                    ..batch
                },
                progress(5, 5),
                AfterTools::StructuredDone,
            ),
            (
                "a fourth bad answer",
                Batch {
                    structured_failures: 4,
                    ..batch
                },
                progress(4, 0),
                AfterTools::Request,
            ),
            (
                "a fifth bad answer",
                Batch {
                    structured_failures: 5,
                    ..batch
                },
                progress(5, 0),
                AfterTools::StructuredExhausted,
            ),
        ];
        for (case, batch, progress, expected) in table {
            assert_eq!(after_tools(batch, progress), *expected, "{case}");
        }
    }
}

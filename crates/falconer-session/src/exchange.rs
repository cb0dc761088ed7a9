//! What was said last in a conversation, for a new one in its place.

/// The most characters of each side of an exchange that are kept.
const LONGEST: usize = 2000;

/// A prompt and its answer, shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exchange {
    /// What the user said.
    pub prompt: String,
    /// What the agent answered.
    pub answer: String,
}

impl Exchange {
    /// What was said, shortened.
    pub fn new(prompt: &str, answer: &str) -> Self {
        Self {
            prompt: shortened(prompt),
            answer: shortened(answer),
        }
    }

    /// For a model that knows nothing of it.
    pub(crate) fn told(&self) -> String {
        format!(
            "The earlier conversation is lost; this is a new one. For context, the last exchange \
             of the earlier one.\n\nThe user said:\n{}\n\nThe answer was:\n{}\n\nThe user now \
             says:\n",
            quoted(&self.prompt),
            quoted(&self.answer)
        )
    }
}

fn shortened(text: &str) -> String {
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}

fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

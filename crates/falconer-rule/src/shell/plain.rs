//! A command as one line, to compare it with rules that spell out a whole command.

/// The command without space around it.
pub fn one_line(command: &str) -> &str {
    command.trim_matches([' ', '\t', '\n'])
}

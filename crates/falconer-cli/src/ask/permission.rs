//! A permission, and the words that answer it.

use std::io::{self, Write};

use falconer_event::PermissionRequested;
use falconer_session::Verdict;
use owo_colors::OwoColorize;
use serde_json::Value;

use super::Taken;
use crate::render::{Screen, Sheet};

/// A permission that is asked for.
#[derive(Debug)]
pub(super) struct Permission {
    tool: String,
    input: Value,
    /// Why, where and for whom it is asked, one line each.
    notes: Vec<String>,
    /// The number of the suggestion that "always" takes, and the rule in words.
    always: Option<(usize, String)>,
    /// The field of the input that can be edited on one line.
    field: Option<&'static str>,
    /// Another command is being typed.
    is_editing: bool,
    /// The input is what the person made of it.
    is_edited: bool,
}

impl Permission {
    pub(super) fn of(request: &PermissionRequested) -> Self {
        let field = match request.tool.as_str() {
            "Bash" => Some("command"),
            "WebFetch" => Some("url"),
            "Read" | "Write" | "Edit" => Some("file_path"),
            _ => None,
        };
        let field = field.filter(|field| request.input[*field].is_string());
        let suggestions = request.suggestions.iter().enumerate();
        Self {
            tool: request.tool.clone(),
            input: request.input.clone(),
            notes: notes(request),
            always: suggestions
                .filter_map(|(at, rule)| Some((at, in_words(rule)?)))
                .next(),
            field,
            is_editing: false,
            is_edited: false,
        }
    }

    /// Replaces the input by what the person made of it, to be shown and asked about. The rule
    /// was about something else.
    pub(super) fn edit(&mut self, input: Value) {
        self.input = input;
        self.is_edited = true;
        self.always = None;
    }

    /// Everything that would be done, and what "always" would allow.
    pub(super) fn sheet(&self) -> Sheet {
        let mut sheet = if self.is_edited {
            Sheet::default().note("edited; this would run")
        } else {
            Sheet::default()
        };
        sheet = sheet.call(&self.tool, &self.input);
        for note in &self.notes {
            sheet = sheet.note(note);
        }
        match &self.always {
            Some((_, rule)) => sheet.note(&format!("always means: {rule}")),
            None => sheet,
        }
    }

    /// Forgets what was begun.
    pub(super) fn restart(&mut self) {
        self.is_editing = false;
    }

    pub(super) fn prompt<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        if self.is_editing {
            return screen.prompt(format!("    {}: ", self.field.unwrap_or("command")));
        }
        let what = match self.tool.as_str() {
            "Bash" => "run this?",
            "Edit" | "Write" | "NotebookEdit" => "make this change?",
            _ => "allow this?",
        };
        let mut text = format!("{what} [y]es, [n]o (reason)");
        if self.always.is_some() {
            text += ", [a]lways";
        }
        if self.field.is_some() {
            text += ", [e]dit";
        }
        screen.prompt(format!("  {} {text}, [s]top: ", "?".yellow().bold()))
    }

    pub(super) fn letters(&self) -> Vec<char> {
        let always = self.always.as_ref().map(|_| 'a');
        let edit = self.field.map(|_| 'e');
        [Some('y'), Some('n'), always, edit, Some('s')]
            .into_iter()
            .flatten()
            .collect()
    }

    pub(super) fn take(&mut self, line: &str) -> Taken {
        let line = line.trim();
        if std::mem::take(&mut self.is_editing) {
            return self.edited(line);
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let reason = |before: &str| match rest.trim() {
            "" => before.to_owned(),
            reason => format!("{before}: {reason}"),
        };
        // What approves stands alone: "yes, but …" is not a yes, "a test fails" is no rule.
        match (word_of(word).as_str(), rest.trim()) {
            ("y" | "yes" | "allow", "") if self.is_edited => {
                Taken::Verdict(Verdict::AllowEdited(self.input.clone()))
            }
            ("y" | "yes" | "allow", "") => Taken::Verdict(Verdict::Allow),
            ("n" | "no" | "deny", _) => Taken::Verdict(Verdict::Deny(reason("the user said no"))),
            ("s" | "stop", _) => Taken::Verdict(Verdict::DenyAndStop(reason(
                "the user denied the request and stopped the turn",
            ))),
            ("a" | "always", "") => match &self.always {
                Some((number, _)) => Taken::Verdict(Verdict::AllowAlways(*number)),
                None => Taken::Unclear,
            },
            ("e" | "edit", "") if self.field.is_some() => {
                self.is_editing = true;
                Taken::More
            }
            ("e" | "edit", edited) => self.edited(edited),
            _ => Taken::Unclear,
        }
    }

    pub(super) fn understands(&self, line: &str) -> bool {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let is_answer = match word_of(word).as_str() {
            "y" | "yes" | "n" | "no" | "deny" | "e" | "s" | "stop" => true,
            // With more words behind them these begin a message.
            "a" | "always" | "allow" | "edit" => rest.is_empty(),
            _ => false,
        };
        self.is_editing || is_answer
    }

    fn edited(&self, text: &str) -> Taken {
        let Some(field) = self.field.filter(|_| !text.is_empty()) else {
            return Taken::Unclear;
        };
        let mut input = self.input.clone();
        input[field] = Value::String(text.to_owned());
        Taken::Edited(input)
    }
}

fn word_of(word: &str) -> String {
    word.trim_start_matches('/').to_ascii_lowercase()
}

fn notes(request: &PermissionRequested) -> Vec<String> {
    let about = [
        ("in", &request.cwd),
        ("for", &request.agent),
        ("because of", &request.blocked_path),
    ];
    let about = about.into_iter();
    let about = about.filter_map(|(word, text)| Some(format!("{word} {}", text.as_ref()?)));
    about
        .chain(
            request
                .reason
                .as_deref()
                .map(|reason| why(reason, &request.input)),
        )
        .collect()
}

/// The reason in full, but for a command that it repeats.
fn why(reason: &str, input: &Value) -> String {
    let command = input["command"].as_str().map(str::trim);
    let reason = match command.filter(|command| command.len() > LONG_COMMAND) {
        Some(command) => reason.replace(&format!("`{command}`"), "this command"),
        None => reason.to_owned(),
    };
    format!("why: {}", reason.trim())
}

/// A command that long is not shown a second time.
const LONG_COMMAND: usize = 60;

/// A suggestion of the engine, as a person reads it; `None` if it must not be offered.
fn in_words(suggestion: &Value) -> Option<String> {
    let place = match suggestion["destination"].as_str() {
        Some("session") | None => "in this session",
        Some("localSettings") => "in this project, for you",
        Some("projectSettings") => "in this project, for everyone",
        Some("userSettings") => "in all your projects",
        Some(_) => return None,
    };
    let what = match suggestion["type"].as_str()? {
        "addRules" if suggestion["behavior"] == "allow" => {
            let rules = suggestion["rules"].as_array()?.iter().map(rule);
            rules.collect::<Option<Vec<_>>>()?.join(", ")
        }
        "setMode" if suggestion["mode"] == "acceptEdits" => "all file edits".to_owned(),
        "addDirectories" => {
            let directories = suggestion["directories"].as_array()?.iter();
            let directories: Option<Vec<_>> = directories.map(Value::as_str).collect();
            format!("work in {}", directories?.join(", "))
        }
        _ => return None,
    };
    (!what.is_empty()).then(|| format!("{what} {place}"))
}

fn rule(rule: &Value) -> Option<String> {
    let tool = rule["toolName"].as_str()?;
    Some(match rule["ruleContent"].as_str() {
        Some(content) => format!("{tool}({content})"),
        None => tool.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bash() -> Permission {
        let mut request =
            PermissionRequested::new("1", "Bash", json!({"command": "git push", "x": 1}), "d");
        request.suggestions = vec![
            json!({"type": "addRules", "behavior": "allow", "destination": "session",
                "rules": [{"toolName": "Bash", "ruleContent": "git push:*"}]}),
        ];
        Permission::of(&request)
    }

    #[test]
    fn answers_mean_what_they_say() {
        use Verdict::{Allow, AllowAlways, Deny, DenyAndStop};
        let table = [
            ("y", Some(Allow)),
            (" YES \n", Some(Allow)),
            ("n", Some(Deny("the user said no".into()))),
            (
                "no not on a Friday",
                Some(Deny("the user said no: not on a Friday".into())),
            ),
            (
                "s enough",
                Some(DenyAndStop(
                    "the user denied the request and stopped the turn: enough".into(),
                )),
            ),
            ("a", Some(AllowAlways(0))),
            ("/allow", Some(Allow)),
            ("yesterday", None),
            ("yes but not on a Friday", None),
            ("y\ty", None),
            ("allow me to explain", None),
            ("a test is missing", None),
            ("always use tabs", None),
            ("", None),
        ];
        for (line, expected) in table {
            let verdict = match bash().take(line) {
                Taken::Verdict(verdict) => Some(verdict),
                Taken::More | Taken::Unclear | Taken::Edited(_) => None,
            };
            assert_eq!(verdict, expected, "{line:?}");
        }
    }

    #[test]
    fn a_reason_is_shown_in_full_without_the_command_it_repeats() {
        let command = "make ".repeat(20);
        let input = json!({"command": command});
        let long = format!("no rule allows `{}`\n{}", command.trim(), "x".repeat(300));
        let expected = format!("why: no rule allows this command\n{}", "x".repeat(300));
        assert_eq!(why(&long, &input), expected);
        assert_eq!(
            why("`make` asks", &json!({"command": "make"})),
            "why: `make` asks"
        );
    }

    #[test]
    fn messages_are_no_answers() {
        let table = [
            ("y", true),
            ("yes but", true),
            ("no, never", false),
            ("no never", true),
            ("a", true),
            ("a test is missing", false),
            ("always use tabs", false),
            ("allow me to explain", false),
            ("edit the README first", false),
            ("e make", true),
        ];
        for (line, expected) in table {
            assert_eq!(bash().understands(line), expected, "{line}");
        }
    }

    #[test]
    fn an_edit_changes_one_field_and_keeps_the_rest() {
        let mut permission = bash();
        assert!(matches!(permission.take("e"), Taken::More));
        let Taken::Edited(input) = permission.take("git status\n") else {
            panic!("no edit");
        };
        assert_eq!(input, json!({"command": "git status", "x": 1}));
        permission.edit(input.clone());
        assert!(
            matches!(permission.take("a"), Taken::Unclear),
            "the rule was for the original"
        );
        let Taken::Verdict(verdict) = permission.take("y") else {
            panic!("no answer");
        };
        assert_eq!(verdict, Verdict::AllowEdited(input));
        let mut permission = bash();
        assert!(matches!(permission.take("e"), Taken::More));
        assert!(matches!(permission.take(""), Taken::Unclear));
    }

    #[test]
    fn always_is_shown_as_a_rule_and_only_for_what_allows() {
        let table = [
            (
                json!({"type": "addRules", "behavior": "allow", "destination": "localSettings",
                "rules": [{"toolName": "Read"}]}),
                Some("Read in this project, for you"),
            ),
            (
                json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
                Some("all file edits in this session"),
            ),
            (
                json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"}),
                None,
            ),
            (
                json!({"type": "addRules", "behavior": "deny", "rules": [{"toolName": "Read"}]}),
                None,
            ),
            (
                json!({"type": "removeRules", "behavior": "allow", "rules": []}),
                None,
            ),
            (
                json!({"type": "addRules", "behavior": "allow", "destination": "moon",
                "rules": [{"toolName": "Read"}]}),
                None,
            ),
            (json!(7), None),
        ];
        for (suggestion, expected) in table {
            assert_eq!(in_words(&suggestion).as_deref(), expected, "{suggestion}");
        }
    }
}

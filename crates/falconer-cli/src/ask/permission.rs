//! A permission, and the words that answer it.

use std::io::{self, Write};

use falconer_event::PermissionRequested;
use falconer_session::Verdict;
use owo_colors::OwoColorize;
use serde_json::Value;

use super::Taken;
use crate::render::{Screen, Sheet, first_line};

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
        }
    }

    /// Everything that would be done, and what "always" would allow.
    pub(super) fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::of_call(&self.tool, &self.input);
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

    pub(super) fn take(&mut self, line: &str) -> Taken<Verdict> {
        let line = line.trim();
        if std::mem::take(&mut self.is_editing) {
            return self.edited(line);
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let reason = |before: &str| match rest.trim() {
            "" => before.to_owned(),
            reason => format!("{before}: {reason}"),
        };
        match word.trim_start_matches('/').to_ascii_lowercase().as_str() {
            "y" | "yes" | "allow" => Taken::Verdict(Verdict::Allow),
            "n" | "no" | "deny" => Taken::Verdict(Verdict::Deny(reason("the user said no"))),
            "s" | "stop" => {
                Taken::Verdict(Verdict::DenyAndStop(reason("the user said no and stop")))
            }
            "a" | "always" => match &self.always {
                Some((number, _)) => Taken::Verdict(Verdict::AllowAlways(*number)),
                None => Taken::Unclear,
            },
            "e" | "edit" if self.field.is_some() => match rest.trim() {
                "" => {
                    self.is_editing = true;
                    Taken::More
                }
                edited => self.edited(edited),
            },
            _ => Taken::Unclear,
        }
    }

    pub(super) fn understands(&self, line: &str) -> bool {
        let word = line.split_whitespace().next().unwrap_or_default();
        let word = word.trim_start_matches('/').to_ascii_lowercase();
        let known = [
            "y", "yes", "allow", "n", "no", "deny", "a", "always", "e", "edit", "s", "stop",
        ];
        self.is_editing || known.contains(&word.as_str())
    }

    fn edited(&self, text: &str) -> Taken<Verdict> {
        let Some(field) = self.field.filter(|_| !text.is_empty()) else {
            return Taken::Unclear;
        };
        let mut input = self.input.clone();
        input[field] = Value::String(text.to_owned());
        Taken::Verdict(Verdict::AllowEdited(input))
    }
}

fn notes(request: &PermissionRequested) -> Vec<String> {
    let about = [
        ("in", &request.cwd),
        ("for", &request.agent),
        ("because of", &request.blocked_path),
    ];
    let about = about.into_iter();
    let about = about.filter_map(|(word, text)| Some(format!("{word} {}", text.as_ref()?)));
    // The reason is not what is approved, and often repeats it.
    about
        .chain(request.reason.as_deref().map(first_line))
        .collect()
}

/// A suggestion of the engine, as a person reads it; `None` if it must not be offered.
fn in_words(suggestion: &Value) -> Option<String> {
    let place = match suggestion["destination"].as_str() {
        Some("session") | None => "in this session",
        Some("localSettings") => "in this project, for you",
        Some("projectSettings") => "in this project, for everybody",
        Some("userSettings") => "in all your projects",
        Some(_) => return None,
    };
    let what = match suggestion["type"].as_str()? {
        "addRules" if suggestion["behavior"] == "allow" => {
            let rules = suggestion["rules"].as_array()?.iter().map(rule);
            rules.collect::<Option<Vec<_>>>()?.join(", ")
        }
        "setMode" if suggestion["mode"] == "acceptEdits" => "all edits of files".to_owned(),
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
                Some(DenyAndStop("the user said no and stop: enough".into())),
            ),
            ("a", Some(AllowAlways(0))),
            ("/allow", Some(Allow)),
            ("yesterday", None),
            ("", None),
        ];
        for (line, expected) in table {
            let verdict = match bash().take(line) {
                Taken::Verdict(verdict) => Some(verdict),
                Taken::More | Taken::Unclear => None,
            };
            assert_eq!(verdict, expected, "{line:?}");
        }
    }

    #[test]
    fn an_edit_changes_one_field_and_keeps_the_rest() {
        let mut permission = bash();
        assert!(matches!(permission.take("e"), Taken::More));
        let Taken::Verdict(Verdict::AllowEdited(input)) = permission.take("git status\n") else {
            panic!("no edit");
        };
        assert_eq!(input, json!({"command": "git status", "x": 1}));
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
                Some("all edits of files in this session"),
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

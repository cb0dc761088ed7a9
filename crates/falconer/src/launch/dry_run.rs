//! A plan as text: a command line for a shell, secrets masked.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;

use serde_json::json;

use super::LaunchPlan;
use super::redact::{KnownSecrets, masked_argument, masked_json, masked_variable};

impl fmt::Display for LaunchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secrets = self.known_secrets();
        if let Some(cwd) = &self.cwd {
            writeln!(f, "cd {} && \\", quoted(&cwd.to_string_lossy()))?;
        }
        self.write_environment(f, &secrets)?;
        write!(f, "{}", quoted(&self.program.to_string_lossy()))?;
        for argument in &self.args {
            let argument = secrets.masked(masked_argument(&argument.to_string_lossy()));
            write!(f, " \\\n  {}", quoted(&argument))?;
        }
        writeln!(f)?;
        writeln!(f, "# first line on stdin:")?;
        writeln!(f, "# {}", secrets.masked(self.masked_initialize()))?;
        writeln!(f, "# billing: {}", self.billing)?;
        if let Some(isolation) = &self.isolation {
            let network = isolation.network.words();
            writeln!(
                f,
                "# isolation: sandbox {}, network {network}",
                isolation.sandbox
            )?;
            let settings = masked_json(&isolation.settings).to_string();
            writeln!(
                f,
                "# settings.json in the home: {}",
                secrets.masked(settings)
            )?;
        }
        if self.private_settings.is_some() {
            writeln!(
                f,
                "# settings with the shell's credentials are in a private file"
            )?;
        }
        for warning in &self.warnings {
            writeln!(f, "# warning: {}", secrets.masked(warning.to_string()))?;
        }
        Ok(())
    }
}

impl fmt::Debug for LaunchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaunchPlan {{\n{self}}}")
    }
}

impl LaunchPlan {
    fn known_secrets(&self) -> KnownSecrets {
        let variables = self.env.iter().chain(&self.inherited);
        let readable =
            variables.filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        KnownSecrets::of(readable)
    }

    /// The line that sends the first request.
    fn masked_initialize(&self) -> String {
        let request = serde_json::to_value(&self.initialize).unwrap_or_default();
        json!({
            "type": "control_request",
            "request_id": "1",
            "request": masked_json(&request),
        })
        .to_string()
    }

    fn write_environment(&self, f: &mut fmt::Formatter<'_>, secrets: &KnownSecrets) -> fmt::Result {
        write!(f, "env")?;
        if self.environment_cleared {
            write!(f, " -i")?;
        } else {
            for name in self.removed_variables() {
                write!(f, " -u {}", quoted(&name.to_string_lossy()))?;
            }
        }
        writeln!(f, " \\")?;
        for (name, value) in self.set_variables() {
            let name = name.to_string_lossy();
            let value = secrets.masked(masked_variable(&name, &value.to_string_lossy()));
            writeln!(f, "  {}={} \\", name, quoted(&value))?;
        }
        Ok(())
    }

    fn removed_variables(&self) -> impl Iterator<Item = &OsString> {
        let kept = |name: &OsString| self.env.iter().any(|(other, _)| other == name);
        self.inherited
            .iter()
            .map(|(name, _)| name)
            .filter(move |name| !kept(name))
    }

    /// Returns the variables that differ from the inherited environment.
    fn set_variables(&self) -> impl Iterator<Item = &(OsString, OsString)> {
        let cleared = self.environment_cleared;
        self.env
            .iter()
            .filter(move |variable| cleared || !self.inherited.contains(variable))
    }
}

/// The text as one word for a shell.
fn quoted(text: &str) -> Cow<'_, str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&b);
    if !text.is_empty() && text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

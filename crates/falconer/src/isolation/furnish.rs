//! Writing what an isolated run needs into its home.

use std::path::Path;

use falconer_transcript::mirror::copy_login;
use falconer_transcript::write_private;

use super::environment::TEMPORARY;
use super::{Facts, Home, IsolationError, IsolationPlan};
use crate::sessions::SessionError;

/// Writes settings, skills and credentials. If anything fails, the home is deleted by its owner.
pub(crate) fn furnish(
    home: &Home,
    plan: &IsolationPlan,
    facts: &Facts,
) -> Result<(), IsolationError> {
    let root = home.path();
    let settings = plan.settings.to_string();
    write(&root.join(".claude/settings.json"), settings.as_bytes())?;
    let temporary = root.join(TEMPORARY);
    std::fs::create_dir(&temporary).map_err(IsolationError::home("create", &temporary))?;
    for skill in &facts.skills {
        let directory = root.join(".claude/skills").join(&skill.name);
        for (path, content) in &skill.files {
            write(&directory.join(path), content)?;
        }
    }
    let Some(chosen) = &facts.chosen else {
        return Ok(());
    };
    for (path, content) in &chosen.aws {
        write(&root.join(".aws").join(path), content)?;
    }
    if let Some(login) = &chosen.login {
        let to = root.join(".claude/.credentials.json");
        copy_login(login, &to).map_err(|error| failed(&to, error))?;
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> Result<(), IsolationError> {
    let written = write_private(path, &mut |out| out.write_all(content));
    written.map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: SessionError) -> IsolationError {
    IsolationError::home("write", path)(std::io::Error::other(error))
}

#[cfg(test)]
mod tests;

//! Where the debug log of a process goes, as the official CLI decides it.
//!
//! Only the place: the executable installs what writes it.

use std::path::{Path, PathBuf};

use falconer_secret::Environment;

use super::flags::Flags;
use falconer_transcript::config_dir;

/// Where debug lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DebugLog {
    /// `--debug-to-stderr`.
    Stderr,
    /// `--debug-file`, or `debug/<session>.txt` in the configuration directory. A link `latest`
    /// beside it names it.
    File(PathBuf),
}

/// What the command line says about debug lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DebugFlags {
    pub(crate) on: bool,
    pub(crate) to_stderr: bool,
    pub(crate) file: Option<PathBuf>,
}

/// The debug log that was asked for, by flags or by `DEBUG`. A session that would get a random
/// id gets it here, because the file bears it.
pub(super) fn wanted(flags: &mut Flags, environment: &Environment, cwd: &Path) -> Option<DebugLog> {
    if flags.debug.to_stderr {
        return Some(DebugLog::Stderr);
    }
    let named = environment.text("CLAUDE_CODE_DEBUG_LOGS_DIR");
    let is_on = flags.debug.on || environment.is_on("DEBUG") || environment.is_on("DEBUG_SDK");
    if let Some(file) = &flags.debug.file {
        return Some(DebugLog::File(cwd.join(file)));
    }
    if !is_on {
        return None;
    }
    // Despite its name this variable names a file.
    if let Some(file) = named {
        return Some(DebugLog::File(cwd.join(file)));
    }
    let session = session(flags);
    let directory = config_dir(environment)?.join("debug");
    Some(DebugLog::File(directory.join(format!("{session}.txt"))))
}

/// The id of the session, as far as it is known before it is opened. It names a file, so that
/// only ids are taken.
fn session(flags: &mut Flags) -> String {
    let is_id = |text: &&str| uuid::Uuid::try_parse(text).is_ok();
    let given = flags.session_id.as_deref().or(flags.resume.as_deref());
    if let Some(id) = given.filter(is_id) {
        return id.to_owned();
    }
    let fresh = uuid::Uuid::new_v4().to_string();
    if flags.session_id.is_none() && flags.resume.is_none() && !flags.continue_latest {
        flags.session_id = Some(fresh.clone());
    }
    fresh
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(args: &[&str], variables: &[(&str, &str)]) -> Option<DebugLog> {
        let mut flags = Flags::parse(args.iter().map(Into::into)).unwrap();
        let home = [("HOME", "/h")];
        let variables = home.iter().chain(variables);
        let environment = Environment::new(variables.map(|(a, b)| (a.into(), b.into())));
        wanted(&mut flags, &environment, Path::new("/w"))
    }

    #[test]
    fn the_place_is_that_of_the_official_cli() {
        const ID: &str = "bbbbbbbb-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
        let id = format!("--session-id={ID}");
        let file = |path: &str| Some(DebugLog::File(path.into()));
        let usual = file(&format!("/h/.claude/debug/{ID}.txt"));
        assert_eq!(at(&["-p", "hi"], &[]), None);
        assert_eq!(at(&["-p", "hi"], &[("DEBUG", "0")]), None);
        assert_eq!(at(&["-p", "hi", "--debug", &id], &[]), usual);
        assert_eq!(at(&["-p", "hi", &id], &[("DEBUG", "1")]), usual);
        assert_eq!(at(&["-p", "hi", &id], &[("DEBUG_SDK", "1")]), usual);
        assert_eq!(at(&["-d", "api", "-p", "hi", &id], &[]), usual);
        assert_eq!(
            at(&["-p", "hi", "--debug-file=x/d.log"], &[]),
            file("/w/x/d.log")
        );
        assert_eq!(
            at(&["-p", "hi", "--debug-to-stderr"], &[]),
            Some(DebugLog::Stderr)
        );
        let odd = at(&["-p", "hi", "--debug", "--session-id=../../x"], &[]);
        let Some(DebugLog::File(odd)) = odd else {
            panic!("{odd:?}")
        };
        assert_eq!(odd.parent(), Some(Path::new("/h/.claude/debug")));
    }
}

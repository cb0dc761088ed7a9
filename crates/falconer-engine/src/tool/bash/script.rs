//! How a command is handed to a shell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use falconer_process::Spec;
use falconer_secret::Variables;

use super::environment;

/// What runs in front of the command. Both outputs become one, in the order of writing; input
/// is empty; and when the shell exits it says where, through what was its standard error.
///
/// The descriptor for that is one no script uses. `sh` only knows those with one digit. All of it is
/// one line, so that the first line of the command is line 1 in what the shell says.
fn preamble(dialect: Dialect) -> String {
    let fd = match dialect {
        Dialect::Bash => 197,
        Dialect::Posix => 9,
    };
    format!(
        "exec {fd}>&2 2>&1 </dev/null; \
         trap 'pwd -P >&{fd} 2>/dev/null' EXIT; \
         FALCONER_COMMAND=$1; \
         shift; \
         eval \"$FALCONER_COMMAND\""
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Bash,
    Posix,
}

/// The process for a command.
pub(super) fn spec(command: &str, cwd: PathBuf, variables: &Variables) -> Spec {
    let (shell, dialect) = choose_shell(variables);
    let mut spec = Spec::new(&shell);
    spec.args = vec![
        "-c".into(),
        preamble(dialect).into(),
        shell.into(),
        command.into(),
    ];
    spec.env = environment::for_commands(variables);
    spec.cwd = Some(cwd);
    spec
}

/// The user's shell if it is bash, else any bash, else `sh`.
fn choose_shell(variables: &Variables) -> (PathBuf, Dialect) {
    let value = |name: &str| variables.get(OsStr::new(name));
    let own = value("SHELL").map(PathBuf::from);
    let own = own.filter(|shell| shell.is_absolute() && shell.ends_with("bash"));
    let path = value("PATH")
        .map(|path| path.as_bytes())
        .unwrap_or_default();
    let searched = path
        .split(|byte| *byte == b':')
        .map(|directory| Path::new(OsStr::from_bytes(directory)).join("bash"))
        .filter(|shell| shell.is_absolute());
    let usual = ["/bin/bash", "/usr/bin/bash"].map(PathBuf::from);
    let mut candidates = own.into_iter().chain(usual).chain(searched);
    match candidates.find(|shell| shell.is_file()) {
        Some(bash) => (bash, Dialect::Bash),
        None => (PathBuf::from("/bin/sh"), Dialect::Posix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_is_preferred_wherever_it_is() {
        let choose = |name: &str, value: &str| {
            let variables = [(name.into(), value.into())].into_iter().collect();
            choose_shell(&variables)
        };
        let bash = (PathBuf::from("/bin/bash"), Dialect::Bash);
        assert_eq!(choose("SHELL", "/bin/zsh"), bash);
        assert_eq!(choose("SHELL", "/nonexistent/bash"), bash);
        assert_eq!(choose("SHELL", "bash"), bash);
        assert_eq!(
            choose("SHELL", "/usr/bin/bash").0,
            Path::new("/usr/bin/bash")
        );
    }

    #[test]
    fn sh_understands_what_it_is_given() {
        let mut process = std::process::Command::new("/bin/sh");
        process.args(["-c", &preamble(Dialect::Posix), "/bin/sh"]);
        process.arg("cd /; echo out; echo err >&2; cat; echo $# $0; exit 4");
        let output = process.output().unwrap();
        assert_eq!(output.status.code(), Some(4));
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "out\nerr\n0 /bin/sh\n"
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "/\n");
    }
}

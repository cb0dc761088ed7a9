//! What a call is about: which tool, which paths, which commands.

use serde_json::Value;

/// A call, as far as rules look at it.
#[derive(Debug, Default)]
pub(super) struct Call {
    pub(super) tool: String,
    /// `server/tool`.
    pub(super) mcp: Option<String>,
    /// Every path the call names, without `.` and `..`.
    pub(super) paths: Vec<String>,
    /// Every command of a shell call.
    pub(super) commands: Vec<String>,
    /// Whether the shell does nothing but run these commands: no substitution, no redirection.
    pub(super) is_plain_command: bool,
}

/// Fields of inputs that name files.
const PATH_FIELDS: [&str; 5] = ["file_path", "notebook_path", "path", "filename", "file"];

impl Call {
    pub(super) fn read(tool: &str, input: &Value) -> Self {
        let text = |name: &str| input[name].as_str();
        let mut call = Self {
            tool: tool.to_owned(),
            mcp: mcp_name(tool),
            ..Self::default()
        };
        call.paths = PATH_FIELDS
            .iter()
            .filter_map(|name| text(name))
            .map(tidy)
            .collect();
        if let Some(pattern) = text("pattern").filter(|_| tool == "Glob") {
            call.paths.push(tidy(pattern));
        }
        if let Some(glob) = text("glob") {
            call.paths.push(tidy(glob));
        }
        if let Some(command) = text("command").filter(|_| matches!(tool, "Bash" | "PowerShell")) {
            call.shell(command);
        }
        call
    }

    /// Rules may only be stricter because of what is guessed here, so words that look like
    /// paths are taken for paths, and anything odd makes the command not plain.
    fn shell(&mut self, command: &str) {
        self.is_plain_command =
            !command.contains(['$', '`', '>', '<', '(', ')', '{', '}', '\\', '\n']);
        let parts = command.split(['|', '&', ';', '\n', '(', ')', '`', '{', '}']);
        let bare = |part: &str| part.trim().trim_start_matches('$').trim().to_owned();
        self.commands = parts.map(bare).filter(|part| !part.is_empty()).collect();
        let edges = |edge: char| edge.is_whitespace() || "|&;<>()`{}'\"=,$:@".contains(edge);
        let words = command
            .split(edges)
            .filter(|word| !word.is_empty() && !word.starts_with('-'));
        self.paths
            .extend(words.map(|word| tidy(&word.replace('\\', ""))));
    }
}

/// `mcp__server__tool` as `server/tool`.
fn mcp_name(tool: &str) -> Option<String> {
    let (server, tool) = tool.strip_prefix("mcp__")?.split_once("__")?;
    Some(format!("{server}/{tool}"))
}

/// Takes out `.`, `..` and repeated slashes by the text alone.
fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    match path.starts_with('/') {
        true => format!("/{joined}"),
        false => joined,
    }
}

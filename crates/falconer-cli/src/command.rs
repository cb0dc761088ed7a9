//! The command line of `falconer`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// What `falconer` says when it is asked nothing.
pub(crate) const FIRST_STEPS: &str = "\
falconer runs coding agents.

  falconer demo                      a whole session, without a key or a network
  falconer run 'fix the failing test'   let an agent work in this directory
  falconer help run                  everything `run` can do

To use a model, set ANTHROPIC_API_KEY, or add `--engine claude` to use an
installed and logged-in Claude Code.
";

/// Runs coding agents
#[derive(Debug, Parser)]
#[command(name = "falconer", version, about, after_help = AFTER_HELP)]
pub(crate) struct Falconer {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const AFTER_HELP: &str = "\
Examples:
  falconer demo
  falconer run 'What does this project do?'
  git diff | falconer run 'Review this change' --allow Read,Grep

Exit codes: 0 done, 1 the agent failed, 2 wrong usage, 3 something must be set
up first, 4 internal fault, 130 interrupted.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a whole agent session on a scripted model: no key, no network
    Demo(Demo),
    /// Let an agent work in this directory
    Run(Box<Run>),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer demo            answer the agent's questions yourself
  falconer demo --yes      watch only
  falconer demo | cat      the same without colour

The agent works in a scratch project in the temporary directory, which is
removed at the end. Nothing else is read or written.")]
pub(crate) struct Demo {
    /// Answer the agent's questions with yes
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Keep the scratch project and say where it is
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer run 'Find and fix the failing test'
  falconer run 'Explain src/' --allow Read,Grep,Glob --model sonnet
  falconer run 'Clean up' --permission-mode acceptEdits --max-budget-usd 1
  falconer run 'And now the docs' --continue
  falconer run hello --engine script --scenario hello.json

What is neither allowed nor denied is asked on the terminal. Without a terminal
it is denied.")]
pub(crate) struct Run {
    /// What to do; read from stdin if not given
    pub(crate) prompt: Option<String>,
    /// Which engine runs the agent
    #[arg(long, value_enum, default_value_t = EngineName::Native)]
    pub(crate) engine: EngineName,
    /// The scripted model of `--engine script`
    #[arg(long, value_name = "FILE", required_if_eq("engine", "script"))]
    pub(crate) scenario: Option<PathBuf>,
    /// The model: a name such as `sonnet`, or an id
    #[arg(long, short)]
    pub(crate) model: Option<String>,
    /// What happens to calls that no rule decides
    #[arg(long, value_name = "MODE", value_parser = MODES)]
    pub(crate) permission_mode: Option<String>,
    /// Rules for what may be done unasked, such as `Read` or `Bash(git log:*)`
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,
    /// Rules for what must not be done
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub(crate) deny: Vec<String>,
    /// Where to work; this directory if not given
    #[arg(long, short = 'C', value_name = "DIRECTORY")]
    pub(crate) cwd: Option<PathBuf>,
    /// Another directory the agent may work in
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Stop after so many rounds of tools
    #[arg(long, value_name = "NUMBER")]
    pub(crate) max_turns: Option<u32>,
    /// Stop when it has cost so much
    #[arg(long, value_name = "USD")]
    pub(crate) max_budget_usd: Option<f64>,
    /// Go on with the newest session of the directory
    #[arg(long = "continue", short = 'c', conflicts_with = "resume")]
    pub(crate) continue_latest: bool,
    /// Go on with this session
    #[arg(long, short, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
}

const MODES: [&str; 6] = [
    "default",
    "acceptEdits",
    "plan",
    "dontAsk",
    "auto",
    "bypassPermissions",
];

/// The engines there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// Falconer's own, in this process
    Native,
    /// The official Claude Code CLI, which must be installed
    Claude,
    /// Falconer's own, on a scripted model
    Script,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Falconer::command().debug_assert();
    }
}

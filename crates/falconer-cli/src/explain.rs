//! `falconer explain`: what the rules would do with a call, and why. Nothing is run.

use clap::Args;
use falconer_engine::Launch;
use falconer_rule::{CallText, Explained, Outcome, Voice};
use falconer_session::{Effect, Policy};
use owo_colors::OwoColorize;
use serde_json::json;

use crate::exit::{Done, Exit, Fault};
use crate::here;
use crate::run::start::{self, Start};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer explain 'Bash(git push)'
  falconer explain 'Bash(git status && rm -rf build)' --allow 'Bash(git:*)'
  falconer explain 'Read(.env)' --policy policy.toml
  falconer explain 'WebFetch(https://docs.rs/)' --permission-mode acceptEdits --json

Looked at are the flags, the configuration, the settings files of the user and the
project, the policy file, and the permission mode. Hooks are not run. The exit code
is 0 if the call is allowed, 1 if it is denied or asked about.")]
pub(crate) struct Explain {
    /// The call, as a rule is written: `Tool(what)`, or `Tool({\"input\": …})`
    call: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    start: Start,
}

pub(crate) async fn explain(arguments: Explain) -> Done {
    let call = CallText::parse(&arguments.call).map_err(|error| {
        Fault::usage(
            error,
            "write it like a rule, such as `Bash(git push)` or `Read(src/a.rs)`",
        )
    })?;
    let rules = start::rules(&arguments.start)?;
    let plan = rules.options.dry_run().await?;
    let launch = Launch {
        args: plan.args,
        env: plan.env,
        cwd: rules.cwd.clone(),
        redactor: here::redactor().clone(),
    };
    let engine = falconer_engine::explain(launch, &call.tool, &call.input).map_err(|error| {
        Fault::setup(error, "fix the settings; `falconer doctor` may show more")
    })?;
    let policy = rules
        .policy
        .map(|policy| voice_of(&policy, &call, &rules.cwd));
    let explained = Explained::of(policy, engine);
    if arguments.json {
        print_json(&arguments.call, &explained)?;
    } else {
        print(&explained);
    }
    Ok(match explained.outcome {
        Outcome::Allow => Exit::Success,
        Outcome::Deny | Outcome::Ask | Outcome::NoMatch => Exit::Agent,
    })
}

fn voice_of(policy: &Policy, call: &CallText, cwd: &std::path::Path) -> Voice {
    let explanation = policy.explain_in(&call.tool, &call.input, cwd);
    Voice {
        who: "policy file".to_owned(),
        outcome: match explanation.effect {
            Some(Effect::Deny) => Outcome::Deny,
            Some(Effect::Ask) => Outcome::Ask,
            Some(Effect::Allow) => Outcome::Allow,
            _ => Outcome::NoMatch,
        },
        because: explanation.reason,
        needs_person: false,
    }
}

fn print(explained: &Explained) {
    let word = word(explained.outcome);
    let word = match explained.outcome {
        Outcome::Allow => word.green().to_string(),
        Outcome::Deny => word.red().to_string(),
        Outcome::Ask | Outcome::NoMatch => word.yellow().to_string(),
    };
    anstream::println!("{word}");
    for voice in &explained.voices {
        let said = format!("{}: {}", self::word(voice.outcome), voice.because);
        if voice.who == explained.decided_by {
            anstream::println!("  {} {said}", voice.who.bold());
        } else {
            anstream::println!("  {} {}", voice.who, said.dimmed());
        }
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Allow => "allowed",
        Outcome::Deny => "denied",
        Outcome::Ask => "asked",
        Outcome::NoMatch => "no rule",
    }
}

fn print_json(call: &str, explained: &Explained) -> Result<(), Fault> {
    let voices: Vec<_> = explained
        .voices
        .iter()
        .map(|voice| json!({"who": voice.who, "outcome": word(voice.outcome), "because": voice.because}))
        .collect();
    let report = json!({"call": call, "outcome": word(explained.outcome),
        "decided_by": explained.decided_by, "voices": voices});
    let text = serde_json::to_string_pretty(&report).map_err(std::io::Error::other)?;
    anstream::println!("{text}");
    Ok(())
}

//! `falconer run`: one task, on the terminal.

use std::io::IsTerminal;

use falconer::{Options, PermissionMode, query};
use falconer_native::{NativeEngine, Scenario};

use crate::ask::{self, Answering};
use crate::command::{EngineName, Run};
use crate::exit::{self, Exit};
use crate::piped::{self, Need};
use crate::render::Screen;
use crate::watch::{self, WatchError, Watched};

pub(crate) async fn run(arguments: Run) -> Exit {
    let prompt = match prompt(arguments.prompt.as_deref()) {
        Ok(Some(prompt)) => prompt,
        Ok(None) => {
            let hint = "for example `falconer run 'What does this project do?'`";
            exit::report_setup("there is nothing to do: no prompt was given", hint);
            return Exit::Usage;
        }
        Err(error) => {
            let hint = "give the prompt as an argument";
            return exit::report_setup(format!("failed to read stdin: {error}"), hint);
        }
    };
    let options = match options(&arguments) {
        Ok(options) => options,
        Err(error) => return exit::report_setup(error, "see `--scenario` in `falconer help run`"),
    };
    match Box::pin(show(&prompt, options, &arguments)).await {
        Ok(watched) => Exit::of_watched(&watched),
        Err(error) => exit::report(&error),
    }
}

async fn show(prompt: &str, options: Options, arguments: &Run) -> Result<Watched, WatchError> {
    let cwd = match &arguments.cwd {
        Some(cwd) => std::path::absolute(cwd),
        None => std::env::current_dir(),
    };
    let mut screen = Screen::new(anstream::stdout(), cwd.unwrap_or_default());
    let answering = match std::io::stdin().is_terminal() {
        true => Answering::Person,
        false => Answering::No("there is no terminal to ask on"),
    };
    let (options, asked) = ask::collect(options.include_partial_messages());
    let mut run = Box::pin(query(prompt, options)).await?;
    watch::watch(&mut run, asked, &mut screen, answering).await
}

fn options(arguments: &Run) -> Result<Options, falconer_native::ScenarioError> {
    let mut options = Options::new()
        .allow_tools(arguments.allow.iter().cloned())
        .disallow_tools(arguments.deny.iter().cloned());
    match (arguments.engine, &arguments.scenario) {
        (EngineName::Claude, _) => {}
        (EngineName::Native, _) | (EngineName::Script, None) => {
            options = options.engine(NativeEngine::new());
        }
        (EngineName::Script, Some(file)) => {
            options = options.engine(NativeEngine::scripted(Scenario::load(file)?));
        }
    }
    if let Some(model) = &arguments.model {
        options = options.model(model);
    }
    if let Some(mode) = &arguments.permission_mode {
        options = options.permission_mode(PermissionMode::from(mode.as_str()));
    }
    if let Some(cwd) = &arguments.cwd {
        options = options.cwd(cwd);
    }
    for directory in &arguments.add_dir {
        options = options.additional_directory(directory);
    }
    if let Some(turns) = arguments.max_turns {
        options = options.max_turns(turns);
    }
    if let Some(usd) = arguments.max_budget_usd {
        options = options.max_budget_usd(usd);
    }
    if arguments.continue_latest {
        options = options.continue_latest();
    }
    if let Some(session) = &arguments.resume {
        options = options.resume(session);
    }
    Ok(options)
}

/// The prompt given, with what was piped in after it.
fn prompt(given: Option<&str>) -> std::io::Result<Option<String>> {
    let need = match given {
        Some(_) => Need::Optional,
        None => Need::Required,
    };
    let piped = piped::read(need)?;
    let parts = [given.unwrap_or_default(), piped.trim_end()];
    let parts: Vec<_> = parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    Ok((!parts.is_empty()).then(|| parts.join("\n\n")))
}

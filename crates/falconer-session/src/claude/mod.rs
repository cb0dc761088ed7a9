//! The Claude protocol as an engine of a session: the official CLI, the native engine, or whatever
//! else speaks it through a transport of the SDK.
//!
//! Only this module knows the SDK and the wire types.

mod ask;
mod controls;
mod failure;
mod handlers;
mod meter;
mod stream;

use std::sync::Arc;

use falconer::{Billing, Client, Link, Messages, Options, Transport};
use falconer_event::{Normaliser, Run};
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use crate::engine::{Engine, Opening, Running, Stopped};
use crate::info::{CommandInfo, EngineInfo, ModelInfo};
use crate::spec::Resume;
use controls::ClaudeControls;
use handlers::listen;
use meter::Meter;
use stream::{ClaudeStream, Streamed};

/// Requests of the engine that may wait for the session; the engine waits when there are more.
const ASKS: usize = 64;

/// An engine that speaks the Claude protocol.
#[derive(Default)]
pub(crate) struct Claude {
    pub(crate) options: Options,
    /// Instead of a process; can be opened once.
    pub(crate) transport: Option<Box<dyn Transport>>,
    has_transport: bool,
}

type Connecting = BoxFuture<'static, Result<(Client, Messages), falconer::Error>>;

impl Claude {
    pub(crate) fn through(&mut self, transport: Box<dyn Transport>) {
        self.transport = Some(transport);
        self.has_transport = true;
    }

    fn connect(&mut self, options: Options) -> Connecting {
        match self.transport.take() {
            Some(transport) => Box::pin(Client::connect_through(Boxed(transport), options)),
            None => Box::pin(Client::connect(options)),
        }
    }
}

impl Engine for Claude {
    fn start(&mut self, opening: Opening) -> BoxFuture<'static, Result<Running, Stopped>> {
        let Opening {
            mut about,
            resume,
            turns,
            budget_usd,
            meters_output,
            keeps_raw,
            archive,
        } = opening;
        let mut options = self.options.clone();
        about.tool_schemas.extend(options.tool_schemas());
        let streamed = match (meters_output, options.includes_partial_messages()) {
            // The engine streams for the sake of a limit only.
            (true, false) => Streamed::Hidden,
            _ => Streamed::Shown,
        };
        if let Some(resume) = &resume {
            options = resumed(options, resume);
        }
        if let Some(usd) = budget_usd {
            options = options.max_budget_usd(usd);
        }
        if meters_output {
            options = options.include_partial_messages();
        }
        let is_cli = !self.has_transport && options.runs_cli();
        let (asks, asked) = mpsc::channel(ASKS);
        let connecting = self.connect(listen(options, &asks, archive));
        Box::pin(async move {
            let (client, messages) = connecting.await.map_err(|error| failure::start(&error))?;
            learn(&mut about, &client);
            let mut normaliser = Normaliser::new(about).after_turns(turns);
            normaliser.resumes_after(client.cost_before());
            let meter = Meter::resumed(client.cost_before());
            let info = info(&client);
            Ok(Running {
                stream: Box::new(ClaudeStream {
                    messages,
                    asked,
                    waiting: Vec::new(),
                    normaliser,
                    meter,
                    streamed,
                    keeps_raw,
                    is_version_unseen: is_cli,
                    is_named: false,
                    is_over: false,
                }),
                controls: Arc::new(ClaudeControls { client }),
                info,
            })
        })
    }

    fn can_start_again(&self) -> bool {
        !self.has_transport
    }
}

fn resumed(options: Options, resume: &Resume) -> Options {
    let mut options = options.resume(&resume.session);
    if let Some(at) = &resume.at {
        options = options.resume_at(at);
    }
    if resume.fork {
        options.fork_session()
    } else {
        options
    }
}

/// Adds what the start has decided; what the caller said about the run stays.
fn learn(about: &mut Run, client: &Client) {
    // Who pays is told only if it is known.
    let known = client
        .billing()
        .filter(|&billing| billing != Billing::Undetermined);
    let billing = known.map(|billing| billing.to_string());
    about.billing = about.billing.take().or(billing);
    let isolation = client.isolation().map(ToString::to_string);
    about.sandbox = about.sandbox.take().or(isolation);
}

fn info(client: &Client) -> EngineInfo {
    let hello = client.hello();
    let commands = hello.commands.iter().map(|command| CommandInfo {
        name: command.name.clone(),
        description: command.description.clone().unwrap_or_default(),
        argument_hint: command.argument_hint.clone().unwrap_or_default(),
    });
    let models = hello.models.iter().map(|model| ModelInfo {
        id: model.value.clone(),
        name: (model.display_name.clone()).unwrap_or_else(|| model.value.clone()),
        description: model.description.clone().unwrap_or_default(),
    });
    EngineInfo {
        commands: commands.collect(),
        models: models.collect(),
    }
}

/// A transport of a kind only known at run time.
struct Boxed(Box<dyn Transport>);

impl Transport for Boxed {
    fn open(self: Box<Self>) -> BoxFuture<'static, Result<Link, falconer::Error>> {
        self.0.open()
    }
}

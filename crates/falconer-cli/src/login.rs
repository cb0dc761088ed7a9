//! `falconer login`: a link that signs a browser in, once, with a QR code for a phone.

use std::io::IsTerminal;

use clap::Args;
use owo_colors::OwoColorize;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::{Map, Value, json};

use crate::exit::{Done, Exit, Fault};
use crate::remote::{Remote, Server};
use crate::render::clean;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  falconer login                                 a link for a browser on this machine
  falconer login --scopes read,approve           for someone who only approves
  falconer login --public https://agents.example.org   a link that a phone can open

The link works once and expires after a few minutes.")]
pub(crate) struct Login {
    /// URL at which the other device reaches the server
    #[arg(long, value_name = "URL")]
    public: Option<String>,
    /// Give the browser only these scopes: read, operate, approve, admin
    #[arg(long, value_name = "SCOPES", value_delimiter = ',')]
    scopes: Option<Vec<String>>,
    /// Name the browser in the audit log and the list of tokens
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: Server,
}

pub(crate) async fn login(arguments: Login) -> Done {
    crate::trust::refuse_agents()?;
    let remote = Remote::connect(&arguments.server)?;
    let mut wish = Map::new();
    if let Some(scopes) = &arguments.scopes {
        wish.insert("scopes".to_owned(), json!(scopes));
    }
    if let Some(name) = &arguments.name {
        wish.insert("name".to_owned(), json!(name));
    }
    let code = remote.post("/v1/codes", &Value::Object(wish)).await?;
    let base = arguments.public.as_deref().unwrap_or(remote.url());
    let path = code["path"].as_str().unwrap_or_default();
    let link = format!("{}{}", base.trim_end_matches('/'), clean(path));
    if arguments.json {
        let made = json!({"link": link, "expires_at": code["expires_at"]});
        anstream::println!("{made}");
        return Ok(Exit::Success);
    }
    anstream::println!("{link}");
    if std::io::stdout().is_terminal() {
        show(&link)?;
    }
    Ok(Exit::Success)
}

/// The link for a camera. What is dark on paper is drawn light, as terminals are dark.
fn show(link: &str) -> Result<(), Fault> {
    let code = QrCode::new(link).map_err(|error| {
        let text = format!("failed to draw the link: {error}");
        Fault::new(Exit::Internal, text, "open the link that is printed above")
    })?;
    let drawn = code
        .render::<Dense1x2>()
        .dark_color(Dense1x2::Light)
        .light_color(Dense1x2::Dark)
        .build();
    anstream::println!("\n{drawn}\n");
    if link.starts_with("http://127.") || link.starts_with("http://localhost") {
        let note = "This address works only on this machine; use --public for another.";
        anstream::println!("{}", note.dimmed());
    }
    Ok(())
}

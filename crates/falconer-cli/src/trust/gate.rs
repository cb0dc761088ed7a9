//! Before the first turn of `run` and `chat`: is there something that nobody trusts?

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use falconer::{Options, SettingSource};
use falconer_engine::{InspectedItem, Inspection, ItemKind, Standing};

use super::{is_open, look, official, remember, show};
use crate::exit::{Fault, say};
use crate::render::Window;

/// Whether a person can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    Person,
    Nobody,
}

impl Asking {
    /// A person, if one sees stderr and can type.
    pub(crate) fn on_terminal() -> Self {
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            Self::Person
        } else {
            Self::Nobody
        }
    }
}

/// The flag `--trust-project`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrustFlag {
    /// Whatever is there now, for this session.
    Once,
    /// The content with this digest, for this session.
    Digest(String),
}

impl std::str::FromStr for TrustFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match text {
            "once" => Ok(Self::Once),
            _ if is_digest => Ok(Self::Digest(text.to_ascii_lowercase())),
            _ => Err(format!(
                "invalid trust `{text}`: use `once`, or the digest that `falconer trust` shows"
            )),
        }
    }
}

/// What was decided about a project's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Nothing needs trust.
    NotNeeded,
    /// The content with this digest is trusted.
    Trusted(String),
    /// The content is not used.
    Untrusted,
}

impl Settled {
    /// What an engine is told about it. Ours looks at the content itself and compares; the official
    /// CLI cannot, and gets no settings of the project at all.
    pub(crate) fn apply(&self, engine: &str, options: Options) -> Options {
        match (self, engine) {
            (Self::NotNeeded, _) | (Self::Trusted(_), "claude") => options,
            (Self::Trusted(digest), _) => options.extra_arg("trust-project", digest),
            // Without the project as a source it reads no `.mcp.json`, agents or skills either.
            (Self::Untrusted, "claude") => options.setting_sources([SettingSource::User]),
            (Self::Untrusted, _) => options,
        }
    }
}

/// Decides about the content of a project, and asks if somebody can be asked.
pub(crate) fn settle(
    project: &Path,
    added: &[PathBuf],
    engine: &str,
    flag: Option<&TrustFlag>,
    asking: Asking,
) -> Result<Settled, Fault> {
    let inspection = look(project)?;
    if let Some(why) = left_out(&inspection, added, engine)? {
        say("warning:", why);
        return Ok(Settled::Untrusted);
    }
    let Some(digest) = needed(&inspection, engine) else {
        return Ok(Settled::NotNeeded);
    };
    match flag {
        Some(TrustFlag::Once) => return Ok(Settled::Trusted(digest)),
        Some(TrustFlag::Digest(given)) if *given == digest => {
            return Ok(Settled::Trusted(digest));
        }
        Some(TrustFlag::Digest(_)) => {
            let text = format!("the project's content has a different digest: {digest}");
            return Err(Fault::usage(
                text,
                "run `falconer trust` to review the content",
            ));
        }
        None => {}
    }
    if inspection.standing == Standing::Trusted {
        return Ok(Settled::Trusted(digest));
    }
    if asking == Asking::Person {
        if ask(&inspection, "trust this content? [n] continues without it")? {
            remember(&inspection, &digest)?;
            return Ok(Settled::Trusted(digest));
        }
        return Ok(Settled::Untrusted);
    }
    say("warning:", warning(&inspection));
    say("hint:", "run `falconer trust` to review and trust it");
    Ok(Settled::Untrusted)
}

/// Why an engine gets no settings of the project at all, trusted or not.
fn left_out(
    inspection: &Inspection,
    added: &[PathBuf],
    engine: &str,
) -> Result<Option<String>, Fault> {
    if engine != "claude" {
        return Ok(None);
    }
    let why = official::obstacle(inspection, added)?;
    Ok(why.map(|why| format!("ignoring the project's settings: {why}")))
}

/// The digest of the content, if this engine would use any of it: agents, skills and commands of a
/// project are read by the official CLI only.
fn needed(inspection: &Inspection, engine: &str) -> Option<String> {
    let is_used = |item: &InspectedItem| item.kind != ItemKind::Definition || engine == "claude";
    let digest = inspection.digest.clone();
    digest.filter(|_| inspection.items.iter().any(is_used))
}

/// One line about content that is not used.
pub(crate) fn warning(inspection: &Inspection) -> String {
    let mut files: Vec<&str> = inspection.items.iter().map(|it| it.file.as_str()).collect();
    files.dedup();
    let why = match inspection.standing {
        Standing::Changed => "have changed since they were trusted",
        _ => "are not trusted",
    };
    let count = inspection.items.len();
    let things = if count == 1 { "setting" } else { "settings" };
    format!(
        "{count} {things} of the project ({}) {why} and are not used",
        files.join(", ")
    )
}

/// How long something is on the screen before an answer to it is taken.
const READING: Duration = Duration::from_millis(500);

/// Lines of the window that hold no content.
const MARGIN: usize = 4;

/// Shows the content, window by window, and asks; everything but a clear yes is a no.
pub(super) fn ask(inspection: &Inspection, question: &str) -> Result<bool, Fault> {
    if Asking::on_terminal() == Asking::Nobody {
        let hint = "give `--yes --digest DIGEST`; `falconer trust` shows the digest";
        return Err(Fault::usage("no terminal to ask on", hint));
    }
    let window = Window::now();
    let rows = show::sheet(inspection).rows(window.columns);
    let pages: Vec<&[String]> = rows
        .chunks(window.rows.saturating_sub(MARGIN).max(1))
        .collect();
    for (at, page) in pages.iter().enumerate() {
        page.iter().for_each(|row| anstream::eprintln!("{row}"));
        let shown = at + 1;
        if shown < pages.len() {
            let prompt = format!(
                "page {shown} of {}: Enter for more, n to stop ",
                pages.len()
            );
            if !typed(&prompt)?.is_some_and(|line| line.is_empty()) {
                return Ok(false);
            }
        }
    }
    let answer = typed(&format!("{question} [y/n] "))?;
    Ok(answer.is_some_and(|line| line == "y" || line == "yes"))
}

/// A line that was typed after what is above it could be read; `None` at the end of input.
fn typed(prompt: &str) -> Result<Option<String>, Fault> {
    std::thread::sleep(READING);
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    anstream::eprint!("\n{prompt}");
    let mut line = String::new();
    let length = io::stdin().read_line(&mut line)?;
    Ok((length > 0).then(|| line.trim().to_ascii_lowercase()))
}

/// For a server: what is not used in a session, if anything.
pub(crate) fn without_asking(
    project: &Path,
    added: &[PathBuf],
    engine: &str,
) -> Result<(Settled, Option<String>), Fault> {
    let inspection = look(project)?;
    if let Some(why) = left_out(&inspection, added, engine)? {
        return Ok((Settled::Untrusted, Some(why)));
    }
    Ok(match needed(&inspection, engine) {
        None => (Settled::NotNeeded, None),
        Some(_) if is_open(inspection.standing) => (Settled::Untrusted, Some(warning(&inspection))),
        Some(digest) => (Settled::Trusted(digest), None),
    })
}

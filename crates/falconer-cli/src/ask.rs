//! Questions of the agent to the person at the terminal.
//!
//! The engine asks on a task of its own; the question waits here until the one who owns the
//! screen comes to it, so that output and questions never mix.

use std::io::{self, Write};

use falconer::protocol::permission::PermissionDestination;
use falconer::protocol::tool::Question;
use falconer::{
    Answers, Decision, Options, PermissionMode, PermissionRequest, PermissionUpdate,
    QuestionRequest,
};
use owo_colors::OwoColorize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::render::{Screen, clean, first_line};

/// Questions that may wait. The engine waits when there are more.
const QUEUE: usize = 16;

/// How often an answer that makes no sense is asked for again.
const TRIES: usize = 3;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answering {
    /// The person at the terminal.
    Person,
    /// Yes to everything; the text says why.
    Yes(&'static str),
    /// No to everything, because nobody can be asked; the text says why.
    No(&'static str),
}

/// A question and where its answer goes.
#[derive(Debug)]
pub(crate) enum Asked {
    Permission(Box<PermissionRequest>, oneshot::Sender<Decision>),
    Question(Box<QuestionRequest>, oneshot::Sender<Answers>),
}

impl Asked {
    /// The call it is about.
    pub(crate) fn tool_use_id(&self) -> Option<&str> {
        let ask = match self {
            Self::Permission(request, _) => &request.ask,
            Self::Question(request, _) => &request.ask,
        };
        ask.tool_use_id.as_ref().map(|id| id.as_str())
    }

    /// Asks, and hands the answer to the engine.
    pub(crate) async fn settle<W: Write>(
        self,
        screen: &mut Screen<W>,
        answering: Answering,
    ) -> io::Result<()> {
        match self {
            Self::Permission(request, answer) => {
                let decision = permission(&request, screen, answering).await?;
                // The engine may have stopped waiting.
                let _ = answer.send(decision);
            }
            Self::Question(request, answer) => {
                let answers = questions(&request, screen, answering).await?;
                let _ = answer.send(answers);
            }
        }
        Ok(())
    }
}

/// Sends all questions of a run to the receiver.
pub(crate) fn collect(options: Options) -> (Options, mpsc::Receiver<Asked>) {
    let (permissions, asked) = mpsc::channel(QUEUE);
    let questions = permissions.clone();
    let options = options
        .without_permission_timeout()
        .on_permission(move |request| {
            let queue = permissions.clone();
            async move {
                let (answer, answered) = oneshot::channel();
                let asked = Asked::Permission(Box::new(request), answer);
                let _ = queue.send(asked).await;
                let nobody = |_| Decision::deny("nobody answered the question");
                answered.await.unwrap_or_else(nobody)
            }
        })
        .on_question(move |request| {
            let queue = questions.clone();
            async move {
                let (answer, answered) = oneshot::channel();
                let asked = Asked::Question(Box::new(request), answer);
                let _ = queue.send(asked).await;
                let nobody = |_| Answers::decline("nobody answered the question");
                answered.await.unwrap_or_else(nobody)
            }
        });
    (options, asked)
}

async fn permission<W: Write>(
    request: &PermissionRequest,
    screen: &mut Screen<W>,
    answering: Answering,
) -> io::Result<Decision> {
    if let Some(reason) = &request.ask.decision_reason {
        screen.line(format!("  {}", first_line(&clean(reason))).dimmed())?;
    }
    let choices = Choices::of(request);
    let prompt = format!("  {} {}: ", "?".yellow().bold(), choices.text());
    match answering {
        Answering::Yes(why) => {
            screen.line(format!("{prompt}yes ({why})"))?;
            return Ok(Decision::allow());
        }
        Answering::No(why) => {
            screen.line(format!("{prompt}no ({why})"))?;
            return Ok(Decision::deny(why));
        }
        Answering::Person => {}
    }
    for _ in 0..TRIES {
        screen.prompt(&prompt)?;
        let Some(line) = read_line().await? else {
            screen.line("no")?;
            return Ok(Decision::deny("nobody is at the terminal"));
        };
        if let Some(decision) = choices.decide(&line, screen).await? {
            return Ok(decision);
        }
    }
    Ok(Decision::deny("the user gave no clear answer"))
}

/// What can be answered to a permission question.
struct Choices<'a> {
    request: &'a PermissionRequest,
    always: Option<PermissionUpdate>,
    command: Option<&'a str>,
}

impl<'a> Choices<'a> {
    fn of(request: &'a PermissionRequest) -> Self {
        let command = request.input().get("command").and_then(Value::as_str);
        Self {
            request,
            always: always(request.suggestions()),
            command: command.filter(|_| request.tool_name() == "Bash"),
        }
    }

    fn text(&self) -> String {
        let what = match self.request.tool_name() {
            "Bash" => "run this?",
            "Edit" | "Write" | "NotebookEdit" => "make this change?",
            _ => "allow this?",
        };
        let mut text = format!("{what} [y]es, [n]o");
        match &self.always {
            Some(PermissionUpdate::SetMode(_)) => text += ", [a]ll edits in this session",
            Some(_) => text += ", [a]lways in this session",
            None => {}
        }
        if self.command.is_some() {
            text += ", [e]dit";
        }
        text
    }

    /// What an answer means; `None` if it means nothing.
    async fn decide<W: Write>(
        &self,
        line: &str,
        screen: &mut Screen<W>,
    ) -> io::Result<Option<Decision>> {
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Ok(match word.to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(Decision::allow()),
            "n" | "no" => Some(Decision::deny(match rest.trim() {
                "" => "the user said no".to_owned(),
                reason => format!("the user said no: {reason}"),
            })),
            "a" | "all" | "always" => self.always.clone().map(Decision::allow_always),
            "e" | "edit" if self.command.is_some() => self.edited(screen).await?,
            _ => None,
        })
    }

    async fn edited<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<Option<Decision>> {
        screen.prompt("    command: ")?;
        let line = read_line().await?.unwrap_or_default();
        let command = line.trim();
        if command.is_empty() {
            return Ok(None);
        }
        let mut input = self.request.input().clone();
        input["command"] = command.into();
        Ok(Some(Decision::allow_with_input(input)))
    }
}

/// The first suggestion that can be kept for this session only.
fn always(suggestions: &[PermissionUpdate]) -> Option<PermissionUpdate> {
    let session = PermissionDestination::Session;
    suggestions.iter().find_map(|suggestion| match suggestion {
        PermissionUpdate::AddRules(rules) => {
            let mut rules = rules.clone();
            rules.destination = session.clone();
            Some(PermissionUpdate::AddRules(rules))
        }
        PermissionUpdate::SetMode(mode) if mode.mode == PermissionMode::AcceptEdits => {
            let mut mode = mode.clone();
            mode.destination = session.clone();
            Some(PermissionUpdate::SetMode(mode))
        }
        _ => None,
    })
}

async fn questions<W: Write>(
    request: &QuestionRequest,
    screen: &mut Screen<W>,
    answering: Answering,
) -> io::Result<Answers> {
    let mut answers = Answers::new();
    for question in &request.questions {
        screen.line(format!("  {} {}", "?".yellow(), clean(&question.question)))?;
        for (index, option) in question.options.iter().enumerate() {
            let text = first_line(&clean(option.description.as_deref().unwrap_or_default()));
            let label = clean(&option.label);
            screen.line(format!("    {} {label}  {}", index + 1, text.dimmed()))?;
        }
        let line = match answering {
            Answering::Person => {
                screen.prompt("    number or your own words: ")?;
                read_line().await?
            }
            Answering::Yes(_) => Some("1".to_owned()),
            Answering::No(why) => return Ok(Answers::decline(why)),
        };
        match line.as_deref().map(str::trim) {
            None | Some("") => return Ok(Answers::decline("the user gave no answer")),
            Some(line) => answers = answers.answer(&question.question, chosen(question, line)),
        }
    }
    Ok(answers)
}

/// The label with this number, or the words as they are.
fn chosen(question: &Question, line: &str) -> String {
    let number: Option<usize> = line.parse().ok();
    let option = number.and_then(|number| question.options.get(number.checked_sub(1)?));
    option.map_or_else(|| line.to_owned(), |option| option.label.clone())
}

/// A line of the terminal; `None` at its end.
async fn read_line() -> io::Result<Option<String>> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        let count = io::stdin().read_line(&mut line)?;
        Ok((count > 0).then_some(line))
    });
    read.await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}

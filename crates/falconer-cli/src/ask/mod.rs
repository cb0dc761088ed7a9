//! What the agent asks, and what a person answers, line by line.
//!
//! A question is a small machine: it shows itself, takes a line, and either has its verdict or
//! asks again. Where the lines come from, and what else happens meanwhile, is the driver's.

mod form;
mod lines;
mod permission;
mod plan;

use std::io::{self, Write};

use falconer_event::{PermissionRequested, QuestionKind, QuestionRequested};
use falconer_session::Verdict;

use crate::render::Screen;
use form::Form;
pub(crate) use lines::Lines;
use permission::Permission;
use plan::Plan;

/// How often an answer that makes no sense is asked for again.
const TRIES: usize = 3;

/// Who answers.
#[derive(Debug)]
pub(crate) enum Answering {
    /// The person at the terminal.
    Person(Lines),
    /// Yes to everything; the text says why.
    Yes(&'static str),
    /// No to everything, because nobody can be asked; the text says why.
    No(&'static str),
}

/// A request that is open.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) id: String,
    pub(crate) digest: String,
    kind: Kind,
    tries: usize,
}

#[derive(Debug)]
enum Kind {
    Permission(Permission),
    Choice(Form),
    Plan(Plan),
    Elicitation(Form),
}

impl Open {
    pub(crate) fn permission(request: &PermissionRequested) -> Self {
        Self {
            id: request.id.clone(),
            digest: request.digest.clone(),
            kind: Kind::Permission(Permission::of(request)),
            tries: 0,
        }
    }

    pub(crate) fn question(request: &QuestionRequested) -> Self {
        let kind = match request.kind {
            QuestionKind::Plan => Kind::Plan(Plan::of(&request.form)),
            QuestionKind::Choice => Kind::Choice(Form::choices(&request.form)),
            _ => Kind::Elicitation(Form::elicitation(&request.form)),
        };
        Self {
            id: request.id.clone(),
            digest: request.digest.clone(),
            kind,
            tries: 0,
        }
    }

    /// Shows the question, and what can be answered.
    pub(crate) fn begin<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        match &self.kind {
            Kind::Permission(permission) => permission.begin(screen),
            Kind::Choice(form) | Kind::Elicitation(form) => form.begin(screen),
            Kind::Plan(plan) => plan.begin(screen),
        }
    }

    /// Takes an answer; `None` if there is more to ask. No line means that nobody is there.
    pub(crate) fn take<W: Write>(
        &mut self,
        line: Option<&str>,
        screen: &mut Screen<W>,
    ) -> io::Result<Option<Verdict>> {
        let Some(line) = line else {
            return Ok(Some(Verdict::Deny("nobody is at the terminal".to_owned())));
        };
        let taken = match &mut self.kind {
            Kind::Permission(permission) => permission.take(line),
            Kind::Choice(form) => form.take(line).map(Form::verdict_of_choices),
            Kind::Elicitation(form) => form.take(line).map(Form::verdict_of_form),
            Kind::Plan(plan) => plan.take(line),
        };
        match taken {
            Taken::Verdict(verdict) => Ok(Some(verdict)),
            Taken::More => {
                self.prompt(screen)?;
                Ok(None)
            }
            Taken::Unclear if self.tries + 1 < TRIES => {
                self.tries += 1;
                self.prompt(screen)?;
                Ok(None)
            }
            Taken::Unclear => Ok(Some(Verdict::Deny(
                "the user gave no clear answer".to_owned(),
            ))),
        }
    }

    /// Whether a line is an answer at all, where it could also be a message.
    pub(crate) fn understands(&self, line: &str) -> bool {
        match &self.kind {
            Kind::Permission(permission) => permission.understands(line),
            Kind::Choice(_) | Kind::Elicitation(_) | Kind::Plan(_) => true,
        }
    }

    /// The answer without a person.
    pub(crate) fn without_a_person<W: Write>(
        &self,
        answering: &Answering,
        screen: &mut Screen<W>,
    ) -> io::Result<Option<Verdict>> {
        let (verdict, said) = match answering {
            Answering::Person(_) => return Ok(None),
            Answering::Yes(why) => (self.yes(), format!("yes ({why})")),
            Answering::No(why) => (Verdict::Deny((*why).to_owned()), format!("no ({why})")),
        };
        self.begin(screen)?;
        screen.finish_prompt(&said)?;
        Ok(Some(verdict))
    }

    fn prompt<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        match &self.kind {
            Kind::Permission(permission) => permission.prompt(screen),
            Kind::Choice(form) | Kind::Elicitation(form) => form.begin(screen),
            Kind::Plan(plan) => plan.prompt(screen),
        }
    }

    fn yes(&self) -> Verdict {
        match &self.kind {
            Kind::Permission(_) => Verdict::Allow,
            Kind::Choice(form) => Form::verdict_of_choices(form.first_of_each()),
            Kind::Elicitation(_) => Verdict::Deny("nobody is there to fill in a form".to_owned()),
            Kind::Plan(_) => Verdict::ApprovePlan(None),
        }
    }
}

/// What a line meant.
#[derive(Debug)]
enum Taken<T> {
    Verdict(T),
    /// There is another question.
    More,
    /// It made no sense.
    Unclear,
}

impl<T> Taken<T> {
    fn map<U>(self, verdict: impl FnOnce(T) -> U) -> Taken<U> {
        match self {
            Self::Verdict(done) => Taken::Verdict(verdict(done)),
            Self::More => Taken::More,
            Self::Unclear => Taken::Unclear,
        }
    }
}

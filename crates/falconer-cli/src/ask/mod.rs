//! What the agent asks, and what a person answers, line by line.
//!
//! A question is a small machine: it shows itself, takes a line, and either has its verdict or
//! asks again. Where the lines come from, and what else happens meanwhile, is the driver's.

mod desk;
mod form;
mod lines;
mod permission;
mod plan;
mod reader;

use std::io::{self, Write};

use falconer_event::{PermissionRequested, QuestionKind, QuestionRequested, Shown};
use falconer_session::Verdict;
use owo_colors::OwoColorize;
use serde_json::Value;

use crate::render::{Screen, Sheet, Window};
pub(crate) use desk::{Desk, Meaning};
use form::Form;
pub(crate) use lines::{Line, Lines};
use permission::Permission;
use plan::Plan;
use reader::Reader;

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
    /// Whoever sees the session in the store, until the request expires.
    Others,
}

/// A request that is open.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) id: String,
    pub(crate) digest: String,
    kind: Kind,
    /// What is on the screen; nothing before the request was shown.
    reader: Option<Reader>,
    tries: usize,
}

#[derive(Debug)]
enum Kind {
    Permission(Permission),
    Choice(Form),
    Plan(Plan),
    Elicitation(Form),
}

/// What follows a line.
#[derive(Debug)]
pub(crate) enum Step {
    Verdict(Verdict),
    /// It was asked again.
    Again,
    /// Something new is on the screen, and is to be read before it is asked again.
    Read,
}

impl Open {
    pub(crate) fn permission(request: &PermissionRequested) -> Self {
        let kind = Kind::Permission(Permission::of(request));
        Self::new(&request.id, &request.digest, kind)
    }

    pub(crate) fn question(request: &QuestionRequested) -> Self {
        let kind = match request.kind {
            QuestionKind::Plan => Kind::Plan(Plan::of(&request.form)),
            QuestionKind::Choice => Kind::Choice(Form::choices(&request.form)),
            _ => Kind::Elicitation(Form::elicitation(&request.form)),
        };
        Self::new(&request.id, &request.digest, kind)
    }

    fn new(id: &str, digest: &str, kind: Kind) -> Self {
        Self {
            id: id.to_owned(),
            digest: digest.to_owned(),
            kind,
            reader: None,
            tries: 0,
        }
    }

    /// Everything that is to be approved.
    pub(crate) fn sheet(&self) -> Sheet {
        match &self.kind {
            Kind::Permission(permission) => permission.sheet(),
            Kind::Choice(form) | Kind::Elicitation(form) => form.sheet(),
            Kind::Plan(plan) => plan.sheet(),
        }
    }

    /// Shows what is asked, all of it if it fits.
    pub(crate) fn begin<W: Write>(&mut self, screen: &mut Screen<W>) -> io::Result<()> {
        let reader = Reader::new(self.sheet(), Window::now);
        reader.begin(screen)?;
        self.reader = Some(reader);
        match &self.kind {
            Kind::Choice(form) | Kind::Elicitation(form) if form.has_several() => {
                form.field(screen)
            }
            _ => Ok(()),
        }
    }

    /// Says what can be answered.
    pub(crate) fn prompt<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        let reader = self.reader.as_ref();
        if let Some(reader) = reader.filter(|reader| reader.is_paging()) {
            return reader.prompt(screen);
        }
        if reader.is_some_and(|reader| !reader.is_seen()) {
            let text = "  not fully shown: [v]iew it to the end, or type `skip`, before approving";
            screen.line(text.yellow())?;
        }
        match &self.kind {
            Kind::Permission(permission) => permission.prompt(screen),
            Kind::Choice(form) | Kind::Elicitation(form) => form.prompt(screen),
            Kind::Plan(plan) => plan.prompt(screen),
        }
    }

    /// How it was shown; nothing if it never was.
    pub(crate) fn shown(&self) -> Option<Shown> {
        self.reader.as_ref().map(Reader::shown)
    }

    /// Takes an answer. No line means that nobody is there.
    pub(crate) fn take<W: Write>(
        &mut self,
        line: Option<&str>,
        screen: &mut Screen<W>,
    ) -> io::Result<Step> {
        let Some(line) = line else {
            let nobody = "no one is at the terminal".to_owned();
            return Ok(Step::Verdict(Verdict::Deny(nobody)));
        };
        if let Some(step) = self.look(line, screen)? {
            return Ok(step);
        }
        let is_seen = self.reader.as_ref().is_none_or(Reader::is_seen);
        match self.read(line) {
            Taken::Verdict(verdict) if verdict.is_denial() => Ok(Step::Verdict(verdict)),
            Taken::Verdict(_) | Taken::Edited(_) | Taken::More if !is_seen => {
                self.restart();
                self.again(screen)
            }
            Taken::Verdict(_) if self.reader.as_mut().is_some_and(Reader::resize) => {
                screen.line("  the window shrank, so here it is again".yellow())?;
                self.begin(screen)?;
                Ok(Step::Read)
            }
            Taken::Verdict(verdict) => Ok(Step::Verdict(verdict)),
            Taken::Edited(input) => self.show_edited(input, screen),
            Taken::Unclear if self.tries + 1 >= TRIES => {
                let unclear = "the user gave no clear answer".to_owned();
                Ok(Step::Verdict(Verdict::Deny(unclear)))
            }
            Taken::Unclear => {
                self.tries += 1;
                screen.line(self.hint().yellow())?;
                self.again(screen)
            }
            Taken::More => {
                if let Kind::Choice(form) | Kind::Elicitation(form) = &self.kind {
                    form.field(screen)?;
                }
                self.again(screen)
            }
        }
    }

    /// What a person typed is shown like everything else before it is approved.
    fn show_edited<W: Write>(&mut self, input: Value, screen: &mut Screen<W>) -> io::Result<Step> {
        if self.reader.is_none() {
            return Ok(Step::Verdict(Verdict::AllowEdited(input)));
        }
        if let Kind::Permission(permission) = &mut self.kind {
            permission.edit(input);
        }
        self.begin(screen)?;
        Ok(Step::Read)
    }

    /// The letters that answer; none where words do.
    fn letters(&self) -> Vec<char> {
        match &self.kind {
            Kind::Permission(permission) => permission.letters(),
            Kind::Plan(plan) => plan.letters(),
            Kind::Choice(_) | Kind::Elicitation(_) => Vec::new(),
        }
    }

    /// The answers there are, for the prompt of a line that may be one.
    pub(crate) fn keys(&self) -> String {
        let letters: Vec<String> = self.letters().into_iter().map(String::from).collect();
        if letters.is_empty() {
            "answer".to_owned()
        } else {
            letters.join("/")
        }
    }

    /// What to do after an answer that made no sense.
    fn hint(&self) -> String {
        let letters: Vec<String> = self.letters().into_iter().map(String::from).collect();
        match letters.as_slice() {
            [] => "  not understood".to_owned(),
            [only] => format!("  not understood: answer {only}, optionally with a reason"),
            [most @ .., last] => {
                let most = most.join(", ");
                format!("  not understood: answer {most} or {last}; only n may have a reason")
            }
        }
    }

    /// Says that a line is no answer, and asks again.
    pub(crate) fn unclear<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        screen.line(self.hint().yellow())?;
        self.prompt(screen)
    }

    /// Lines that are about looking at the request, not about answering it.
    fn look<W: Write>(&mut self, line: &str, screen: &mut Screen<W>) -> io::Result<Option<Step>> {
        let word = line.trim().to_ascii_lowercase();
        let Some(reader) = &mut self.reader else {
            return Ok(None);
        };
        let is_part = !reader.is_seen();
        match word.as_str() {
            "" if reader.is_paging() => reader.turn(screen)?,
            "v" | "view" if is_part => reader.turn(screen)?,
            "q" | "quit" if reader.is_paging() => {
                reader.stop();
                return self.again(screen).map(Some);
            }
            "skip" if is_part => {
                reader.skip();
                return self.again(screen).map(Some);
            }
            _ => {
                reader.stop();
                return Ok(None);
            }
        }
        // Each page has its moment, so that a pasted or held key turns no page unseen.
        Ok(Some(Step::Read))
    }

    fn read(&mut self, line: &str) -> Taken {
        match &mut self.kind {
            Kind::Permission(permission) => permission.take(line),
            Kind::Choice(form) => form.take(line, Form::verdict_of_choices),
            Kind::Elicitation(form) => form.take(line, Form::verdict_of_form),
            Kind::Plan(plan) => plan.take(line),
        }
    }

    fn restart(&mut self) {
        match &mut self.kind {
            Kind::Permission(permission) => permission.restart(),
            Kind::Choice(form) | Kind::Elicitation(form) => form.restart(),
            Kind::Plan(_) => {}
        }
    }

    fn again<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<Step> {
        self.prompt(screen)?;
        Ok(Step::Again)
    }

    /// Whether a line is an answer at all, where it could also be a message.
    pub(crate) fn understands(&self, line: &str) -> bool {
        let reader = self.reader.as_ref();
        let is_look = match line.to_ascii_lowercase().as_str() {
            "" | "q" | "quit" => reader.is_some_and(Reader::is_paging),
            "v" | "view" | "skip" => reader.is_some_and(|reader| !reader.is_seen()),
            _ => false,
        };
        let is_answer = match &self.kind {
            Kind::Permission(permission) => permission.understands(line),
            Kind::Choice(_) | Kind::Elicitation(_) | Kind::Plan(_) => true,
        };
        is_look || is_answer
    }

    /// The answer without a person.
    pub(crate) fn without_a_person<W: Write>(
        &self,
        answering: &Answering,
        screen: &mut Screen<W>,
    ) -> io::Result<Option<Verdict>> {
        let (verdict, said) = match answering {
            Answering::Person(_) | Answering::Others => return Ok(None),
            Answering::Yes(why) => (self.yes(), format!("yes ({why})")),
            Answering::No(why) => (Verdict::Deny((*why).to_owned()), format!("no ({why})")),
        };
        for row in self.sheet().rows(Window::now().columns) {
            screen.line(row)?;
        }
        self.prompt(screen)?;
        screen.finish_prompt(&said)?;
        Ok(Some(verdict))
    }

    /// Shows a request that somebody else is to answer.
    pub(crate) fn leave_to_others<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        for row in self.sheet().rows(Window::now().columns) {
            screen.line(row)?;
        }
        screen.line(format!(
            "  waiting for an answer: use `falconer approve {}` or the browser",
            self.id
        ))
    }

    fn yes(&self) -> Verdict {
        match &self.kind {
            Kind::Permission(_) => Verdict::Allow,
            Kind::Choice(form) => Form::verdict_of_choices(form.first_of_each()),
            Kind::Elicitation(_) => Verdict::Deny("no one is there to fill in the form".to_owned()),
            Kind::Plan(plan) if plan.can_be_approved() => Verdict::ApprovePlan(None),
            Kind::Plan(_) => Verdict::Deny("the request contains no plan".to_owned()),
        }
    }
}

/// What a line meant.
#[derive(Debug)]
enum Taken {
    Verdict(Verdict),
    /// There is another question.
    More,
    /// It made no sense.
    Unclear,
    /// Something else is to be done, once it was shown.
    Edited(Value),
}

#[cfg(test)]
mod tests;

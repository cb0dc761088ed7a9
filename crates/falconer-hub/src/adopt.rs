//! Sessions that a terminal or a program starts itself, kept like those of a server: others with
//! the same store see them at once and may answer what they ask.

use falconer_session::{Answer, EventStream, SessionHandle, SessionSpec};
use falconer_store::{Archived, Decided, SessionQuery, SessionRecord};

use crate::error::Error;
use crate::hub::Hub;
use crate::message::NewSession;
use crate::order::{Adoption, Order};

/// A session that was started by somebody and is kept.
#[derive(Debug)]
#[non_exhaustive]
pub struct Adopted {
    /// As it was before its run.
    pub record: SessionRecord,
    /// To send messages and to interrupt. Answers go through [`Hub::answer_adopted`], so that
    /// of several people the first one counts.
    pub session: SessionHandle,
    /// What happens, told when it is kept.
    pub events: EventStream,
}

impl Hub {
    /// Starts a session as `spec` says, and keeps it. A conversation that is in the store goes
    /// on under its record; `new` describes any other.
    ///
    /// Name and number of the run are the hub's; everything else is as `spec` says. The engine
    /// is not ended for having nothing to do.
    ///
    /// # Errors
    /// As [`Hub::create`] and [`Hub::send`].
    pub async fn adopt(&self, new: NewSession, spec: SessionSpec) -> Result<Adopted, Error> {
        let (mode, model) = (new.mode.clone(), new.model.clone());
        let resumed = spec.resumed().filter(|resume| !resume.is_fork());
        let known = match resumed {
            Some(resume) => self.of_conversation(resume.id()).await?,
            None => None,
        };
        let record = match known {
            Some(record) => {
                self.check_mode(&mode)?;
                record
            }
            None => self.create(new).await?,
        };
        let adoption = Box::new(Adoption { spec, mode, model });
        let adopted = self
            .ask(&record.id, |reply| Order::Adopt(adoption, reply))
            .await;
        match adopted {
            Ok((session, events)) => Ok(Adopted {
                record,
                session,
                events,
            }),
            Err(error) => {
                if record.head == 0 && record.native_session.is_none() {
                    // It never was; nobody needs to see it.
                    let _ = self.delete(&record.id).await;
                }
                Err(error)
            }
        }
    }

    /// The session of a conversation, by the engine's id of it.
    ///
    /// # Errors
    /// The store's.
    pub async fn of_conversation(&self, native: &str) -> Result<Option<SessionRecord>, Error> {
        let mut query = SessionQuery::default();
        query.native_session = Some(native.to_owned());
        query.archived = Archived::Any;
        query.limit = 1;
        Ok(self.store().sessions(query).await?.sessions.pop())
    }

    /// Answers what an adopted session of this hub asks, in the words of the live session. The
    /// answer is kept first; of several the first one counts.
    ///
    /// # Errors
    /// What the live session said, or the store's.
    pub async fn answer_adopted(&self, answer: Answer) -> Result<Decided, Error> {
        let request = self.store().request(&answer.id.as_str().into()).await?;
        let by = answer.by.clone();
        let answer = Box::new(answer);
        let decided = self
            .ask(&request.session, |reply| Order::Answer(answer, reply))
            .await?;
        if let Decided::Won(request) = &decided {
            self.audit(request, &by).await?;
        }
        Ok(decided)
    }
}

//! Notes to the model in the middle of a turn: to go on, to try again, that it was interrupted.

use falconer_protocol::message::UserMessage;
use falconer_protocol::system::Level;
use serde_json::json;

use super::Turn;
use super::decide::{Nudge, Structured};
use super::interrupt::Cause;
use super::listen::Heard;
use super::prompt;
use crate::frame::{system, user};

impl Turn {
    pub(super) async fn nudge(&mut self, nudge: Nudge, heard: &Heard) {
        let text = match nudge {
            Nudge::OutputCut => {
                self.tally.output_recoveries += 1;
                prompt::nudge::OUTPUT_CUT
            }
            Nudge::Refusal => {
                self.tally.refusals += 1;
                let note = format!(
                    "{} stopped its answer · asking once more with a note",
                    self.model
                );
                self.core
                    .speaker
                    .say(system::informational(note, Level::Notice))
                    .await;
                prompt::nudge::REFUSAL
            }
            Nudge::Empty => {
                self.tally.empty_nudges += 1;
                prompt::nudge::EMPTY
            }
            Nudge::Structured => {
                self.tally.structured = Structured::Owed { nudged: true };
                prompt::nudge::STRUCTURED
            }
        };
        let mut frame = user::synthetic(text);
        if let (Nudge::Refusal, Some(id)) = (nudge, heard.id()) {
            frame.refused_message_id = Some(id.to_owned());
        }
        self.say_note(frame, text).await;
        self.feed_back();
    }

    /// Shows a note for the model and keeps it for the next request.
    pub(super) async fn say_note(&mut self, frame: UserMessage, text: &str) {
        let line = self.core.speaker.say(frame).await;
        self.tally.user_lines += 1;
        let block = json!({"type": "text", "text": text});
        let mode = self.core.permission_mode();
        self.core.record.note(&line, &block, &self.prompt_id, &mode);
        self.feedback.push(block);
    }

    /// Says that the turn was interrupted, unless it makes room for another prompt.
    pub(crate) async fn say_cut_short(&mut self, in_tools: bool) {
        if self.interrupt.cause() == Cause::Preempted {
            return;
        }
        let text = if in_tools {
            "[Request interrupted by user for tool use]"
        } else {
            "[Request interrupted by user]"
        };
        self.say_note(user::text(text), text).await;
    }
}

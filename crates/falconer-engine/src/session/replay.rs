//! Prompts of the host, shown to it again (`--replay-user-messages`).

use falconer_protocol::MessageUuid;
use falconer_protocol::message::UserMessage;

use super::core::Core;
use super::queue::Prompt;
use crate::frame::user;

impl Core {
    /// Shows a prompt that has become part of the conversation.
    pub(crate) async fn replay(&self, prompt: &Prompt) {
        self.show(prompt, user::replay(&prompt.content)).await;
    }

    /// Shows a prompt that stands for nothing in the conversation: one that came before, or
    /// whose words are shown with those of another.
    pub(crate) async fn echo(&self, prompt: &Prompt) {
        self.show(prompt, user::echo(&prompt.content)).await;
    }

    /// Shows the line that stands for a command.
    pub(crate) async fn replay_command(
        &self,
        name: &str,
        arguments: &str,
        uuid: Option<&MessageUuid>,
    ) {
        let text = format!(
            "<command-name>/{name}</command-name>\n            \
             <command-message>{name}</command-message>\n            \
             <command-args>{arguments}</command-args>"
        );
        let prompt = Prompt {
            uuid: uuid.cloned(),
            ..Prompt::text(text)
        };
        self.replay(&prompt).await;
    }

    async fn show(&self, prompt: &Prompt, mut frame: UserMessage) {
        if !self.options.output.replay || !prompt.is_of_host() {
            return;
        }
        frame.origin.clone_from(&prompt.origin);
        match &prompt.uuid {
            Some(uuid) => self.speaker.say_as(frame, uuid).await,
            None => {
                self.speaker.say(frame).await;
            }
        }
    }
}

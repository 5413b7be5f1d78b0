//! Owns what a transcript is once it is read.

use super::rejected::Rejected;

/// One message of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Who speaks, as the log says: `user`, `assistant`, `tool`, `summary`, `unknown` and others.
    pub role: String,
    /// The name of who speaks, if the log has one.
    pub speaker: Option<String>,
    /// The text: blocks joined by line feeds, tool calls and the like rendered with a bracketed mark before them.
    pub text: String,
    /// When it was said, as the log writes it.
    pub timestamp: Option<String>,
    /// The log's own id.
    pub id: Option<String>,
    /// The line of the log; the first is 1.
    pub line: u32,
    /// The session that the log names.
    pub session: Option<String>,
    /// Whether a person or an agent says something here, as opposed to tool calls, results and reasoning alone.
    pub prose: bool,
}

impl Message {
    /// What to write before the text: the speaker, else the role with a capital.
    #[must_use]
    pub fn label(&self) -> String {
        if let Some(speaker) = &self.speaker {
            return speaker.clone();
        }
        let mut chars = self.role.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    }
}

/// Whether a message is something a person or an agent said in words, which is what a sweep keeps.
#[must_use]
pub fn is_prose(message: &Message) -> bool {
    message.prose && matches!(message.role.as_str(), "user" | "assistant" | "human")
}

/// Which program wrote a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// No line tells.
    #[default]
    Unknown,
    /// Claude Code session lines.
    ClaudeCode,
    /// Codex rollout lines.
    Codex,
    /// Lines of `{"role", "content"}`.
    Chat,
}

/// A log, read whole. Each of its lines that is not blank is a message, rejected, or counted as dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The messages in the order of the log.
    pub messages: Vec<Message>,
    /// The lines that could not be used.
    pub rejected: Vec<Rejected>,
    /// How many lines were left out on purpose: records of the program, repeats, messages without text, and those of
    /// [`Transcript::left_out`].
    pub dropped: u32,
    /// Messages that were left out for how their words begin. Somebody may miss them, so each is named.
    pub left_out: Vec<Rejected>,
    /// Which program wrote it, by the first line that tells.
    pub format: Format,
}

//! Owns which words of a log stand in it a second time: some programs log what was said once for the model and once for the
//! screen.

use std::collections::HashMap;

use super::message::Message;

/// What may be repeated: by whom, in which words, and how often. A repeat is used up, so that what was said twice and
/// repeated three times was said three times.
#[derive(Default)]
pub(super) struct Said(HashMap<(String, String), u32>);

impl Said {
    /// Notes a message, which may be repeated whole or block by block.
    pub(super) fn note(&mut self, message: &Message, blocks: &[String]) {
        let whole = words(&message.text);
        let parts = blocks.iter().map(|block| words(block)).filter(|part| blocks.len() > 1 && *part != whole);
        for text in parts.chain([whole]).filter(|text| !text.is_empty()) {
            self.count(&message.role, text);
        }
    }

    fn count(&mut self, role: &str, text: &str) {
        *self.0.entry((role.to_owned(), text.to_owned())).or_default() += 1;
    }

    /// Whether a line of the same role says the same words, and no other repeat was found for it.
    pub(super) fn is_repeated_by(&mut self, message: &Message) -> bool {
        match self.0.get_mut(&(message.role.clone(), words(&message.text).to_owned())) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

/// White space around the words is the program's.
fn words(text: &str) -> &str {
    text.trim()
}

//! Owns turning a text into what the index stores of it. Pure, so that it runs on any thread.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use undercroft_text::{TokenKind, Tokenizer, scripts};

use crate::document::{Analysed, TermClass};
use crate::language::Votes;

/// Analyses one text: its terms in sequence, its lines, its length, scripts and language.
#[must_use]
pub fn analyse(text: &str) -> Analysed {
    let mut builder = Builder::default();
    let mut votes = Votes::default();
    let mut line_end = next_break(text, 0);
    let length = Tokenizer::new().tokenize(text, |token| {
        while (token.start as usize) > line_end {
            builder.end_line();
            line_end = next_break(text, line_end + 1);
        }
        votes.add(token.text);
        builder.term(token.text, class(token.kind));
    });
    let mut analysed = builder.analysed;
    analysed.length = length;
    analysed.scripts = scripts(text);
    analysed.language = votes.winner();
    analysed
}

/// Place of the next line feed from `from`, or a place behind the end.
fn next_break(text: &str, from: usize) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    rest.iter().position(|byte| *byte == b'\n').map_or(usize::MAX, |at| from + at)
}

/// The class of a token's term.
pub(crate) fn class(kind: TokenKind) -> TermClass {
    match kind {
        TokenKind::Word => TermClass::Word,
        TokenKind::Gram => TermClass::Gram,
    }
}

/// The fewest bytes of a query's words that are matched: words of one byte tell nothing beside longer ones, but a query
/// that has no other (`C++`, `a/b`) is asked for them.
pub(crate) fn shortest_counted(query: &str) -> usize {
    let mut longest = 0;
    Tokenizer::new().tokenize(query, |token| longest = longest.max(token.text.len()));
    longest.min(2)
}

#[derive(Default)]
struct Builder {
    analysed: Analysed,
    numbers: HashTable<u32>,
}

impl Builder {
    /// Ends a line, unless it is empty.
    fn end_line(&mut self) {
        if self.analysed.stream.last().is_some_and(|last| *last != 0) {
            self.analysed.stream.push(0);
        }
    }

    fn term(&mut self, term: &str, class: TermClass) {
        let Self { analysed: Analysed { text, ends, classes, stream, .. }, numbers } = self;
        let read = |number: u32| {
            let start = if number == 0 { 0 } else { ends[number as usize - 1] as usize };
            (&text.as_bytes()[start..ends[number as usize] as usize], classes[number as usize])
        };
        let key = hash(term.as_bytes(), class);
        let found = numbers.find(key, |number| read(*number) == (term.as_bytes(), class)).copied();
        let number = found.unwrap_or(ends.len() as u32);
        if found.is_none() {
            numbers.insert_unique(key, number, |other| {
                let (term, class) = read(*other);
                hash(term, class)
            });
            text.push_str(term);
            ends.push(text.len() as u32);
            classes.push(class);
        }
        stream.push(number + 1);
    }
}

fn hash(term: &[u8], class: TermClass) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(term);
    hasher.write_u8(class as u8);
    hasher.finish()
}

#[cfg(test)]
#[path = "analyse_test.rs"]
mod analyse_test;

//! Words of a text with their places in it: the one way that indexing, search, snippets and embedding cut text.
//!
//! It never ranks and never drops a word for being common or short.

mod tokenizer;
mod types;

pub use tokenizer::{Tokenizer, document_length, tokens};
pub use types::{OwnedToken, Token, TokenKind};

#[cfg(test)]
mod token_test;

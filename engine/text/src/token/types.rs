//! Owns the shape of a token.

/// What a token is evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A word as written, a Han character or pair of them.
    Word,
    /// Two neighbouring characters inside a longer run of a script that attaches words, other than Han:
    /// approximate evidence only.
    Gram,
}

/// One token, lent to the sink of [`super::Tokenizer::tokenize`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The search key of the token; never empty.
    pub text: &'a str,
    /// What it is evidence of.
    pub kind: TokenKind,
    /// Byte offset in the original text where the token begins.
    pub start: u32,
    /// Byte offset in the original text just behind the token.
    pub end: u32,
    /// The place in the sequence of words. A run takes one place, and its grams share it; of a Han run each
    /// character takes one, a pair has that of its first character, the whole run that of its first.
    pub position: u32,
}

/// A token that owns its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedToken {
    /// The search key of the token; never empty.
    pub text: String,
    /// What it is evidence of.
    pub kind: TokenKind,
    /// Byte offset in the original text where the token begins.
    pub start: u32,
    /// Byte offset in the original text just behind the token.
    pub end: u32,
    /// The place in the sequence of words.
    pub position: u32,
}

impl From<Token<'_>> for OwnedToken {
    fn from(token: Token<'_>) -> Self {
        let Token { text, kind, start, end, position } = token;
        Self { text: text.to_owned(), kind, start, end, position }
    }
}

//! Words for a shell, where a command is shown to be copied.

use std::borrow::Cow;

/// `text` as one word of a POSIX shell: as it is where no character means anything there, else between single quotes.
#[must_use]
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "_./-:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_read_differently_is_quoted() {
        assert_eq!(quoted("/home/é/notes-2.md"), "/home/é/notes-2.md");
        assert_eq!(quoted("my notes"), "'my notes'");
        assert_eq!(quoted("it's; $HOME"), "'it'\\''s; $HOME'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("~/x"), "'~/x'");
    }
}

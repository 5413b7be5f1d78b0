//! Text of many lines where one line has room.

/// The text on one line: every run of white space becomes one space.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn runs_of_white_space_become_one_space() {
        assert_eq!(one_line("  a\n\n b\t\r\n c\u{2028}d "), "a b c d");
        assert_eq!(one_line(" \n "), "");
    }
}

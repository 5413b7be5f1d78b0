//! Rust source with its comments blanked and the insides of its strings and characters made harmless, so that the rules can
//! count lines and braces without a parser. Lines stay where they are.

/// Stands for every character inside a string or a character literal.
const FILLER: char = '_';

/// The source with comments as blanks and literals as filler.
#[must_use]
pub fn mask(source: &str) -> String {
    let mut masker = Masker { rest: source, out: String::with_capacity(source.len()) };
    while !masker.rest.is_empty() {
        masker.step();
    }
    masker.out
}

struct Masker<'a> {
    rest: &'a str,
    out: String,
}

impl Masker<'_> {
    fn step(&mut self) {
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end, ' ');
        } else if self.rest.starts_with("/*") {
            self.take(block_comment(self.rest), ' ');
        } else if let Some(length) = self.literal() {
            self.take(length, FILLER);
        } else {
            let next = self.rest.chars().next().map_or(1, char::len_utf8);
            self.out.push_str(&self.rest[..next]);
            self.rest = &self.rest[next..];
        }
    }

    /// Replaces the next `length` bytes, newlines excepted.
    fn take(&mut self, length: usize, with: char) {
        self.out.extend(self.rest[..length].chars().map(|c| if c == '\n' { '\n' } else { with }));
        self.rest = &self.rest[length..];
    }

    /// Length of the literal that begins here.
    fn literal(&self) -> Option<usize> {
        // The letters of `r"`, `br"`, `cr"` begin a literal only where no name goes on.
        let within_a_name = self.out.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let prefix = ["br", "cr", "r"].into_iter().find(|prefix| {
            let after = self.rest.strip_prefix(prefix).map(|rest| rest.trim_start_matches('#'));
            after.is_some_and(|rest| rest.starts_with('"'))
        });
        match prefix {
            Some(prefix) if !within_a_name => Some(prefix.len() + raw_string(&self.rest[prefix.len()..])),
            _ if self.rest.starts_with('"') => Some(string(self.rest)),
            _ if self.rest.starts_with('\'') => character(self.rest),
            _ => None,
        }
    }
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn raw_string(text: &str) -> usize {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let close = format!("\"{}", "#".repeat(hashes));
    let body = hashes + 1;
    text[body..].find(&close).map_or(text.len(), |end| body + end + close.len())
}

/// A character literal, told from a lifetime by its closing quote.
fn character(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        return text[2..].char_indices().skip(1).find(|(_, c)| *c == '\'').map(|(at, _)| 2 + at + 1);
    }
    let (at, second) = chars.next()?;
    (second == '\'' && first != '\'').then_some(at + 1)
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn comments_become_blanks_and_lines_stay() {
        assert_eq!(mask("a // b {\nc"), "a       \nc");
        assert_eq!(mask("a /* x /* y */ z\n} */ b"), "a               \n     b");
    }

    #[test]
    fn braces_inside_literals_are_hidden() {
        for literal in
            [r#""{""#, r#""\"{""#, "'{'", r"'\''", r##"r#"{"}"#"##, r#"b"{""#, r#"br"{""#, r"'\u{7d}'"]
        {
            let masked = mask(&format!("x({literal}) {{"));
            assert_eq!(masked.matches(['{', '}']).count(), 1, "{literal} became {masked}");
        }
    }

    #[test]
    fn lifetimes_are_no_characters() {
        assert_eq!(mask("fn f<'a>(x: &'a str) -> &'a str { x }"), "fn f<'a>(x: &'a str) -> &'a str { x }");
    }

    #[test]
    fn a_comment_mark_inside_a_string_is_no_comment() {
        assert_eq!(mask("\"// no\" {"), "_______ {");
    }
}

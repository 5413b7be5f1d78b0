//! Small files, small functions, and tables of contents that are nothing else.
//!
//! Lines are counted as lines of code: comments and blank lines are free, so that nobody saves on words.

use super::Finding;
use super::mask::mask;
use crate::tree::Source;

/// Most lines of code in a file that is not a test.
pub const FILE_LINES: usize = 400;
/// Most lines of a function, from its `fn` to its closing brace, comments included.
pub const FUNCTION_LINES: usize = 70;
/// Most lines of code in a `lib.rs` or `mod.rs`.
pub const CONTENTS_LINES: usize = 120;

/// Something larger than its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    /// `file`, `function` or `contents`.
    pub kind: &'static str,
    /// Path, for a function followed by `::` and its name.
    pub place: String,
    /// Lines found.
    pub lines: usize,
}

impl Excess {
    /// The excess as a breach.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let limit = match self.kind {
            "function" => FUNCTION_LINES,
            "contents" => CONTENTS_LINES,
            _ => FILE_LINES,
        };
        Finding::new(&self.place, format!("a {} of {} lines; at most {limit}", self.kind, self.lines))
    }
}

/// Everything in the file that is over its limit.
#[must_use]
pub fn excesses(file: &Source) -> Vec<Excess> {
    let masked = mask(&file.text);
    let code = masked.lines().filter(|line| !line.trim().is_empty()).count();
    let mut found = Vec::new();
    let mut note = |kind, place: String, lines, limit| {
        if lines > limit {
            found.push(Excess { kind, place, lines });
        }
    };
    if !file.is_test() {
        note("file", file.path.clone(), code, FILE_LINES);
    }
    if file.path.ends_with("/lib.rs") || file.path.ends_with("/mod.rs") {
        note("contents", file.path.clone(), code, CONTENTS_LINES);
    }
    for (name, lines) in functions(&masked) {
        note("function", format!("{}::{name}", file.path), lines, FUNCTION_LINES);
    }
    found
}

/// Name and length of every function with a body, in masked source.
fn functions(masked: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in masked.match_indices("fn ") {
        if masked[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &masked[at + 3..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // Without a name it is the type of a function.
        if name.is_empty() {
            continue;
        }
        if let Some(length) = body_end(rest) {
            found.push((name, rest[..length].matches('\n').count() + 1));
        }
    }
    found
}

/// Offset behind the closing brace of the body; `None` for a declaration without one.
fn body_end(signature: &str) -> Option<usize> {
    let mut nested = 0_usize;
    let mut braces = 0_usize;
    for (at, c) in signature.char_indices() {
        match c {
            '(' | '[' if braces == 0 => nested += 1,
            ')' | ']' if braces == 0 => nested = nested.saturating_sub(1),
            ';' if nested == 0 && braces == 0 => return None,
            '{' => braces += 1,
            '}' if braces == 0 => return None,
            '}' => {
                braces -= 1;
                // A block among the parameters is a default of a constant, not the body.
                if braces == 0 && nested == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{CONTENTS_LINES, Excess, FILE_LINES, FUNCTION_LINES, excesses};
    use crate::tree::Source;

    fn found(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        excesses(&Source::sample(path, text))
            .into_iter()
            .map(|Excess { kind, lines, .. }| (kind, lines))
            .collect()
    }

    #[test]
    fn a_long_file_is_found_and_comments_do_not_count() {
        let text = "static A: u8 = 1;\n// a comment\n\n".repeat(FILE_LINES);
        assert_eq!(found("a/src/x.rs", &text), []);
        let text = "static A: u8 = 1;\n".repeat(FILE_LINES + 1);
        assert_eq!(found("a/src/x.rs", &text), [("file", FILE_LINES + 1)]);
        assert_eq!(found("a/src/x_test.rs", &text), []);
    }

    #[test]
    fn a_long_function_is_found_whatever_its_strings_hold() {
        let body = "    let _ = \"}\";\n".repeat(FUNCTION_LINES);
        let text = format!("fn short() {{}}\nfn long(a: [u8; 3]) {{\n{body}}}\n");
        assert_eq!(found("a/src/x.rs", &text), [("function", FUNCTION_LINES + 2)]);
        assert_eq!(found("a/src/x_test.rs", &text), [("function", FUNCTION_LINES + 2)]);
    }

    #[test]
    fn a_function_at_the_limit_is_fine_and_declarations_have_no_length() {
        let body = "    x();\n".repeat(FUNCTION_LINES - 2);
        let text = format!("trait T {{ fn a(&self); }}\ntype F = fn (u8);\nfn f() {{\n{body}}}\n");
        assert_eq!(found("a/src/x.rs", &text), []);
    }

    #[test]
    fn contents_with_logic_are_found() {
        let text = "pub mod a;\n".repeat(CONTENTS_LINES + 1);
        assert_eq!(found("a/src/lib.rs", &text), [("contents", CONTENTS_LINES + 1)]);
        assert_eq!(found("a/src/b/mod.rs", &text), [("contents", CONTENTS_LINES + 1)]);
    }
}

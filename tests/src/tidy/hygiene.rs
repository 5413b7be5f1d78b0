//! What no file says: unfinished work, sleeping tests, machine names, `unsafe` outside the named files; and what each file
//! must say: what it owns.

use super::Finding;
use super::mask::mask;
use crate::tree::Source;

/// Code that is never committed, and why. Each is split so that this file does not contain it.
const NEVER_IN_CODE: [(&str, &str, &str); 6] = [
    ("todo", "!(", "unfinished work"),
    ("unimplemented", "!(", "unfinished work"),
    ("dbg", "!(", "a debugging aid"),
    ("#[ign", "ore", "a test that does not run"),
    SLEEP,
    ("#[allow(cl", "ippy", "a silenced lint; use #[expect] with a reason"),
];

const SLEEP: (&str, &str, &str) =
    ("thread::sl", "eep", "a wait that makes a test slow or flaky; wait for the event");
/// Where load lasts by the clock: it is measured there and never tested.
const MEASURES: &str = "engine/bench/";

/// Text that belongs to some machine or tracker and not to the product.
const NEVER_IN_TEXT: [(&str, &str); 3] = [("/wo", "rk/"), ("iss", "ue #"), ("/home", "/user")];

/// Whether the file opens with what it owns. Files of tests are told by the names of their tests.
#[must_use]
pub fn header(file: &Source) -> Option<Finding> {
    let headed = file.text.starts_with("//! ") || file.is_test() && !file.path.starts_with("tests/");
    (!headed).then(|| Finding::new(&file.path, "must open with a `//!` line that says what it owns"))
}

/// Code that is never committed.
#[must_use]
pub fn unfinished(file: &Source) -> Vec<Finding> {
    let masked = mask(&file.text);
    let found = NEVER_IN_CODE.iter().filter(|(a, b, _)| masked.contains(&format!("{a}{b}")));
    let found = found.filter(|rule| **rule != SLEEP || !file.path.starts_with(MEASURES));
    found.map(|(a, b, why)| Finding::new(&file.path, format!("`{a}{b}`: {why}"))).collect()
}

/// Words that are not the product's, in any kind of file.
#[must_use]
pub fn foreign_words(file: &Source) -> Vec<Finding> {
    let found = NEVER_IN_TEXT.iter().filter(|(a, b)| file.text.contains(&format!("{a}{b}")));
    found.map(|(a, b)| Finding::new(&file.path, format!("`{a}{b}` is not of the product"))).collect()
}

/// `unsafe` in a file that is not among those named for it.
#[must_use]
pub fn unsafe_code(file: &Source, named: &[String]) -> Option<Finding> {
    let masked = mask(&file.text);
    let uses = words(&masked).any(|word| word == "unsafe");
    (uses && !named.contains(&file.path))
        .then(|| Finding::new(&file.path, "holds `unsafe`; docs/architecture.md names the files that may"))
}

/// Code of the engine that reads what only a named file may read.
#[must_use]
pub fn reads_outside(file: &Source, pattern: &str, allowed: &str) -> Option<Finding> {
    if file.is_test() || file.path.starts_with(allowed) {
        return None;
    }
    let reads = mask(&file.text).contains(pattern);
    reads.then(|| Finding::new(&file.path, format!("uses `{pattern}`, which belongs to {allowed}")))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::{
        NEVER_IN_CODE, NEVER_IN_TEXT, SLEEP, foreign_words, header, reads_outside, unfinished, unsafe_code,
    };
    use crate::tree::Source;

    #[test]
    fn a_file_without_header_is_found() {
        assert!(header(&Source::sample("a/src/x.rs", "use std::fs;\n")).is_some());
        assert!(header(&Source::sample("a/src/x.rs", "//! Owns x.\n")).is_none());
        assert!(header(&Source::sample("a/src/x_test.rs", "use super::x;\n")).is_none());
        assert!(header(&Source::sample("tests/tests/x.rs", "use super::x;\n")).is_some());
    }

    #[test]
    fn every_kind_of_unfinished_work_is_found_in_code_and_not_in_words() {
        for (a, b, _) in NEVER_IN_CODE {
            let code = format!("fn f() {{ {a}{b} }}");
            assert_eq!(unfinished(&Source::sample("a.rs", &code)).len(), 1, "{code}");
            assert_eq!(unfinished(&Source::sample("a.rs", &format!("// {a}{b}"))), []);
        }
    }

    #[test]
    fn only_a_measurement_lasts_by_the_clock() {
        let code = format!("fn f() {{ {}{}(x) }}", SLEEP.0, SLEEP.1);
        assert_eq!(unfinished(&Source::sample("engine/bench/src/load.rs", &code)), []);
        assert_eq!(unfinished(&Source::sample("engine/benchmark/src/load.rs", &code)).len(), 1);
    }

    #[test]
    fn words_of_a_machine_are_found_anywhere() {
        for (a, b) in NEVER_IN_TEXT {
            assert_eq!(foreign_words(&Source::sample("a.md", &format!("see {a}{b}7"))).len(), 1);
        }
    }

    #[test]
    fn unsafe_outside_the_named_files_is_found() {
        let code = "fn f() { unsafe { g() } }";
        assert!(unsafe_code(&Source::sample("a.rs", code), &[]).is_some());
        assert!(unsafe_code(&Source::sample("a.rs", code), &["a.rs".into()]).is_none());
        assert!(unsafe_code(&Source::sample("a.rs", "#![deny(unsafe_code)] // unsafe"), &[]).is_none());
    }

    #[test]
    fn a_read_outside_its_place_is_found() {
        let code = "fn f() { std::env::var(\"X\"); }";
        assert!(
            reads_outside(&Source::sample("engine/a/src/x.rs", code), "std::env::", "engine/b").is_some()
        );
        assert!(
            reads_outside(&Source::sample("engine/b/src/x.rs", code), "std::env::", "engine/b").is_none()
        );
    }
}

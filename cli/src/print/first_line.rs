//! The first line of a text, where a list has room for one.

/// The first line of `text` that says something, at most `max` characters of it.
#[must_use]
pub(crate) fn first_line(text: &str, max: usize) -> String {
    let words = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().split_whitespace();
    let line = words.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= max {
        return line;
    }
    line.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_line_that_says_something_is_shown() {
        assert_eq!(first_line("\n\n  one\ntwo", 120), "one");
        assert_eq!(first_line(&"x".repeat(200), 120).chars().count(), 120);
    }

    proptest! {
        #[test]
        fn a_first_line_never_exceeds_its_length(text in ".{0,300}", max in 3_usize..120) {
            prop_assert!(first_line(&text, max).chars().count() <= max);
        }
    }
}

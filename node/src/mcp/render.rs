//! Drawers and hits as lines that a model reads.

use undercroft_vault::{Occurrence, SearchHit};

/// The first line of `text` that says something, at most `max` characters of it.
#[must_use]
pub(super) fn first_line(text: &str, max: usize) -> String {
    let words = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().split_whitespace();
    let line = words.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= max {
        return line;
    }
    line.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

/// One hit: where and when, why it was found, and its words, byte for byte.
#[must_use]
pub(super) fn hit(rank: usize, hit: &SearchHit) -> String {
    let mut lines = format!(
        "{rank}. [score {:.3}] ({}/{}, {}) id {}\n",
        hit.score,
        hit.wing,
        hit.room,
        when(hit.content_date.as_deref(), &hit.filed_at),
        hit.id
    );
    if !hit.occurrences.is_empty() {
        let days: Vec<&str> = hit.occurrences.iter().map(day).collect();
        lines.push_str(&format!("also recorded on: {}\n", days.join(", ")));
    }
    lines.push_str(&format!(
        "evidence: exact {:.3} · morph {:.3} · lexical {:.3} · semantic {:.3}\n{}\n\n",
        hit.lexical_exact, hit.lexical_morph, hit.lexical, hit.semantic, hit.content
    ));
    lines
}

fn when(content_date: Option<&str>, filed_at: &str) -> String {
    match content_date {
        Some(date) => format!("happened {date}, filed {filed_at}"),
        None => format!("filed {filed_at}"),
    }
}

fn day(occurrence: &Occurrence) -> &str {
    occurrence.content_date.as_deref().unwrap_or(&occurrence.filed_at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn when_a_text_happened_goes_before_when_it_was_filed() {
        assert_eq!(
            when(Some("2024-05-01"), "2025-01-01T00:00:00Z"),
            "happened 2024-05-01, filed 2025-01-01T00:00:00Z"
        );
        assert_eq!(when(None, "2025-01-01T00:00:00Z"), "filed 2025-01-01T00:00:00Z");
    }

    proptest! {
        #[test]
        fn a_first_line_is_one_line_and_never_too_long(text in "(?s).{0,300}", max in 3_usize..120) {
            let line = first_line(&text, max);
            prop_assert!(line.chars().count() <= max && !line.contains('\n'));
        }
    }
}

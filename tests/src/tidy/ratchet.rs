//! Excesses that are tolerated, each as a number that may only fall.
//!
//! `tests/tidy/ratchet.txt`: `<kind> <place> <lines>` a line, `#` begins a comment. An entry that is larger than what is
//! found, or that nothing needs, is itself a finding.

use super::Finding;
use super::sizes::Excess;

/// One tolerated excess.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    kind: String,
    place: String,
    lines: usize,
}

/// What is wrong after the tolerated excesses are taken into account.
///
/// # Panics
/// When a line of the list cannot be read.
#[must_use]
pub fn judge(list: &str, excesses: &[Excess]) -> Vec<Finding> {
    let entries: Vec<Entry> = list.lines().filter_map(entry).collect();
    let mut findings = Vec::new();
    for excess in excesses {
        match entries.iter().find(|entry| entry.kind == excess.kind && entry.place == excess.place) {
            Some(entry) if excess.lines <= entry.lines => {}
            Some(entry) => findings.push(Finding::new(
                &excess.place,
                format!("grew to {} lines; the list tolerates {}", excess.lines, entry.lines),
            )),
            None => findings.push(excess.finding()),
        }
    }
    for entry in &entries {
        let now = excesses.iter().find(|excess| excess.kind == entry.kind && excess.place == entry.place);
        match now {
            None => {
                findings.push(Finding::new(&entry.place, "no longer over its limit; remove it from the list"))
            }
            Some(excess) if excess.lines < entry.lines => {
                findings.push(Finding::new(
                    &entry.place,
                    format!("fell to {} lines; lower the list from {}", excess.lines, entry.lines),
                ));
            }
            Some(_) => {}
        }
    }
    findings
}

fn entry(line: &str) -> Option<Entry> {
    let line = line.split('#').next().unwrap_or_default().trim();
    if line.is_empty() {
        return None;
    }
    let mut words = line.split_whitespace();
    let parsed = (|| {
        let (kind, place) = (words.next()?, words.next()?);
        Some(Entry { kind: kind.to_owned(), place: place.to_owned(), lines: words.next()?.parse().ok()? })
    })();
    Some(parsed.unwrap_or_else(|| panic!("the list of tolerated excesses has an unreadable line: {line}")))
}

#[cfg(test)]
mod tests {
    use super::judge;
    use crate::tidy::sizes::Excess;

    fn excess(lines: usize) -> Vec<Excess> {
        vec![Excess { kind: "file", place: "a.rs".into(), lines }]
    }

    #[test]
    fn an_unlisted_excess_is_a_finding() {
        assert_eq!(judge("# nothing\n", &excess(500)).len(), 1);
    }

    #[test]
    fn a_listed_excess_may_stay_but_not_grow() {
        assert_eq!(judge("file a.rs 500\n", &excess(500)), []);
        assert!(judge("file a.rs 500\n", &excess(501))[0].what.contains("grew"));
    }

    #[test]
    fn the_list_follows_what_fell() {
        assert!(judge("file a.rs 500\n", &excess(450))[0].what.contains("lower the list"));
        assert!(judge("file a.rs 500\n", &[])[0].what.contains("remove it"));
    }

    #[test]
    #[should_panic(expected = "unreadable line")]
    fn an_entry_without_a_number_is_refused() {
        let _ = judge("file a.rs\n", &[]);
    }
}

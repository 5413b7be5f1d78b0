//! Owns looking up the forms that no rule gives.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::spelling::{with_ing, with_s};
use super::tables::{NOUNS_AND_ADJECTIVES, VERBS};

/// Built once from the closed tables; constant ever after.
static FORMS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(build);

/// All other forms of an irregular word; empty for any other word.
pub(super) fn forms(word: &str) -> &'static [&'static str] {
    FORMS.get(word).map_or(&[], Vec::as_slice)
}

fn build() -> HashMap<&'static str, Vec<&'static str>> {
    let mut forms: HashMap<&'static str, Vec<&'static str>> = HashMap::new();
    for line in VERBS {
        let mut group: Vec<&'static str> = line.split(' ').collect();
        // The regular forms of an irregular verb are forms of its past too. They live as long as the table.
        group.extend([with_s(group[0]), with_ing(group[0])].map(|form| &*form.leak()));
        relate(&mut forms, &group);
    }
    for line in NOUNS_AND_ADJECTIVES {
        relate(&mut forms, &line.split(' ').collect::<Vec<_>>());
    }
    forms
}

/// Notes each word of the group as a form of each other.
fn relate(forms: &mut HashMap<&'static str, Vec<&'static str>>, group: &[&'static str]) {
    for &word in group {
        let others = forms.entry(word).or_default();
        for &other in group {
            if other != word && !others.contains(&other) {
                others.push(other);
            }
        }
    }
}

//! Any sequence of changes leaves what a plain map would hold, and a vault that verifies, at every reopening.

mod support;

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::{Home, UNSCREENED, ask, from_source, save};
use undercroft_crypto::Level;
use undercroft_vault::{AddedBy, DrawerId, Error, SourceBatch, Vault, drawer_id};

#[derive(Debug, Clone)]
enum Step {
    Save(usize),
    Update { which: usize, word: usize },
    Delete(usize),
    Source { source: usize, words: Vec<usize> },
    DeleteSource(usize),
    Dedup,
    Search(usize),
    Reopen,
    Crash,
}

/// Few words, so that copies are common.
const WORDS: [&str; 6] =
    ["the boiler code", "a garden\r\n", "walrus", "walrus \n", "cafe\u{301} au lait", "caf\u{e9} au lait"];

fn step() -> impl Strategy<Value = Step> {
    let word = 0..WORDS.len();
    prop_oneof![
        6 => word.clone().prop_map(Step::Save),
        3 => (any::<prop::sample::Index>(), word.clone())
            .prop_map(|(which, word)| Step::Update { which: which.index(1_000), word }),
        2 => any::<prop::sample::Index>().prop_map(|which| Step::Delete(which.index(1_000))),
        3 => (0..2_usize, prop::collection::vec(word.clone(), 0..5))
            .prop_map(|(source, words)| Step::Source { source, words }),
        1 => (0..2_usize).prop_map(Step::DeleteSource),
        1 => Just(Step::Dedup),
        2 => word.prop_map(Step::Search),
        2 => Just(Step::Reopen),
        1 => Just(Step::Crash),
    ]
}

/// Drawers in filing order: where each stands is what deduplication goes by.
#[derive(Default)]
struct Model {
    drawers: BTreeMap<u64, (DrawerId, &'static str, String)>,
    filed: u64,
}

fn source_name(number: usize) -> String {
    format!("notes{number}.md")
}

/// The form in which texts are copies of each other.
fn form(text: &str) -> String {
    undercroft_text::normalize::duplicate_form(text).into()
}

impl Model {
    fn position(&self, id: DrawerId) -> Option<u64> {
        self.drawers.iter().find(|(_, (known, ..))| *known == id).map(|(seq, _)| *seq)
    }

    fn put(&mut self, id: DrawerId, wing: &'static str, text: &str) {
        let seq = self.position(id).unwrap_or_else(|| {
            self.filed += 1;
            self.filed
        });
        self.drawers.insert(seq, (id, wing, text.to_owned()));
    }

    fn pick(&self, which: usize) -> Option<DrawerId> {
        let at = which.checked_rem(self.drawers.len())?;
        self.drawers.values().nth(at).map(|(id, ..)| *id)
    }

    fn remove(&mut self, id: DrawerId) {
        if let Some(seq) = self.position(id) {
            self.drawers.remove(&seq);
        }
    }

    fn dedup(&mut self) {
        // What a source was cut into stays together.
        let of_sources = (0..2).map(|source| chunks(5).map(move |chunk| place(source, chunk)));
        let there = of_sources.map(|ids| ids.filter(|id| self.position(*id).is_some()).collect::<Vec<_>>());
        let pieces: Vec<DrawerId> = there.filter(|ids| ids.len() > 1).flatten().collect();
        let mut seen = std::collections::BTreeSet::new();
        self.drawers.retain(|_, (id, wing, text)| pieces.contains(id) || seen.insert((*wing, form(text))));
    }
}

fn place(source: usize, chunk: u32) -> DrawerId {
    drawer_id("mined", "notes", Some(&source_name(source)), chunk)
}

fn chunks(count: usize) -> std::ops::Range<u32> {
    0..u32::try_from(count).expect("few")
}

fn apply(vault: &Vault, model: &mut Model, step: &Step) {
    match step {
        Step::Save(word) => {
            let id = save(vault, "inbox", WORDS[*word]);
            assert_eq!(model.position(id), None, "a direct save is a drawer of its own");
            model.put(id, "work", WORDS[*word]);
        }
        Step::Update { which, word } => match model.pick(*which) {
            Some(id) => {
                vault.update(id, WORDS[*word], UNSCREENED).expect("updates");
                let seq = model.position(id).expect("is there");
                model.drawers.get_mut(&seq).expect("is there").2 = WORDS[*word].to_owned();
            }
            None => {
                let absent = drawer_id("no", "such", None, 0);
                assert!(matches!(vault.update(absent, "x", UNSCREENED), Err(Error::NoDrawer(_))));
            }
        },
        Step::Delete(which) => {
            if let Some(id) = model.pick(*which) {
                vault.delete(id).expect("deletes");
                model.remove(id);
                assert!(matches!(vault.get(id), Err(Error::NoDrawer(_))));
            }
        }
        Step::Source { source, words } => file_source(vault, model, *source, words),
        Step::DeleteSource(source) => {
            let removed = vault.delete_source(&source_name(*source)).expect("deletes");
            removed.iter().for_each(|id| assert!(model.position(*id).is_some()));
            removed.into_iter().for_each(|id| model.remove(id));
            assert!(chunks(5).all(|chunk| model.position(place(*source, chunk)).is_none()));
        }
        Step::Dedup => {
            vault.dedup(true).expect("deduplicates");
            model.dedup();
        }
        Step::Search(word) => {
            for hit in vault.search(&ask(WORDS[*word])).expect("searches").hits {
                let seq = model.position(hit.id).expect("only what is there is found");
                assert_eq!(model.drawers[&seq].2, hit.content);
            }
        }
        Step::Reopen | Step::Crash => {}
    }
}

fn file_source(vault: &Vault, model: &mut Model, source: usize, words: &[usize]) {
    let name = source_name(source);
    let batch = SourceBatch {
        source: name.clone(),
        wing: "mined".into(),
        added_by: AddedBy::Miner,
        drawers: chunks(words.len())
            .zip(words)
            .map(|(at, word)| from_source(&name, at, WORDS[*word]))
            .collect(),
        total: Some(u32::try_from(words.len()).expect("few")),
        expects: None,
    };
    let outcome = vault.file_source(batch, UNSCREENED).expect("files");
    for ((chunk, word), saved) in chunks(words.len()).zip(words).zip(outcome.drawers) {
        let (saved, id) = (saved.expect("lands"), place(source, chunk));
        assert_eq!((saved.id, saved.created), (id, model.position(id).is_none()));
        model.put(id, "mined", WORDS[*word]);
    }
    let first_gone = u32::try_from(words.len()).expect("few");
    (first_gone..5).for_each(|chunk| model.remove(place(source, chunk)));
}

fn assert_same(vault: &Vault, model: &Model) {
    let listed = vault.list(None, None, 500, 0).expect("lists");
    let newest_first: Vec<DrawerId> = model.drawers.values().rev().map(|(id, ..)| *id).collect();
    assert_eq!(listed.iter().map(|drawer| drawer.id).collect::<Vec<_>>(), newest_first);
    for (id, wing, text) in model.drawers.values() {
        let drawer = vault.get(*id).expect("reads");
        assert_eq!((drawer.meta.wing.as_str(), &drawer.content), (*wing, text));
    }
    let report = vault.verify(&mut |_| {}).expect("walks");
    assert!(report.ok, "{report:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_vault_holds_what_a_map_would(
        level in prop::sample::select(vec![Level::Sealed, Level::HmacOnly]),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let home = Home::new();
        let mut vault = home.create(level);
        let mut model = Model::default();
        for step in &steps {
            apply(&vault, &mut model, step);
            home.clock.advance(1_000_000);
            match step {
                Step::Reopen => vault.close().expect("closes"),
                Step::Crash => std::mem::forget(vault),
                _ => continue,
            }
            vault = home.open().expect("opens");
            assert_same(&vault, &model);
        }
        assert_same(&vault, &model);
    }
}

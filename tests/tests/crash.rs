//! Processes killed at random moments of writing, mining, changing, deleting and backing up. Every acknowledged record is
//! there afterwards, nothing that was acknowledged as deleted is, and nobody cries tamper.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::time::{Duration, Instant};

use undercroft_tests::support::{Palace, Random};

/// Processes that must really have been killed; those that were done before do not count.
const KILLS: usize = 200;
/// Commands at most, killed or not.
const ROUNDS: usize = 3_000;
/// What the story knows to be true.
#[derive(Default)]
struct Acknowledged {
    /// Drawers by id; several words where a change was not acknowledged and may have happened.
    drawers: BTreeMap<String, Vec<String>>,
    /// Ids whose deletion was not acknowledged: there or not.
    perhaps_gone: Vec<String>,
    gone: Vec<String>,
    backups: usize,
}

/// A kind of command, and within which time it is killed.
#[derive(Clone, Copy)]
enum Kind {
    Short,
    Mine,
    Backup,
}

fn paragraphs(round: usize, count: usize) -> String {
    (0..count)
        .map(|n| {
            format!(
                "Paragraph {n} of round {round}, long enough for a chunk. {}\n\n",
                "And more. ".repeat(60)
            )
        })
        .collect()
}

fn id_of(out: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(out).ok()?;
    value["id"].as_str().map(str::to_owned)
}

struct Story {
    palace: Palace,
    random: Random,
    /// Longest time until the kill, for each kind. It follows the machine: longer after a kill, shorter after a command that
    /// was done before, so that somewhat more than half of them are killed at any speed.
    patience: [Duration; 3],
    known: Acknowledged,
    killed: usize,
}

impl Story {
    fn new(seed: u64) -> Self {
        let patience = [Duration::from_millis(20); 3];
        Self {
            palace: Palace::new(),
            random: Random::new(seed),
            patience,
            known: Acknowledged::default(),
            killed: 0,
        }
    }

    /// Lets a command run for a random while and kills it; gives what it printed when that was all.
    fn kill(&mut self, typed: &[&str], kind: Kind) -> Option<String> {
        let mut child = self.palace.command(typed).spawn().expect("started");
        let longest = self.patience[kind as usize].as_micros();
        let moment =
            Duration::from_micros(self.random.below(usize::try_from(longest).expect("no hours")) as u64);
        let began = Instant::now();
        while began.elapsed() < moment && child.try_wait().expect("a child").is_none() {
            std::thread::yield_now();
        }
        // SIGKILL; a child that has ended already is not harmed.
        child.kill().expect("killed");
        let status = child.wait().expect("it ended");
        let (mut out, mut err) = (String::new(), String::new());
        child.stdout.take().expect("its output").read_to_string(&mut out).expect("text");
        child.stderr.take().expect("its output").read_to_string(&mut err).expect("text");
        match status.code() {
            Some(code) => {
                assert_eq!(code, 0, "a command that was not killed failed: {err}");
                self.patience[kind as usize] = self.patience[kind as usize] * 90 / 100;
            }
            None => {
                self.killed += 1;
                self.patience[kind as usize] = self.patience[kind as usize] * 107 / 100;
            }
        }
        // What was printed whole was acknowledged, whatever became of the process afterwards.
        out.ends_with('\n').then_some(out)
    }

    fn round(&mut self, round: usize) {
        let ids: Vec<String> = self.known.drawers.keys().cloned().collect();
        match self.random.below(9) {
            0..=3 => self.remember(round),
            4 | 5 => {
                let count = 100 + self.random.below(800);
                let file = self.palace.file("mined.txt", paragraphs(round, count));
                let _ = self.kill(&["mine", file.to_str().expect("a path")], Kind::Mine);
            }
            6 if !ids.is_empty() => self.update(&ids, round),
            7 if ids.len() > 5 => self.delete(&ids),
            _ => {
                let out = self.kill(&["backup", "create", "--json"], Kind::Backup);
                self.known.backups += usize::from(out.is_some());
            }
        }
    }

    fn remember(&mut self, round: usize) {
        let text = format!("record of round {round}");
        let out = self.kill(&["remember", &text, "--json"], Kind::Short);
        if let Some(id) = out.as_deref().and_then(id_of) {
            self.known.drawers.insert(id, vec![text]);
        }
    }

    fn update(&mut self, ids: &[String], round: usize) {
        let id = self.random.pick(ids).clone();
        let text = format!("record changed in round {round}");
        let out = self.kill(&["drawer", "update", &id, &text, "--json"], Kind::Short);
        let words = self.known.drawers.get_mut(&id).expect("a known drawer");
        if out.is_some() {
            words.clear();
        }
        words.push(text);
    }

    fn delete(&mut self, ids: &[String]) {
        let id = self.random.pick(ids).clone();
        let out = self.kill(&["drawer", "delete", &id, "--json"], Kind::Short);
        self.known.drawers.remove(&id);
        if out.is_some() { self.known.gone.push(id) } else { self.known.perhaps_gone.push(id) }
    }

    /// Words that nobody disturbs.
    fn remember_in_peace(&mut self, round: usize) {
        let text = format!("undisturbed record of round {round}");
        self.known.drawers.insert(self.palace.remember(&text), vec![text]);
    }

    fn check(&self) {
        self.palace.verifies();
        let vault = undercroft_tests::support::open(&self.palace);
        for (id, words) in &self.known.drawers {
            let drawer =
                vault.get(id.parse().expect("an id")).unwrap_or_else(|error| panic!("{id}: {error}"));
            assert!(words.contains(&drawer.content), "{id} says {:?}, not one of {words:?}", drawer.content);
        }
        for id in &self.known.gone {
            let error = vault.get(id.parse().expect("an id")).expect_err("a deleted drawer is back");
            assert!(error.to_string().contains("No drawer"), "{error}");
        }
        for id in &self.known.perhaps_gone {
            if let Err(error) = vault.get(id.parse().expect("an id")) {
                assert!(error.to_string().contains("No drawer"), "{error}");
            }
        }
    }

    /// Whatever backup is listed is whole: a killed one has no name.
    fn check_backups(&self) {
        let listed = self.palace.json(&["backup", "list"]);
        let listed = listed["backups"].as_array().expect("backups").clone();
        assert!(listed.len() >= self.known.backups.min(10), "an acknowledged backup is missing");
        for backup in listed {
            let name = backup["name"].as_str().expect("a name");
            let _ = self.palace.run(&["backup", "restore", name, "--force"]).ok();
            self.palace.verifies();
        }
    }
}

#[test]
fn two_hundred_kills_lose_nothing_and_raise_no_alarm() {
    let seed = match std::env::var("CRASH_SEED") {
        Ok(text) => text.parse().expect("CRASH_SEED is a number"),
        Err(_) => 0x5eed_0001,
    };
    let told = Told(seed);
    let mut story = Story::new(seed);
    for round in 0..ROUNDS {
        story.round(round);
        if round % 20 == 19 {
            story.remember_in_peace(round);
            story.check();
        }
        if story.killed == KILLS {
            break;
        }
    }
    story.check();
    assert_eq!(story.killed, KILLS, "too few were killed");
    story.check_backups();
    drop(told);
}

/// Says how to repeat a run that failed.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("repeat with: CRASH_SEED={} cargo test -p undercroft-tests --test crash", self.0);
        }
    }
}

#[test]
fn what_a_killed_process_left_behind_is_cleaned_up_by_the_next() {
    let mut story = Story::new(7);
    while story.killed < 12 {
        let _ = story.kill(&["backup", "create"], Kind::Backup);
    }
    let _ = story.palace.run(&["backup", "create"]).ok();
    let left: Vec<_> = match std::fs::read_dir(story.palace.root().join(".staging")) {
        Ok(entries) => {
            entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect()
        }
        Err(_) => Vec::new(),
    };
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn a_repair_that_is_killed_again_and_again_changes_no_record() {
    let mut story = Story::new(11);
    // More rows than any page of a walk has.
    let text = paragraphs(0, 2_500);
    let file = story.palace.file("mined.txt", &text);
    let source = file.to_str().expect("a path").to_owned();
    let _ = story.palace.run(&["mine", &source]).ok();
    let before = story.palace.json(&["stats"])["records"].clone();
    while story.killed < 15 {
        let _ = story.kill(&["repair"], Kind::Mine);
    }
    story.palace.verifies();
    let _ = story.palace.run(&["repair"]).ok().says("integrity: ok");
    assert_eq!(story.palace.json(&["stats"])["records"], before);
    assert!(
        undercroft_tests::support::concatenate(&story.palace, &source) == text,
        "the texts are not what they were"
    );
    assert!(!story.palace.found("paragraph 1234").is_empty());
}

//! Processes killed at random moments of writing, mining, changing, deleting and backing up. Every acknowledged record is
//! there afterwards, nothing that was acknowledged as deleted is, and nobody cries tamper.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::Child;
use std::time::{Duration, Instant};

use undercroft_tests::support::{Palace, Random};

const KILLS: usize = 200;
/// A command that nobody stops takes a few milliseconds, bulk work some hundred.
const LONGEST_MICROS: usize = 40_000;

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

/// Lets the command run for a random while and kills it; gives its output when it ended by itself and well.
fn killed(mut child: Child, random: &mut Random) -> Option<String> {
    let until = Instant::now() + Duration::from_micros(random.below(LONGEST_MICROS) as u64);
    while Instant::now() < until {
        if child.try_wait().expect("a child").is_some() {
            break;
        }
        std::thread::yield_now();
    }
    // SIGKILL; a child that has ended already is not harmed.
    child.kill().expect("killed");
    let status = child.wait().expect("it ended");
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().expect("its output").read_to_string(&mut out).expect("text");
    child.stderr.take().expect("its output").read_to_string(&mut err).expect("text");
    if let Some(code) = status.code() {
        assert_eq!(code, 0, "a command that was not killed failed: {err}");
    }
    // What was printed whole was acknowledged, whatever became of the process afterwards.
    out.ends_with('\n').then_some(out)
}

fn id_of(out: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(out).ok()?;
    value["id"].as_str().map(str::to_owned)
}

fn one_round(palace: &Palace, random: &mut Random, known: &mut Acknowledged, round: usize) {
    let start = |typed: &[&str]| palace.command(typed).spawn().expect("started");
    let ids: Vec<String> = known.drawers.keys().cloned().collect();
    match random.below(6) {
        0 | 1 => {
            let text = format!("record of round {round}");
            let out = killed(start(&["remember", &text, "--json"]), random);
            if let Some(id) = out.as_deref().and_then(id_of) {
                known.drawers.insert(id, vec![text]);
            }
        }
        2 => {
            let text = format!("Paragraph of round {round}.\n\n").repeat(40 + random.below(2_000));
            let file = palace.file("mined.txt", text);
            let _ = killed(start(&["mine", file.to_str().expect("a path")]), random);
        }
        3 if !ids.is_empty() => {
            let id = random.pick(&ids);
            let text = format!("record changed in round {round}");
            let out = killed(start(&["drawer", "update", id, &text, "--json"]), random);
            let words = known.drawers.get_mut(id).expect("a known drawer");
            if out.is_some() {
                words.clear();
            }
            words.push(text);
        }
        4 if !ids.is_empty() => {
            let id = random.pick(&ids);
            let out = killed(start(&["drawer", "delete", id, "--json"]), random);
            known.drawers.remove(id);
            if out.is_some() { known.gone.push(id.clone()) } else { known.perhaps_gone.push(id.clone()) }
        }
        _ => {
            let out = killed(start(&["backup", "create", "--json"]), random);
            known.backups += usize::from(out.is_some());
        }
    }
}

fn check(palace: &Palace, known: &Acknowledged) {
    palace.verifies();
    let vault = undercroft_tests::support::open(palace);
    for (id, words) in &known.drawers {
        let drawer = vault.get(id.parse().expect("an id")).unwrap_or_else(|error| panic!("{id}: {error}"));
        assert!(words.contains(&drawer.content), "{id} says {:?}, not one of {words:?}", drawer.content);
    }
    for id in &known.gone {
        let error = vault.get(id.parse().expect("an id")).expect_err("a deleted drawer is back");
        assert!(error.to_string().contains("No drawer"), "{error}");
    }
    for id in &known.perhaps_gone {
        if let Err(error) = vault.get(id.parse().expect("an id")) {
            assert!(error.to_string().contains("No drawer"), "{error}");
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
    let mut random = Random::new(seed);
    let palace = Palace::new();
    let mut known = Acknowledged::default();
    for round in 0..KILLS {
        one_round(&palace, &mut random, &mut known, round);
        if round % 20 == 19 {
            check(&palace, &known);
        }
    }
    check(&palace, &known);
    assert!(known.drawers.len() > 5, "hardly anything was acknowledged: the moments are too early");
    // Whatever backup is listed is whole: a killed one has no name.
    let listed = palace.json(&["backup", "list"]);
    let listed = listed["backups"].as_array().expect("backups").clone();
    assert!(listed.len() >= known.backups.min(10), "an acknowledged backup is missing");
    for backup in listed {
        let name = backup["name"].as_str().expect("a name");
        let _ = palace.run(&["backup", "restore", name, "--force"]).ok();
        palace.verifies();
    }
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
    let palace = Palace::new();
    let _ = palace.remember("words");
    let mut random = Random::new(7);
    for _ in 0..12 {
        let _ = killed(palace.command(&["backup", "create"]).spawn().expect("started"), &mut random);
    }
    let _ = palace.run(&["backup", "create"]).ok();
    let left: Vec<_> = match std::fs::read_dir(palace.root().join(".staging")) {
        Ok(entries) => {
            entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect()
        }
        Err(_) => Vec::new(),
    };
    assert!(left.is_empty(), "left behind: {left:?}");
}

//! What stands around an agent: hooks, the daemon that sweeps its transcripts, assertions for a server.

#![expect(clippy::unwrap_used, reason = "a test stops at the first thing that is not as it must be")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

struct Palace {
    dir: tempfile::TempDir,
}

impl Palace {
    fn initialised() -> Self {
        let palace = Self { dir: tempfile::tempdir().unwrap() };
        assert!(palace.command(&["init"]).output().unwrap().status.success());
        palace
    }

    fn person(&self) -> PathBuf {
        self.dir.path().join("person")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undercroft"));
        let home = self.dir.path().join("palace");
        command.args(arguments).env_clear().env("UNDERCROFT_HOME", home).env("HOME", self.person());
        command
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        told(self.command(arguments).output().unwrap())
    }

    /// Puts a transcript with these messages where the agent's program keeps it.
    fn transcript(&self, name: &str, said: &[&str]) {
        let folder = self.person().join(".claude/projects/one");
        std::fs::create_dir_all(&folder).unwrap();
        let lines: String = said
            .iter()
            .map(|text| {
                let message = json!({
                    "type": "user", "timestamp": "2025-05-01T10:00:00Z",
                    "message": { "role": "user", "content": text }
                });
                format!("{message}\n")
            })
            .collect();
        std::fs::write(folder.join(name), lines).unwrap();
    }
}

fn told(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn hooks_are_settings_that_sweep_at_both_events() {
    let palace = Palace::initialised();
    let (code, stdout, _) = palace.run(&["hooks", "claude-code"]);
    let settings: Value = serde_json::from_str(&stdout).unwrap();
    let hook = json!([{ "hooks": [{
        "type": "command", "command": "undercroft sweep ~/.claude/projects --wing claude-code"
    }] }]);
    assert_eq!((code, settings), (0, json!({ "hooks": { "Stop": hook, "PreCompact": hook } })));
    assert_eq!(palace.run(&["hooks"]).1, stdout);
    let (code, stdout, stderr) = palace.run(&["hooks", "other"]);
    assert!(code == 1 && stdout.is_empty() && stderr.contains("claude-code"), "{stderr}");
    assert_eq!(palace.run(&["hooks", "--vault", "v"]).0, 1);
}

#[test]
fn a_pass_files_what_is_new_and_no_transcripts_are_nothing_to_do() {
    let palace = Palace::initialised();
    let once = ["daemon", "run", "--once"];
    let nothing = (0, "[daemon] swept 0 transcript(s): 0 filed, 0 present\n".to_owned(), String::new());
    assert_eq!(palace.run(&once), nothing);
    std::fs::create_dir_all(palace.person().join(".claude/projects")).unwrap();
    assert_eq!(palace.run(&once), nothing);
    palace.transcript("a.jsonl", &["The bees swarmed on Monday.", "We moved the hive."]);
    assert_eq!(palace.run(&once).1, "[daemon] swept 1 transcript(s): 2 filed, 0 present\n");
    palace.transcript("b.jsonl", &["A new queen was seen."]);
    let (_, stdout, _) = palace.run(&["daemon", "run", "--once", "--json"]);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let expected = json!({
        "files": 2, "drawers": 1, "present": 2, "edited": 0, "deleted": 0, "passed_over": 0, "skipped": [],
    });
    assert_eq!(report, expected);
    assert!(palace.run(&["taxonomy"]).1.starts_with("claude-code/\n"));
}

#[test]
fn a_sweep_and_a_pass_replace_nothing_of_a_log_that_was_written_anew() {
    let palace = Palace::initialised();
    let once = ["daemon", "run", "--once"];
    let projects = palace.person().join(".claude/projects");
    let projects = projects.to_str().unwrap();
    let sweep = ["sweep", projects, "--wing", "claude-code"];
    for (command, words) in
        [(&sweep[..], "The bees swarmed."), (&once, "They came back."), (&sweep, "They left.")]
    {
        palace.transcript("a.jsonl", &[words]);
        let (_, stdout, _) = palace.run(&[command, &["--json"]].concat());
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&report["drawers"], &report["present"]), (&json!(1), &json!(0)), "{report}");
    }
    let (_, stdout, _) = palace.run(&["taxonomy"]);
    assert_eq!(stdout, "claude-code/\n  a (3)\n");
}

#[test]
fn a_pass_that_leaves_something_out_says_how_to_see_it() {
    let palace = Palace::initialised();
    palace.transcript("a.jsonl", &["The bees swarmed."]);
    let file = palace.person().join(".claude/projects/one/a.jsonl");
    let words = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, words + "{\"type\":\"user\",\"message\":{\"content\":null}}\n").unwrap();
    let (code, _, stderr) = palace.run(&["daemon", "run", "--once"]);
    let (_, command) = stderr.trim_end().split_once("undercroft ").unwrap();
    assert_eq!(code, 0, "{stderr}");
    let (code, _, stderr) = palace.run(&command.split(' ').collect::<Vec<_>>());
    assert!(code == 0 && stderr.contains("a.jsonl: line 2: the message's \"content\" is null"), "{stderr}");
}

#[test]
fn the_daemon_goes_on_after_each_interval() {
    let palace = Palace::initialised();
    let mut daemon =
        palace.command(&["daemon", "run", "--interval", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(daemon.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "[daemon] swept 0 transcript(s): 0 filed, 0 present");
    palace.transcript("a.jsonl", &["The bees swarmed on Monday."]);
    // The folder may appear in the middle of a pass; a later one has it.
    let swept = lines
        .by_ref()
        .map(Result::unwrap)
        .find(|line| line.contains("swept 1 transcript(s): 1 filed"))
        .unwrap();
    assert!(swept.starts_with("[daemon] "), "{swept}");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert!(palace.run(&["verify"]).1.ends_with("VERIFY OK\n"));
}

#[test]
fn a_daemon_that_cannot_work_ends_at_once() {
    let palace = Palace::initialised();
    for arguments in [
        &["daemon"][..],
        &["daemon", "run", "--interval", "0"],
        &["daemon", "run", "--wing", "a/b"],
        &["daemon", "run", "--vault", "none"],
    ] {
        let (code, stdout, stderr) = palace.run(arguments);
        assert!(code == 1 && stdout.is_empty() && !stderr.is_empty(), "{arguments:?}: {stderr}");
    }
    palace.transcript("a.jsonl", &["words"]);
    assert_eq!(palace.run(&["daemon", "run", "--wing", "quarantine-pending"]).0, 1);
}

#[test]
fn an_assertion_is_made_for_one_vault_with_the_declared_secret() {
    let palace = Palace::initialised();
    let asserted = |secret: &str, arguments: &[&str]| {
        let mut command = palace.command(&[&["assert-header"], arguments].concat());
        told(command.env("UNDERCROFT_ASSERTION_SECRET", secret).output().unwrap())
    };
    let (code, stdout, _) = asserted("a secret", &["one"]);
    let (time, mac) = stdout.trim_end().split_once(':').unwrap();
    assert!(code == 0 && time.parse::<u64>().unwrap() > 1_700_000_000, "{stdout}");
    assert!(
        mac.len() == 64 && mac.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)),
        "{stdout}"
    );
    let (_, stdout, _) = asserted("a secret", &["one", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["header"], "X-Vault-Assertion");
    let other =
        |secret, vault| asserted(secret, &[vault]).1.trim_end().rsplit(':').next().unwrap().to_owned();
    assert!(other("a secret", "two") != mac && other("b secret", "one") != mac);
    for vault in ["", "a/b", "..", " one"] {
        assert_eq!(asserted("a secret", &[vault]).0, 1, "{vault:?}");
    }
    let (code, stdout, stderr) = palace.run(&["assert-header", "one"]);
    assert!(code == 1 && stdout.is_empty() && stderr.contains("UNDERCROFT_ASSERTION_SECRET"), "{stderr}");
    assert_eq!(asserted("  ", &["one"]).0, 1);
}

//! What scripts rely on, asked of the built binary: exit codes, phrases, one JSON object, and that refusing writes nothing.

#![expect(clippy::unwrap_used, reason = "a test stops at the first thing that is not as it must be")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

struct Palace {
    dir: tempfile::TempDir,
}

impl Palace {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn initialised() -> Self {
        let palace = Self::new();
        assert_eq!(palace.run(&["init"]).code, 0);
        palace
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("palace")
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(&[], arguments)
    }

    /// Runs with nothing in the environment but what is given.
    fn run_with(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Run {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_undercroft"))
            .args(arguments)
            .env_clear()
            .env("UNDERCROFT_HOME", self.home())
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        Run {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn object(&self, arguments: &[&str]) -> Value {
        let run = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr))
    }
}

fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn help_and_version_are_answers_and_mistakes_exit_with_one() {
    let palace = Palace::new();
    let help = palace.run(&["--help"]);
    assert!(help.code == 0 && help.stdout.contains("hardened local-first AI memory"), "{}", help.stdout);
    assert_eq!(palace.run(&["--version"]).code, 0);
    assert_eq!(palace.run(&["search", "--help"]).code, 0);
    for mistake in [
        &[][..],
        &["serch"],
        &["search"],
        &["search", "x", "--no-such-flag"],
        &["vault", "list", "--vault", "v"],
    ] {
        let run = palace.run(mistake);
        assert!(
            run.code == 1 && run.stdout.is_empty() && !run.stderr.is_empty(),
            "{mistake:?}: {}",
            run.stderr
        );
    }
    assert!(!palace.home().exists(), "a mistake made the installation");
}

#[test]
fn what_is_not_built_says_so_and_exits_with_one() {
    let palace = Palace::initialised();
    for (typed, named) in [
        (&["export", "--to", "x"][..], "not implemented: export"),
        (&["kg", "add", "a", "b", "c"], "not implemented: kg"),
        (&["vault", "rotate", "default"], "not implemented: vault rotate"),
        (&["search", "x", "--min-trust", "standard"], "not implemented: --min-trust"),
        (&["repair", "--tokens"], "not implemented: --tokens"),
    ] {
        let run = palace.run(typed);
        assert!(run.code == 1 && run.stderr.contains(named), "{typed:?}: {}", run.stderr);
    }
}

#[test]
fn the_first_start_says_where_the_key_is_and_the_second_changes_nothing() {
    let palace = Palace::new();
    let first = palace.run(&["init"]);
    let home = palace.home().display().to_string();
    assert_eq!(
        first.stdout,
        format!(
            "Palace initialized at {home}\nCreated vault 'default' (level: sealed)\nMaster key: {home}/master.key (0600)\n"
        )
    );
    let key = std::fs::read(palace.home().join("master.key")).unwrap();
    let second = palace.run(&["init"]);
    assert_eq!((second.code, second.stdout), (0, format!("Palace already initialized at {home}\n")));
    assert_eq!(std::fs::read(palace.home().join("master.key")).unwrap(), key);
}

#[test]
fn a_contradicting_key_source_is_refused_with_one() {
    let palace = Palace::initialised();
    let run = palace.run_with(&[("UNDERCROFT_PASSPHRASE", "word")], &["stats"]);
    assert!(
        run.code == 1 && run.stderr.contains("master.key") && run.stderr.contains("PASSPHRASE"),
        "{}",
        run.stderr
    );
    assert!(!palace.home().join("kdf.salt").exists());
    std::fs::remove_file(palace.home().join("master.key")).unwrap();
    let run = palace.run(&["init"]);
    assert!(run.code == 1 && run.stderr.contains("master.key is missing"), "{}", run.stderr);
    assert!(!palace.home().join("master.key").exists());
}

#[test]
fn a_text_is_filed_found_shown_and_deleted() {
    let palace = Palace::initialised();
    let filed = palace.object(&[
        "remember",
        "the spare key hangs behind the map",
        "--wing",
        "house",
        "--room",
        "keys",
    ]);
    let id = filed["id"].as_str().unwrap();
    let found = palace.run(&["search", "spare key"]);
    assert!(
        found.stdout.starts_with("1. [") && found.stdout.contains(" house/keys — the spare key"),
        "{}",
        found.stdout
    );
    assert!(found.stdout.contains(&format!("   id {id} — undercroft drawer get {id}\n")), "{}", found.stdout);
    assert_eq!(palace.object(&["search", "spare key"])["hits"][0]["id"], json!(id));
    let shown = palace.run(&["drawer", "get", id]);
    assert!(shown.stdout.ends_with("---\nthe spare key hangs behind the map\n"), "{}", shown.stdout);
    assert_eq!(palace.run(&["drawer", "delete", id]).stdout, format!("Deleted drawer {id}\n"));
    let missing = palace.run(&["drawer", "get", id]);
    assert!(missing.code == 1 && missing.stderr.contains("No drawer with id"), "{}", missing.stderr);
    assert_eq!(palace.run(&["search", "spare key"]).stdout, "No memories matched.\n");
}

#[test]
fn control_characters_reach_a_pipe_as_they_were_stored() {
    let palace = Palace::initialised();
    let id = palace.object(&["remember", "red \u{1b}[31m alarm"])["id"].as_str().unwrap().to_owned();
    assert!(palace.run(&["drawer", "get", &id]).stdout.ends_with("red \u{1b}[31m alarm\n"));
}

#[test]
fn an_integrity_verdict_exits_with_two_on_every_command() {
    let palace = Palace::initialised();
    palace.run(&["remember", "one"]);
    assert!(palace.run(&["verify"]).stdout.ends_with("VERIFY OK\n"));
    damage(&palace.home().join("vaults/default/vault.json"));
    for command in [
        &["verify"][..],
        &["stats"],
        &["search", "x"],
        &["remember", "x"],
        &["backup", "create"],
        &["vault", "list"],
    ] {
        let run = palace.run(command);
        assert!(
            run.code == 2 && run.stderr.starts_with("Error: "),
            "{command:?}: {} {}",
            run.code,
            run.stderr
        );
    }
    assert_eq!(palace.object(&["stats"])["class"], "integrity");
    assert!(!palace.home().join("backups").exists(), "a damaged vault was copied");
}

#[test]
fn an_error_for_programs_is_one_object_on_standard_output() {
    let palace = Palace::new();
    let run = palace.run(&["stats", "--json"]);
    let object: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &object["class"], run.stderr.as_str()), (1, &json!("not_found"), ""));
    let mistyped = palace.run(&["serch", "--json"]);
    let object: Value = serde_json::from_str(&mistyped.stdout).unwrap();
    assert_eq!((mistyped.code, &object["class"]), (1, &json!("invalid")));
}

#[test]
fn the_preflight_opens_nothing_and_tells_parsed_from_accepted() {
    let palace = Palace::new();
    let fine = palace.run_with(&[("UNDERCROFT_FUSION", "bm25")], &["config", "check"]);
    assert_eq!(fine.code, 0);
    for phrase in [
        "no vault, no database",
        "declared Opaque",
        "has NOT",
        "  ok      UNDERCROFT_FUSION",
        "This environment starts.",
    ] {
        assert!(fine.stdout.contains(phrase), "{phrase}: {}", fine.stdout);
    }
    let refusing = palace.run_with(&[("UNDERCROFT_READ_AUDIT", "chain")], &["config-check", "--verbose"]);
    assert!(
        refusing.code == 1 && refusing.stdout.contains("  REFUSES UNDERCROFT_READ_AUDIT"),
        "{}",
        refusing.stdout
    );
    assert!(
        refusing.stdout.contains("  seen    UNDERCROFT_HOME")
            && !refusing.stdout.contains("environment starts")
    );
    assert!(!palace.home().exists());
}

#[test]
fn a_protection_that_is_not_there_stops_every_open_and_a_bad_knob_only_warns() {
    let palace = Palace::initialised();
    let refused = palace.run_with(&[("UNDERCROFT_ADMISSION", "quarantine")], &["remember", "x"]);
    assert!(
        refused.code == 1 && refused.stderr.contains("UNDERCROFT_ADMISSION: not implemented"),
        "{}",
        refused.stderr
    );
    let warned = palace.run_with(&[("UNDERCROFT_FUSION", "rrf")], &["stats"]);
    assert!(warned.code == 0 && warned.stderr.contains("Warning: UNDERCROFT_FUSION"), "{}", warned.stderr);
}

#[test]
fn a_backup_is_restored_only_over_an_existing_vault_when_forced() {
    let palace = Palace::initialised();
    palace.run(&["remember", "before"]);
    assert!(palace.run(&["backup", "create"]).stdout.starts_with("Backup created: "));
    let name = palace.run(&["backup", "list"]).stdout.trim().to_owned();
    palace.run(&["remember", "after"]);
    assert_eq!(palace.run(&["backup", "restore", &name]).code, 1);
    let restored = palace.run(&["backup", "restore", &name, "--force"]);
    assert_eq!(restored.stdout, format!("Restored {name} -> vault 'default'\n"));
    assert_eq!(palace.object(&["stats"])["records"], json!(1));
}

#[test]
fn results_are_printed_in_the_declared_language_and_errors_in_english() {
    let palace = Palace::initialised();
    let korean = palace.run_with(&[("UNDERCROFT_LANG", "ko")], &["verify"]);
    assert!(korean.stdout.ends_with("검증 성공\n"), "{}", korean.stdout);
    let french = palace.run_with(&[("LANG", "fr_FR.UTF-8")], &["drawer", "get", "x"]);
    assert!(french.stderr.starts_with("Error: invalid id"), "{}", french.stderr);
}

#[test]
fn a_vault_is_deleted_only_when_confirmed() {
    let palace = Palace::initialised();
    assert_eq!(palace.run(&["vault", "create", "extra"]).stdout, "Created vault 'extra' (level: sealed)\n");
    let again = palace.run(&["vault", "create", "extra"]);
    assert!(again.code == 1 && again.stderr.contains("already exists"), "{}", again.stderr);
    assert_eq!(palace.run(&["vault", "delete", "extra"]).code, 1);
    assert_eq!(palace.object(&["vault", "list"]), json!({ "vaults": ["default", "extra"] }));
    assert_eq!(palace.run(&["vault", "delete", "extra", "--yes"]).code, 0);
    assert_eq!(palace.object(&["vault", "list"]), json!({ "vaults": ["default"] }));
}

#[test]
fn a_run_that_could_use_no_file_names_the_reasons_and_exits_with_one() {
    let palace = Palace::initialised();
    let file = palace.home().join("latin.txt");
    std::fs::write(&file, b"caf\xe9").unwrap();
    for command in [&["mine"][..], &["mine", "--mode", "convos"]] {
        let run = palace.run(&[command, &[file.to_str().unwrap()]].concat());
        assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    }
    let run = palace.run(&["mine", file.to_str().unwrap()]);
    assert!(run.stderr.contains("not UTF-8") && run.stderr.contains("nothing was filed"), "{}", run.stderr);
}

#[test]
fn an_empty_file_is_nothing_to_do_for_every_command_that_files() {
    let palace = Palace::initialised();
    let file = palace.dir.path().join("empty.jsonl");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "").unwrap();
    for (command, said) in [
        (&["mine", path][..], "Mined 1 file(s) into vault 'default' wing 'mined': 0 drawer(s) filed\n"),
        (
            &["mine", path, "--mode", "convos"],
            "Mined 1 file(s) into vault 'default' wing 'mined': 0 drawer(s) filed\n",
        ),
        (&["sweep", path], "Swept 1 transcript(s): 0 message drawer(s) filed, 0 already present\n"),
        (
            &["daemon", "run", "--once", "--watch", path],
            "[daemon] swept 1 transcript(s): 0 filed, 0 present\n",
        ),
    ] {
        let run = palace.run(command);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, said, ""), "{command:?}");
    }
    std::fs::write(&file, " \n\0").unwrap();
    let run = palace.run(&["mine", path]);
    assert!(run.code == 1 && run.stderr.contains("nothing to read in it"), "{}", run.stderr);
}

#[test]
fn the_help_says_that_a_path_counts_as_it_was_typed() {
    let palace = Palace::initialised();
    let help = palace.run(&["mine", "--help"]).stdout;
    assert!(help.contains("path as it was typed") && help.contains("the second replaces"), "{help}");
    let folders = ["one", "two"].map(|name| palace.dir.path().join(name));
    for folder in &folders {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("a.md"), folder.display().to_string()).unwrap();
    }
    let mined = folders.map(|folder| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undercroft"));
        command.args(["mine", "a.md"]).env_clear().env("UNDERCROFT_HOME", palace.home());
        String::from_utf8(command.current_dir(folder).output().unwrap().stdout).unwrap()
    });
    assert!(!mined[0].contains("replaced") && mined[1].contains("(1 of them replaced"), "{mined:?}");
}

#[test]
fn a_removal_is_what_a_run_did_even_when_it_could_use_no_file() {
    let palace = Palace::initialised();
    let notes = palace.dir.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("a.txt"), "words").unwrap();
    let mine = ["mine", notes.to_str().unwrap()];
    assert_eq!(palace.run(&mine).code, 0);
    std::fs::write(notes.join("a.txt"), "").unwrap();
    std::fs::write(notes.join("b.txt"), b"caf\xe9").unwrap();
    let run = palace.run(&mine);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("0 drawer(s) filed\n(1 drawer(s) removed that"), "{}", run.stdout);
    assert!(run.stderr.contains("b.txt: not UTF-8"), "{}", run.stderr);
}

//! Vaults and backups of which something was lost or exchanged: the others are told all the same, and each remedy is true.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use undercroft_tests::support::Palace;

fn backup(palace: &Palace) -> String {
    let made = palace.json(&["backup", "create"]);
    let path = made["path"].as_str().expect("a path");
    path.rsplit('/').next().expect("a name").to_owned()
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

#[test]
fn a_vault_that_cannot_be_looked_at_hides_no_other() {
    let palace = Palace::new();
    let _ = palace.run(&["vault", "create", "other"]).ok();
    let name = backup(&palace);
    let vault = palace.vault();
    for file in ["vault.json", "use.lock", "writers.lock"] {
        for put in [|path: &Path| symlink(path, path).expect("a circle"), pipe] {
            let path = vault.join(file);
            let kept = fs::read(&path).expect("a file");
            fs::remove_file(&path).expect("removed");
            put(&path);
            let listed = palace.run(&["vault", "list"]);
            assert!(listed.stdout.contains("default ") && listed.stdout.contains("other "), "{listed}");
            assert!(listed.stdout.contains("cannot be opened") && listed.code != Some(0), "{listed}");
            fs::remove_file(&path).expect("removed");
            fs::write(&path, kept).expect("put back");
        }
    }
    let manifest = palace.root().join("backups").join(&name).join("vault.json");
    fs::remove_file(&manifest).expect("removed");
    symlink(&manifest, &manifest).expect("a circle");
    let _ = palace.run(&["backup", "list"]).ok().says(&name);
    palace.verifies();
}

#[test]
fn a_vault_that_lost_its_files_is_damage_and_init_says_so() {
    let palace = Palace::new();
    let id = palace.remember("words");
    let name = backup(&palace);
    fs::remove_file(palace.vault().join("vault.db")).expect("lost");
    palace.run(&["init"]).refuses(2, "vault.db");
    fs::remove_file(palace.vault().join("vault.json")).expect("lost");
    for command in [&["verify"][..], &["init"], &["vault", "create", "default"], &["remember", "more"]] {
        palace.run(command).refuses(2, "has lost vault.json and vault.db");
        palace.run(command).refuses(2, "backup restore NAME --force");
    }
    let _ = palace.run(&["vault", "list"]).exits(2).says("default ");
    palace.run(&["backup", "restore", &name]).refuses(1, "--force");
    let _ = palace.run(&["backup", "restore", &name, "--force"]).ok();
    assert_eq!(palace.words(&id), "words");
    palace.verifies();
}

#[test]
fn a_backup_that_cannot_be_restored_says_what_is_wrong_with_it() {
    let palace = Palace::new();
    let id = palace.remember("words");
    let (first, second) = (backup(&palace), backup(&palace));
    let database = palace.root().join("backups").join(&first).join("vault.db");
    let conn = rusqlite::Connection::open(&database).expect("the database");
    conn.execute("UPDATE drawers SET content = zeroblob(60)", []).expect("changed");
    drop(conn);
    palace.run(&["backup", "restore", &first, "--force"]).refuses(2, "records fail their check: 1 (");
    fs::remove_file(&database).expect("removed");
    pipe(&database);
    palace.run(&["backup", "restore", &first, "--force"]).refuses(2, "a named pipe");
    // Named for another vault, it would replace this one.
    let backups = palace.root().join("backups");
    let renamed = second.replace("default-", "v2-");
    fs::rename(backups.join(&second), backups.join(&renamed)).expect("renamed");
    palace
        .run(&["backup", "restore", &renamed, "--force"])
        .refuses(2, "named for vault 'v2' and holds vault 'default'");
    fs::rename(backups.join(&renamed), backups.join("by-hand")).expect("renamed");
    let _ = palace.run(&["backup", "restore", "by-hand", "--force"]).ok();
    assert_eq!(palace.words(&id), "words");
}

#[test]
fn a_manifest_that_does_not_parse_lets_nobody_delete_and_says_how_it_goes() {
    let palace = Palace::new();
    fs::write(palace.vault().join("vault.json"), "{").expect("damaged");
    palace.run(&["vault", "delete", "default", "--yes"]).refuses(2, "remove its folder by hand");
}

#[test]
fn a_hint_means_the_vault_and_the_installation_that_were_named() {
    let palace = Palace::new();
    let _ = palace.run(&["vault", "create", "my work"]).ok();
    let _ = palace.run(&["remember", "the other words", "--vault", "my work"]).ok();
    let ran =
        palace.run(&["search", "words", "--vault", "my work"]).ok().says("--vault 'my work' --data-dir ");
    let hint = ran.stdout.lines().find_map(|line| line.split_once("undercroft ")).expect("a hint").1;
    let script = format!("{} {hint}", undercroft_tests::support::binary().display());
    let pasted = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert!(String::from_utf8_lossy(&pasted.stdout).contains("the other words"), "{pasted:?}");
}

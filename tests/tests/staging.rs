//! The folders of an installation as links: what lies elsewhere is never cleared, dropped or left behind in silence.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use undercroft_tests::support::{Palace, contents};

fn backup(palace: &Palace) -> String {
    let made = palace.json(&["backup", "create"]);
    let path = made["path"].as_str().expect("a path");
    path.rsplit('/').next().expect("a name").to_owned()
}

/// Puts something in the place of the staging folder.
type Put = fn(&Path, &Path);

#[test]
fn what_lies_in_the_place_of_the_staging_folder_is_named_and_left() {
    let palace = Palace::new();
    let id = palace.remember("words");
    let name = backup(&palace);
    palace.file("elsewhere/precious/diary.txt", "years of it");
    let elsewhere = palace.outside().join("elsewhere");
    let staging = palace.root().join(".staging");
    let before = contents(&elsewhere);
    let cases: [(&str, Put); 3] = [
        ("is a link where a folder", |place, elsewhere| symlink(elsewhere, place).expect("a link")),
        ("is a file where a folder", |place, _| fs::write(place, "x").expect("a file")),
        ("is a socket where a folder", |place, _| drop(UnixListener::bind(place).expect("a socket"))),
    ];
    for (what, put) in cases {
        fs::remove_dir_all(&staging).expect("removed");
        put(&staging, &elsewhere);
        for command in [
            &["backup", "create"][..],
            &["backup", "restore", &name, "--force"],
            &["vault", "delete", "default", "--yes"],
            &["search", "words"],
        ] {
            palace.run(command).refuses(1, what);
            palace.run(command).refuses(1, ".staging");
            palace.run(command).refuses(1, "move it away");
        }
        assert_eq!(contents(&elsewhere), before, "{what}");
        fs::remove_file(&staging).expect("removed");
        let _ = palace.run(&["backup", "create"]).ok();
    }
    // A link inside of it goes, and nothing behind it.
    symlink(&elsewhere, staging.join("left")).expect("a link");
    symlink(&elsewhere, staging.join("replaced-default")).expect("a link");
    let _ = palace.run(&["backup", "create"]).ok();
    assert_eq!(contents(&elsewhere), before);
    assert_eq!(fs::read_dir(&staging).expect("a folder").count(), 0);
    assert_eq!(palace.words(&id), "words");
    palace.verifies();
}

#[test]
fn a_vault_that_is_kept_elsewhere_is_not_said_to_be_deleted_while_its_files_stay() {
    let palace = Palace::new();
    let id = palace.remember("words");
    let name = backup(&palace);
    let elsewhere = palace.outside().join("another-disk");
    fs::rename(palace.vault(), &elsewhere).expect("moved");
    symlink(&elsewhere, palace.vault()).expect("a link");
    assert_eq!(palace.words(&id), "words");
    for command in [&["vault", "delete", "default", "--yes"][..], &["backup", "restore", &name, "--force"]] {
        palace.run(command).refuses(1, "is kept elsewhere");
        palace.run(command).refuses(1, "another-disk");
    }
    assert_eq!(palace.words(&id), "words");
    palace.verifies();
    // Without the link nothing is in the way.
    fs::remove_file(palace.vault()).expect("removed");
    let _ = palace.run(&["backup", "restore", &name]).ok();
    assert_eq!(palace.words(&id), "words");
    assert!(elsewhere.join("vault.db").exists());
}

#[test]
fn a_backup_that_is_kept_elsewhere_is_never_dropped() {
    let palace = Palace::new();
    let _ = palace.remember("words");
    let first = backup(&palace);
    let link = palace.root().join("backups").join(&first);
    let elsewhere = palace.outside().join("another-disk");
    fs::rename(&link, &elsewhere).expect("moved");
    symlink(&elsewhere, &link).expect("a link");
    for _ in 0..11 {
        let _ = backup(&palace);
    }
    assert!(link.join("vault.db").exists() && elsewhere.join("vault.db").exists());
    let _ = palace.run(&["backup", "restore", &first, "--force"]).ok();
    palace.verifies();
}

#[test]
fn what_a_killed_process_left_among_the_vaults_goes_and_nothing_that_is_not_ours() {
    let palace = Palace::new();
    let id = palace.remember("words");
    let _ = palace.run(&["search", "words"]).ok();
    let vaults = palace.root().join("vaults");
    let ours = [
        "default/.vault.json.0011.undercroft-tmp",
        "default/index.img.tmp",
        ".new-0011223344556677/vault.db",
    ];
    let others = ["default/.vault.json.mine", ".new-mine/vault.db", "default/notes.tmp"];
    for file in ours.iter().chain(&others) {
        let path = vaults.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "x").expect("a file");
    }
    for lock in ["anchor.lock", "image.lock"] {
        fs::write(palace.vault().join(lock), "").expect("a lock");
    }
    let _ = palace.run(&["backup", "create"]).ok();
    let left = |files: &[&str]| files.iter().filter(|file| vaults.join(file).exists()).count();
    assert_eq!((left(&ours), left(&others)), (0, 3));
    assert!(!vaults.join(".new-0011223344556677").exists());
    assert_eq!(palace.words(&id), "words");
    palace.verifies();
}

//! Files are whole whatever happens.

use std::sync::atomic::AtomicBool;

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("listable")
        .map(|entry| entry.expect("entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn replace_writes_a_new_file_and_then_another_in_its_place() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("vault.json");
    replace(&path, b"one", 0o600).expect("new");
    replace(&path, b"second", 0o600).expect("again");
    assert_eq!(fs::read(&path).expect("there"), b"second");
    assert_eq!(names(folder.path()), ["vault.json"]);
}

#[test]
fn a_crash_before_the_rename_leaves_the_old_bytes() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("vault.json");
    replace(&path, b"old", 0o600).expect("new");
    // What a crash leaves: a finished temporary file that nobody renamed.
    Staged::write(&path, b"new", 0o600).expect("staged").disarm();
    assert_eq!(fs::read(&path).expect("there"), b"old");
    let left = names(folder.path());
    assert_eq!(left.len(), 2);
    assert_eq!(left.iter().filter(|name| is_temporary(OsStr::new(name))).count(), 1);
    replace(&path, b"new", 0o600).expect("the leftover is in nobody's way");
    assert_eq!(fs::read(&path).expect("there"), b"new");
}

#[test]
fn a_failed_replace_leaves_what_was_there_and_no_temporary_file() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("in-the-way");
    fs::create_dir(&path).expect("folder in the way");
    fs::write(path.join("inside"), b"x").expect("file");
    assert!(replace(&path, b"new", 0o600).is_err());
    assert_eq!(names(folder.path()), ["in-the-way"]);
    assert_eq!(names(&path), ["inside"]);
}

#[test]
fn create_new_refuses_an_existing_file_and_leaves_it_alone() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("master.key");
    create_new(&path, b"first", 0o600).expect("new");
    let error = create_new(&path, b"second", 0o600).expect_err("exists");
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).expect("there"), b"first");
    assert_eq!(names(folder.path()), ["master.key"]);
}

#[test]
fn of_many_racing_creators_exactly_one_wins() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("master.key");
    let wins: usize = std::thread::scope(|scope| {
        let racers: Vec<_> = (0_u8..8)
            .map(|i| {
                let path = &path;
                scope.spawn(move || usize::from(create_new(path, &[i; 32], 0o600).is_ok()))
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().expect("no panic")).sum()
    });
    assert_eq!(wins, 1);
    let bytes = fs::read(&path).expect("there");
    assert_eq!(bytes, vec![bytes[0]; 32]);
    assert_eq!(names(folder.path()), ["master.key"]);
}

#[test]
fn a_reader_sees_the_old_bytes_or_the_new_and_never_a_part() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("vault.json");
    replace(&path, &[0; 50_000], 0o600).expect("new");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                let bytes = fs::read(&path).expect("always there");
                assert_eq!(bytes, vec![bytes[0]; 50_000]);
            }
        });
        for version in 1..30 {
            replace(&path, &[version; 50_000], 0o600).expect("replaced");
        }
        done.store(true, Ordering::Release);
        reader.join().expect("never a part");
    });
}

#[test]
fn a_missing_folder_and_a_path_without_a_name_are_errors() {
    let folder = tempfile::tempdir().expect("folder");
    let missing = folder.path().join("missing").join("vault.json");
    assert_eq!(replace(&missing, b"x", 0o600).expect_err("missing").kind(), io::ErrorKind::NotFound);
    let error = replace(Path::new("/"), b"x", 0o600).expect_err("no name");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert!(sync_dir(&folder.path().join("missing")).is_err());
}

#[cfg(unix)]
#[test]
fn the_mode_is_exact_whatever_the_umask_and_the_old_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("shared");
    for mode in [0o666, 0o600, 0o644] {
        replace(&path, b"x", mode).expect("replaced");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o7777, mode);
    }
}

#[cfg(unix)]
#[test]
fn a_link_in_the_way_is_replaced_and_its_target_untouched() {
    let folder = tempfile::tempdir().expect("folder");
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    fs::write(&target, b"target").expect("file");
    std::os::unix::fs::symlink(&target, &link).expect("link");
    assert!(create_new(&link, b"new", 0o600).is_err());
    replace(&link, b"new", 0o600).expect("replaced");
    assert_eq!(fs::read(&target).expect("there"), b"target");
    assert_eq!(fs::read(&link).expect("there"), b"new");
}

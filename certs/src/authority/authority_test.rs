//! The CA's folder: what is made, renewed, kept, refused, and what a killed run leaves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use super::{Authority, Done, Request, Stage};
use crate::fixture::{At, Cluster, NOW, request};
use crate::{Error, Identity, Role, Tls, limits};

const YEAR: u64 = 365 * limits::DAY;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Every file below a folder, with its bytes.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            all.extend(contents(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            all.push((name, fs::read(path).unwrap()));
        }
    }
    all
}

fn node(name: &str) -> Request {
    request(Role::Node, name)
}

#[test]
fn the_first_run_makes_the_ca_and_the_second_finds_it() {
    let cluster = Cluster::new();
    let folder = cluster.path().join("deep/certs");
    assert!(matches!(Authority::open(cluster.path(), NOW), Err(Error::NoCa(_))));
    let (authority, made) = Authority::open_or_make(&folder, NOW).unwrap();
    assert!(made && authority.stage() == Stage::Steady && !authority.is_due(NOW));
    assert_eq!(names(&folder), [".lock", "ca.crt", "ca.key"]);
    assert_eq!((mode(&folder), mode(&folder.join("ca.key"))), (0o700, 0o600));
    drop(authority);
    let before = contents(&folder);
    assert!(!Authority::open_or_make(&folder, NOW).unwrap().1);
    assert_eq!(contents(&folder), before);
}

#[test]
fn a_certificate_has_what_was_asked_for_and_its_key_is_private() {
    let cluster = Cluster::new();
    let authority = cluster.authority();
    let (done, held) = authority.issue(&node("a"), false, NOW).unwrap();
    assert_eq!((done, held.identity.to_string().as_str()), (Done::Made, "node 'a'"));
    assert_eq!((held.not_before, held.not_after), (NOW - limits::CLOCK_SKEW, NOW + YEAR));
    assert_eq!((held.dns.as_slice(), held.ips.len()), (["localhost".to_owned()].as_slice(), 1));
    assert_eq!((held.last_day().as_str(), authority.last_day().as_str()), ("2027-09-21", "2036-09-18"));
    assert_eq!(held.folder, cluster.path().join("node-a"));
    assert_eq!(names(&held.folder), ["ca.crt", "tls.crt", "tls.key"]);
    assert_eq!((mode(&held.folder), mode(&held.folder.join("tls.key"))), (0o700, 0o600));
    assert_eq!(authority.held().unwrap(), std::slice::from_ref(&held));
    let tls = Tls::open(&held.folder, Role::Node, Arc::new(At(NOW))).unwrap();
    assert_eq!((tls.identity(), tls.not_after()), (held.identity, NOW + YEAR));
}

#[test]
fn a_certificate_is_kept_until_a_third_is_left_or_something_changes() {
    let cluster = Cluster::new();
    let authority = cluster.authority();
    let issue = |request: &Request, anew, now| authority.issue(request, anew, now).unwrap();
    issue(&node("a"), false, NOW);
    let before = contents(cluster.path());
    assert_eq!(issue(&node("a"), false, NOW + YEAR / 2).0, Done::Kept);
    assert_eq!(contents(cluster.path()), before);
    assert_eq!(issue(&node("a"), true, NOW).0, Done::Renewed);
    let bare = Request { dns: vec![], ips: vec![], ..node("a") };
    assert_eq!(issue(&bare, false, NOW).0, Done::Kept);
    let (done, held) = issue(&bare, false, NOW + YEAR * 7 / 10);
    assert_eq!((done, held.dns.len(), held.ips.len()), (Done::Renewed, 1, 1));
    let moved =
        Request { dns: vec!["b.example".into(), "a.example".into(), "a.example".into()], ..node("a") };
    let (done, held) = issue(&moved, false, NOW + YEAR);
    assert_eq!((done, held.dns), (Done::Renewed, vec!["a.example".to_owned(), "b.example".into()]));
    assert_eq!(issue(&moved, false, NOW + YEAR).0, Done::Kept);
}

#[test]
fn renewing_all_renews_what_is_due_and_nothing_else() {
    let cluster = Cluster::new();
    let authority = cluster.authority();
    authority.issue(&node("old"), false, NOW).unwrap();
    authority.issue(&node("new"), false, NOW + YEAR * 2 / 3).unwrap();
    let renewed = authority.renew(90, NOW + YEAR * 3 / 4).unwrap();
    let done: Vec<_> = renewed.iter().map(|(done, held)| (held.identity.name(), *done)).collect();
    assert_eq!(done, [("new", Done::Kept), ("old", Done::Renewed)]);
    assert_eq!(renewed[1].1.not_after, NOW + YEAR * 3 / 4 + 90 * limits::DAY);
}

#[test]
fn what_was_asked_wrongly_is_refused_and_leaves_nothing_behind() {
    let cluster = Cluster::new();
    let authority = cluster.authority();
    let before = contents(cluster.path());
    let refuse = |request: Request| authority.issue(&request, false, NOW).unwrap_err().to_string();
    let bare = Request { dns: vec![], ips: vec![], ..node("a") };
    assert!(refuse(bare).contains("--host"));
    for host in ["", "*.example", "A.example", "a b", "a..b", "127.0.0.1", "a:1", "ä.example"] {
        assert!(refuse(Request { dns: vec![host.into()], ..node("a") }).contains("host name"), "{host:?}");
    }
    for days in [0, limits::DAYS_MAX + 1] {
        assert!(refuse(Request { days, ..node("a") }).contains("--days"));
    }
    let many = (0..=limits::HOSTS).map(|at| format!("h{at}.example")).collect();
    assert!(refuse(Request { dns: many, ..node("a") }).contains("hosts"));
    assert_eq!(contents(cluster.path()), before);
    let admin =
        Request { identity: Identity::new(Role::Admin, "a").unwrap(), dns: vec![], ips: vec![], days: 1 };
    assert_eq!(authority.issue(&admin, false, NOW).unwrap().0, Done::Made);
}

#[test]
fn a_ca_is_made_only_where_nothing_else_is() {
    let cluster = Cluster::new();
    fs::write(cluster.path().join("notes.txt"), "mine").unwrap();
    assert!(matches!(Authority::open_or_make(cluster.path(), NOW), Err(Error::NotOurs { .. })));
    assert_eq!(names(cluster.path()), ["notes.txt"]);
    let operators = Cluster::new();
    fs::write(operators.path().join("ca.crt"), "theirs").unwrap();
    assert!(matches!(Authority::open_or_make(operators.path(), NOW), Err(Error::NoCaKey(_))));
    fs::write(operators.path().join("ca.key"), "theirs").unwrap();
    let refused = Authority::open_or_make(operators.path(), NOW);
    assert!(matches!(refused, Err(Error::Exposed { .. })));
    fs::set_permissions(operators.path().join("ca.key"), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(Authority::open_or_make(operators.path(), NOW), Err(Error::NotOurs { .. })));
    assert_eq!(fs::read(operators.path().join("ca.key")).unwrap(), b"theirs");
}

#[test]
fn the_key_of_another_ca_is_refused() {
    let (one, other) = (Cluster::new(), Cluster::new());
    drop((one.authority(), other.authority()));
    fs::copy(other.path().join("ca.key"), one.path().join("ca.key")).unwrap();
    assert!(matches!(Authority::open(one.path(), NOW), Err(Error::NotOurs { .. })));
}

#[test]
fn a_folder_that_this_ca_did_not_make_stays_as_it_is() {
    let (ours, others) = (Cluster::new(), Cluster::new());
    let theirs = others.issue(&node("a"), NOW);
    let authority = ours.authority();
    let folder = ours.path().join("node-a");
    let refused = |what: &str| {
        let before = contents(ours.path());
        for error in [
            authority.issue(&node("a"), true, NOW).unwrap_err(),
            authority.renew(1, NOW).unwrap_err(),
            authority.held().unwrap_err(),
        ] {
            assert!(matches!(&error, Error::NotOurs { .. }), "{what}: {error}");
            assert!(error.to_string().contains("move it away"), "{error}");
        }
        assert_eq!(contents(ours.path()), before, "{what}");
    };
    fs::create_dir(&folder).unwrap();
    refused("an empty folder");
    fs::write(folder.join("tls.crt"), "something").unwrap();
    refused("no certificate");
    for file in ["ca.crt", "tls.crt", "tls.key"] {
        fs::copy(theirs.join(file), folder.join(file)).unwrap();
    }
    refused("of another CA");
    let (_, other) = authority.issue(&node("b"), false, NOW).map_err(drop).unwrap();
    fs::copy(other.folder.join("tls.crt"), folder.join("tls.crt")).unwrap();
    refused("of another name");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "a file").unwrap();
    refused("a file");
}

#[test]
fn what_a_killed_run_left_is_completed() {
    let cluster = Cluster::new();
    let folder = cluster.issue(&node("a"), NOW);
    // Between the CA's two files: the certificate that is made again still signs what it signed.
    fs::remove_file(cluster.path().join("ca.crt")).unwrap();
    let authority = cluster.authority();
    assert!(authority.held().unwrap()[0].of_signer);
    // Between key and certificate.
    let (_, other) = authority.issue(&node("b"), false, NOW).unwrap();
    fs::copy(other.folder.join("tls.key"), folder.join("tls.key")).unwrap();
    assert_eq!(authority.issue(&node("a"), false, NOW).unwrap().0, Done::Renewed);
    fs::remove_file(folder.join("tls.key")).unwrap();
    assert_eq!(authority.issue(&node("a"), false, NOW).unwrap().0, Done::Renewed);
    assert!(Tls::open(&folder, Role::Node, Arc::new(At(NOW))).is_ok());
    // Before the folder had its name.
    fs::create_dir(cluster.path().join(".node-c.new")).unwrap();
    fs::write(cluster.path().join(".node-c.new/tls.key"), "half").unwrap();
    assert_eq!(authority.issue(&node("c"), false, NOW).unwrap().0, Done::Made);
    assert!(!names(cluster.path()).contains(&".node-c.new".to_owned()));
}

#[test]
fn two_runs_at_once_are_one_and_a_refusal() {
    let cluster = Cluster::new();
    let held = cluster.authority();
    assert!(matches!(Authority::open(cluster.path(), NOW), Err(Error::InUse(_))));
    drop(held);
    assert!(Authority::open(cluster.path(), NOW).is_ok());
}

#[test]
fn no_certificate_outlives_its_ca_and_the_ca_says_when_it_is_due() {
    let cluster = Cluster::new();
    let authority = cluster.authority();
    let end = authority.not_after();
    assert!(!authority.is_due(end - 3 * YEAR) && authority.is_due(end - 2 * YEAR));
    let (_, held) = authority.issue(&node("a"), false, end - 30 * limits::DAY).unwrap();
    assert_eq!(held.not_after, end);
    let refused = authority.issue(&node("b"), false, end - 100).unwrap_err();
    assert!(refused.to_string().contains("--renew-ca begin"), "{refused}");
    assert!(!cluster.path().join("node-b").exists());
}

#[test]
fn the_ca_is_renewed_in_three_stages_and_in_no_other_order() {
    let cluster = Cluster::new();
    let mut authority = cluster.authority();
    authority.issue(&node("a"), false, NOW).unwrap();
    let step = |result: Result<_, Error>| assert!(matches!(result, Err(Error::Step(_))));
    step(authority.switch(365, NOW));
    let certificates = |file: &str| {
        let text = fs::read_to_string(cluster.path().join("node-a").join(file)).unwrap();
        text.matches("BEGIN CERTIFICATE").count()
    };
    let old = authority.not_after();
    authority.begin(NOW + YEAR).unwrap();
    assert_eq!((authority.stage(), certificates("ca.crt")), (Stage::Begun, 2));
    assert_eq!(authority.not_after(), old);
    step(authority.finish());
    // What is made meanwhile is of the old CA, and trusts both.
    let (_, held) = authority.issue(&node("b"), false, NOW).unwrap();
    assert!(held.of_signer);
    let turned = authority.switch(365, NOW + YEAR / 2).unwrap();
    assert!(turned.iter().all(|(done, held)| *done == Done::Renewed && held.of_signer));
    assert_eq!((authority.stage(), certificates("ca.crt"), turned.len()), (Stage::Switched, 2, 2));
    assert_eq!(authority.not_after(), old + YEAR);
    step(authority.begin(NOW));
    authority.finish().unwrap();
    assert_eq!((authority.stage(), certificates("ca.crt")), (Stage::Steady, 1));
    assert_eq!(names(cluster.path()), [".lock", "ca.crt", "ca.key", "node-a", "node-b"]);
    drop(authority);
    assert_eq!(Authority::open(cluster.path(), NOW).unwrap().held().unwrap().len(), 2);
}

#[test]
fn a_renewal_that_was_killed_goes_on_with_the_same_command() {
    let cluster = Cluster::new();
    cluster.issue(&node("a"), NOW);
    let (trusted, of_a) = (cluster.path().join("ca.crt"), cluster.path().join("node-a/ca.crt"));
    let one = fs::read(&trusted).unwrap();
    let mut authority = cluster.authority();
    authority.begin(NOW).unwrap();
    let two = fs::read(&trusted).unwrap();
    drop(authority);
    // Before anybody trusts the key that was made: it must not sign.
    fs::write(&trusted, &one).unwrap();
    fs::write(&of_a, &one).unwrap();
    let mut authority = cluster.authority();
    assert!(matches!(authority.switch(365, NOW), Err(Error::Step(_))));
    authority.begin(NOW).unwrap();
    assert_eq!(fs::read(&of_a).unwrap(), fs::read(&trusted).unwrap());
    assert_eq!(fs::read(&trusted).unwrap().len(), two.len());
    drop(authority);
    // After the keys were switched and before anything was issued.
    fs::rename(cluster.path().join("ca-next.key"), cluster.path().join("ca.key")).unwrap();
    let mut authority = cluster.authority();
    assert!(!authority.held().unwrap()[0].of_signer);
    assert!(matches!(authority.finish(), Err(Error::Step(_))));
    assert_eq!(authority.switch(365, NOW).unwrap()[0].0, Done::Renewed);
    assert_eq!(authority.switch(365, NOW).unwrap()[0].0, Done::Kept);
    // After the last stage, before every folder had heard.
    authority.finish().unwrap();
    fs::write(&of_a, &two).unwrap();
    authority.finish().unwrap();
    assert_eq!(fs::read(&of_a).unwrap(), fs::read(&trusted).unwrap());
}

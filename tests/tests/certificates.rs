//! An operator's certificates: made, listed, renewed, refused; and the secrets of a fleet.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use undercroft_tests::support::{Palace, contents};

const NODE: [&str; 10] =
    ["cluster", "certs", "--cert-dir", "certs", "--role", "node", "--name", "a", "--host", "a.example"];

#[test]
fn the_first_certificate_makes_the_ca_and_says_what_to_keep() {
    let palace = Palace::empty();
    palace.run(&["cluster", "certs", "--cert-dir", "certs"]).refuses(1, "--role control");
    assert!(!palace.outside().join("certs").exists());
    let _ = palace.run(&NODE).ok().says("ca.key, stays there").says("made: node 'a' at a.example");
    for secret in ["certs/ca.key", "certs/node-a/tls.key"] {
        let mode = fs::metadata(palace.outside().join(secret)).expect("a key").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }
    assert!(!palace.root().exists(), "no installation is needed, and none is made");
    let again = palace.json(&NODE);
    assert_eq!((&again["ca"]["made"], &again["certificates"][0]["done"]), (&false.into(), &"kept".into()));
    let listed = palace.json(&["cluster", "certs", "--cert-dir", "certs"]);
    assert_eq!(listed["ca"]["stage"], "steady");
    let one = &listed["certificates"][0];
    assert_eq!((&one["role"], &one["name"], &one["due"]), (&"node".into(), &"a".into(), &false.into()));
    let _ = palace.run(&["cluster", "certs", "--cert-dir", "certs", "--renew"]).ok().says("kept: node 'a'");
    let [all @ .., _, _] = NODE;
    let anew: Vec<&str> = all.into_iter().chain(["--renew"]).collect();
    let _ = palace.run(&anew).ok().says("renewed: node 'a' at a.example").says("without a restart");
}

#[test]
fn the_ca_is_renewed_in_the_order_that_each_stage_names() {
    let palace = Palace::empty();
    let _ = palace.run(&NODE).ok();
    let stage = |stage| palace.run(&["cluster", "certs", "--cert-dir", "certs", "--renew-ca", stage]);
    stage("switch").refuses(1, "--renew-ca begin");
    let _ = stage("finish").ok().says("without a restart");
    let _ = stage("begin").ok().says("--renew-ca switch");
    stage("finish").refuses(1, "--renew-ca switch");
    let _ = stage("switch").ok().says("renewed: node 'a'").says("--renew-ca finish");
    stage("begin").refuses(1, "--renew-ca finish");
    let _ = stage("finish").ok().says("without a restart");
    let listed = palace.json(&["cluster", "certs", "--cert-dir", "certs"]);
    assert_eq!(
        (&listed["ca"]["stage"], &listed["certificates"][0]["due"]),
        (&"steady".into(), &false.into())
    );
}

#[test]
fn what_is_typed_wrongly_or_is_somebody_elses_is_refused_and_stays() {
    let palace = Palace::empty();
    let typed = |rest: &[&'static str]| {
        let all: Vec<&str> =
            ["cluster", "certs", "--cert-dir", "certs"].into_iter().chain(rest.iter().copied()).collect();
        palace.run(&all)
    };
    typed(&["--role", "king", "--name", "a"]).refuses(1, "control, node, router or admin");
    typed(&["--role", "node", "--name", "A"]).refuses(1, "small letters");
    typed(&["--role", "node", "--name", "a", "--host", "*"]).refuses(1, "host name");
    typed(&["--role", "node", "--name", "a", "--host", "a", "--days", "0"]).refuses(1, "--days");
    typed(&["--role", "node"]).refuses(1, "--name");
    typed(&["--renew", "--renew-ca", "begin"]).refuses(1, "--renew-ca");
    assert!(!palace.outside().join("certs").exists());
    typed(&["--role", "node", "--name", "a"]).refuses(1, "--host");
    let _ = palace.run(&NODE).ok();
    let _ = palace.file("certs/node-b/notes.txt", "mine");
    let before = contents(&palace.outside().join("certs"));
    typed(&["--role", "node", "--name", "b", "--host", "b"]).refuses(1, "move it away");
    typed(&["--renew"]).refuses(1, "move it away");
    assert_eq!(contents(&palace.outside().join("certs")), before);
    let _ = palace.file("others/notes.txt", "mine");
    palace
        .run(&["cluster", "certs", "--cert-dir", "others", "--role", "admin", "--name", "a"])
        .refuses(1, "empty");
    let refused = palace.run(&["cluster", "certs", "--cert-dir", "no", "--json"]).exits(1).json();
    assert_eq!(refused["class"], "not_found");
}

#[test]
fn secrets_are_printed_or_kept_in_a_new_file_of_the_owner() {
    let palace = Palace::empty();
    let _ = palace.run(&["keygen"]).ok().says("UNDERCROFT_ORCH_KEY=").says("UNDERCROFT_ORCH_ADMIN_TOKEN=");
    let drawn = palace.json(&["keygen"]);
    assert_eq!(drawn["key"].as_str().map(str::len), Some(64));
    assert_eq!(drawn["admin_token"].as_str().map(str::len), Some(48));
    assert_ne!(palace.json(&["keygen"])["key"], drawn["key"]);
    let _ = palace.run(&["keygen", "--out", "secrets"]).ok().says("secrets (0600)");
    let path = palace.outside().join("secrets");
    assert_eq!(fs::metadata(&path).expect("the file").permissions().mode() & 0o777, 0o600);
    let before = fs::read(&path).expect("the file");
    palace.run(&["keygen", "--out", "secrets"]).refuses(1, "refusing to overwrite");
    assert_eq!(fs::read(&path).expect("the file"), before);
    assert!(!palace.root().exists());
}

//! An operator's day: a fleet founded, looked at and changed by command, through whichever member, and what is refused.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use serde_json::{Value, json};
use undercroft_tests::support::{ADMIN_TOKEN, Fleet, Palace, Ran};

#[test]
fn a_tenant_lives_and_dies_by_command_through_any_member() {
    let fleet = Fleet::serving(3, 2, &["a", "b", "c"]);
    let made = fleet.at(1, &["tenant", "create", "Anna's shop", "--bytes", "4096", "--json"]).ok().json();
    let (id, token) =
        (made["tenant"]["id"].as_str().expect("an id"), made["token"].as_str().expect("a token"));
    assert_eq!((token.len(), &made["tenant"]["limits"]["bytes"]), (64, &json!(4096)));
    let listed = fleet.at(2, &["tenant", "list"]).ok().says("Anna's shop").says(id);
    assert!(!listed.stdout.contains(token), "a token is shown once");
    // By its name as by its id.
    let shown = fleet.json(&["tenant", "show", "Anna's shop"]);
    assert_eq!(shown, fleet.json(&["tenant", "show", id]));
    let told = fleet.at(1, &["tenant", "rotate", "Anna's shop"]).ok().says("token: ").says("shown this once");
    assert!(!told.stdout.contains(token), "another token");
    let _ = fleet.run(&["tenant", "limits", id, "--drawers", "9"]).ok().says("drawers:  9").says("no limit");
    let _ = fleet.run(&["tenant", "limits", id, "--none"]).ok().says("drawers:  no limit");
    let _ =
        fleet.run(&["tenant", "read", id, "eventual", "--lag-ms", "50"]).ok().says("at most 50 ms behind");
    let _ = fleet.run(&["tenant", "revoke", id]).ok().says("tenant rotate");
    let _ = fleet.run(&["tenant", "list"]).ok().says("revoked");
    fleet.run(&["tenant", "delete", id]).refuses(1, "--yes");
    let _ = fleet.at(2, &["tenant", "delete", "Anna's shop", "--yes"]).ok().says(id);
    let _ = fleet.run(&["tenant", "list"]).ok().says("tenant create");
    for rest in [&["show"][..], &["rotate"], &["revoke"], &["limits", "--none"], &["delete", "--yes"]] {
        for named in [id, "Anna's shop"] {
            let typed = [&["tenant", rest[0], named], &rest[1..]].concat();
            fleet.run(&typed).refuses(1, "undercroft tenant list");
        }
    }
}

#[test]
fn what_cannot_be_done_to_a_tenant_is_refused_with_its_reason() {
    let fleet = Fleet::serving(1, 1, &["a", "b", "c"]);
    let _ = fleet.run(&["tenant", "create", "one"]).ok();
    for (typed, says) in [
        (&["tenant", "create", "one"][..], "exists already"),
        (&["tenant", "create", " "], "name"),
        (&["tenant", "create", "two", "--level", "open"], "hmac-only"),
        (&["tenant", "create", "two", "--shard", "9"], "shard 9"),
        (&["tenant", "create", "two", "--instance", "nowhere"], "nowhere"),
        (&["tenant", "create", "two", "--instance", "a", "--shard", "1"], "--shard"),
        (&["tenant", "limits", "one"], "--none"),
        (&["tenant", "limits", "one", "--none", "--bytes", "1"], "--none"),
        (&["tenant", "read", "one", "eventual"], "lag_ms"),
        (&["tenant", "read", "one", "strong", "--lag-ms", "9"], "lag_ms"),
        (&["tenant", "read", "one", "sometimes"], "sometimes"),
        (&["tenant", "migrate", "one", "--to", "b"], "not implemented: tenant migrate"),
        (&["tenant", "list", "--limit", "0"], "--limit"),
        (&["tenant", "list", "--after", "x&limit=1"], "hex"),
        (&["tenant", "list", "--vault", "v"], "--vault"),
        (&["job", "show", "9"], "undercroft job list"),
        (&["job", "withdraw", "9"], "undercroft job list"),
        (&["node", "--data", "x"], "not implemented: node"),
    ] {
        fleet.run(typed).refuses(1, says);
    }
    assert_eq!(fleet.json(&["tenant", "list"])["tenants"].as_array().map(Vec::len), Some(1));
    let told = fleet.run(&["tenant", "create", "one", "--json"]).exits(1).json();
    assert_eq!(told["class"], "conflict");
    assert_eq!(fleet.run(&["tenant", "show", "two", "--json"]).exits(1).json()["class"], "not_found");
}

#[test]
fn what_is_printed_for_programs_is_the_reply_of_the_interface_itself() {
    let fleet = Fleet::serving(3, 2, &["a", "b", "c"]);
    for name in ["one", "two", "three"] {
        let _ = fleet.run(&["tenant", "create", name]).ok();
    }
    let first = fleet.json(&["tenant", "list", "-n", "1"]);
    let after = first["next"].as_str().expect("there is more");
    let _ = fleet.run(&["tenant", "list", "-n", "1"]).ok().says(&format!("--limit 1 --after {after}"));
    let behind = format!("/admin/tenants?limit=2&after={after}");
    for (typed, route) in [
        (&["cluster", "status"][..], "/admin/cluster"),
        (&["cluster", "member", "list"], "/admin/members"),
        (&["node", "list"], "/admin/instances"),
        (&["shard", "list"], "/admin/shards"),
        (&["shard", "show", "2"], "/admin/shards/2"),
        (&["tenant", "list"], "/admin/tenants?limit=100"),
        (&["tenant", "list", "-n", "2", "--after", after], &behind),
        (&["job", "list"], "/admin/jobs?limit=100"),
    ] {
        let all: Vec<&str> = typed.iter().copied().chain(["--json"]).collect();
        // A reading that falls into a change of the fleet is read again.
        let mut pairs = (0..20).map(|_| (fleet.at(1, &all).ok().stdout, fleet.get(1, route)));
        let same = pairs.find(|(printed, said)| said.status == 200 && printed.trim_end() == said.body);
        assert!(same.is_some(), "{typed:?}: {:?} is not {:?}", fleet.at(1, &all).stdout, fleet.get(1, route));
    }
    let _ = fleet.run(&["cluster", "status"]).ok().says("2, with 3 replicas each").says("MEMBER");
    let wide = fleet.run(&["shard", "list"]).ok();
    assert!(wide.stdout.lines().all(|line| line.chars().count() <= 100), "{wide}");
}

#[test]
fn a_node_is_drained_and_let_in_again_and_who_leads_is_said() {
    let fleet = Fleet::serving(1, 2, &["a", "b c", "d"]);
    let _ = fleet.run(&["node", "list"]).ok().says("b c").says("live").says("1.0 TiB");
    fleet.run(&["node", "remove", "a"]).refuses(1, "undercroft node drain");
    let _ = fleet.run(&["node", "drain", "b c", "--reason", "new disks"]).ok().says("shard list");
    let state = |name: &str| {
        let nodes = fleet.json(&["node", "list"]);
        let found = nodes["instances"].as_array().expect("nodes").iter().find(|node| node["name"] == name);
        found.expect("the node")["state"].clone()
    };
    assert_eq!((state("b c"), state("a")), (json!("drained"), json!("live")));
    let _ = fleet.run(&["node", "drain", "b c", "--undo"]).ok().says("live");
    assert_eq!(state("b c"), "live");
    for typed in [&["node", "drain", "e"][..], &["node", "drain", "e", "--undo"], &["node", "remove", "../x"]]
    {
        fleet.run(typed).refuses(1, "undercroft node list");
    }
    for node in ["a", "2"] {
        let shard = fleet.json(&["shard", "transfer", "1", node]);
        assert!(shard["preferred"].is_u64() && shard["id"] == 1, "{shard}");
    }
    let _ = fleet.run(&["shard", "show", "1"]).ok().says("should lead: ").says("voters:      1,2,3");
    fleet.run(&["shard", "transfer", "1", "e"]).refuses(1, "undercroft node list");
    fleet.run(&["shard", "transfer", "9", "a"]).refuses(1, "undercroft shard list");
    fleet.run(&["shard", "learner", "1", "a"]).refuses(1, "has a replica already");
}

#[test]
fn a_read_replica_is_given_and_taken_and_only_a_voter_leads() {
    let mut fleet = Fleet::serving(1, 1, &["a", "b", "c"]);
    fleet.join(&["d"]);
    let shard = fleet.json(&["shard", "show", "1"]);
    let voters = shard["voters"].as_array().expect("voters").clone();
    let other =
        (1..=4).find(|id| !voters.contains(&json!(id))).expect("a node that does not vote").to_string();
    fleet.run(&["shard", "transfer", "1", &other]).refuses(1, "does not vote");
    let learners = |answer: &Value| answer["learners"].as_array().map(Vec::len);
    assert_eq!(learners(&fleet.json(&["shard", "learner", "1", &other])), Some(1));
    assert_eq!(learners(&fleet.json(&["shard", "learner", "1", &other, "--remove"])), Some(0));
}

#[test]
fn a_member_enters_by_the_command_that_is_printed_and_is_taken_out_again() {
    let mut fleet = Fleet::new(1);
    let free =
        TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").to_string();
    let told = fleet.json(&["cluster", "member", "add", &free, "--data", "second"]);
    assert_eq!((&told["certificate"], &told["join"]), (&Value::Null, &json!([fleet.address(0)])));
    let command = told["command"].as_str().expect("a command").to_owned();
    let _ =
        fleet.run(&["cluster", "member", "add", &free]).ok().says(&format!("--join {}", fleet.address(0)));
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[0], "undercroft");
    fleet.start(&words[1..]);
    fleet.until_all_vote(2);
    let far = fleet.run(&["cluster", "member", "add", "c3.example.org:7800"]).ok().says("cluster certs");
    let _ = far.says("--role control --name c3-example-org --host c3.example.org").says("--cert-dir FOLDER");
    fleet.run(&["cluster", "member", "add", "c3;reboot:1"]).refuses(1, "host:port");
    fleet.run(&["cluster", "member", "remove", "7"]).refuses(1, "undercroft cluster member list");
    let _ = fleet.run(&["cluster", "member", "remove", "2"]).ok().says("never comes back");
    fleet.until_all_vote(1);
    fleet.run(&["cluster", "member", "remove", "1"]).refuses(1, "last member");
}

#[test]
fn before_it_is_founded_a_cluster_says_so_and_it_is_founded_once() {
    let fleet = Fleet::new(1);
    let _ = fleet.run(&["cluster", "status"]).ok().says("undercroft cluster init");
    let _ = fleet.run(&["shard", "list"]).ok().says("undercroft cluster init");
    let _ = fleet.run(&["node", "list"]).ok().says("joins by itself");
    let _ = fleet.run(&["job", "list"]).ok().says("No jobs");
    fleet.run(&["tenant", "create", "one"]).refuses(1, "undercroft cluster init");
    let kit = fleet.command(0, &["cluster", "recovery-kit", "--out", "kit"]);
    with_passphrase(kit, "twelve good words").refuses(1, "undercroft cluster init");
    assert!(!fleet.palace().outside().join("kit").exists());
    for (flag, value) in
        [("--shards", "0"), ("--shards", "5000"), ("--replicas", "2"), ("--witness-days", "0")]
    {
        fleet
            .run(&["cluster", "init", flag, value])
            .refuses(1, flag.trim_start_matches('-').split('-').next().expect("a word"));
    }
    let _ = fleet.run(&["cluster", "init", "--shards", "1", "--replicas", "1"]).ok().says("Cluster founded");
    fleet.run(&["cluster", "init"]).refuses(1, "initialised already");
    fleet.run(&["tenant", "create", "one"]).refuses(1, "undercroft node list");
}

fn with_passphrase(mut command: std::process::Command, passphrase: &str) -> Ran {
    command.env("UNDERCROFT_RECOVERY_PASSPHRASE", passphrase);
    Ran::new("…".into(), command.output().expect("the binary starts"))
}

#[test]
fn who_is_not_known_or_asks_in_the_wrong_place_is_told_what_to_correct() {
    let fleet = Fleet::new(1);
    let asked = |declared: &[(&str, &str)], more: &[&str]| {
        let typed: Vec<&str> = ["cluster", "status"].iter().chain(more).copied().collect();
        let mut command = fleet.command(0, &typed);
        command.envs(declared.iter().copied());
        Ran::new(format!("{declared:?} {typed:?}"), command.output().expect("the binary starts"))
    };
    let wrong = "ffffffffffffffffffffffff";
    asked(&[("UNDERCROFT_ADMIN_TOKEN", wrong)], &[]).refuses(1, "the token of UNDERCROFT_ADMIN_TOKEN;");
    asked(&[("UNDERCROFT_ORCH_ADMIN_TOKEN", wrong)], &[])
        .refuses(1, "the token of UNDERCROFT_ORCH_ADMIN_TOKEN;");
    let file = fleet.palace().file("token", format!("{wrong}\n"));
    let file = file.to_str().expect("a path");
    asked(&[], &["--admin-token-file", file]).refuses(1, "--admin-token-file");
    let good = fleet.palace().file("good", format!("A=1\nUNDERCROFT_ORCH_ADMIN_TOKEN={ADMIN_TOKEN}\n"));
    let good = good.to_str().expect("a path");
    let _ = asked(&[("UNDERCROFT_ADMIN_TOKEN", wrong)], &["--admin-token-file", good]).ok();
    let denied = asked(&[("UNDERCROFT_ADMIN_TOKEN", wrong)], &["--json"]).exits(1);
    assert_eq!(denied.json()["class"], "denied");
    assert!(!denied.stdout.contains(wrong), "{denied}");
    asked(&[("UNDERCROFT_ADMIN_TOKEN", "short")], &[]).refuses(1, "UNDERCROFT_ADMIN_TOKEN");
    asked(&[("UNDERCROFT_ADMIN_TOKEN", "")], &[]).refuses(1, "UNDERCROFT_ADMIN_TOKEN");
    asked(&[], &["--admin-url", "http://10.1.2.3:8900"]).refuses(1, "use https with --ca");
    asked(&[("UNDERCROFT_ADMIN_URL", "http://10.1.2.3:8900")], &[]).refuses(1, "UNDERCROFT_ADMIN_URL");
    asked(&[], &["--admin-url", "https://localhost:1"]).refuses(1, "UNDERCROFT_ADMIN_CA");
    asked(&[], &["--admin-url", "https://localhost:1", "--ca", "no.crt"]).refuses(1, "no.crt");
    asked(&[], &["--admin-url", "8900"]).refuses(1, "http://127.0.0.1:8900");
    asked(&[], &["--admin-url", &format!("{}/elsewhere", fleet.url(0))]).refuses(1, "another version");
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let told = asked(&[], &["--admin-url", &format!("http://{nobody}")]);
    told.clone().refuses(1, "UNDERCROFT_ADMIN_URL");
    told.refuses(1, &nobody.to_string());
    let palace = Palace::empty();
    palace.run(&["cluster", "status"]).refuses(1, "UNDERCROFT_ADMIN_TOKEN");
    let _ = palace.with("UNDERCROFT_ADMIN_TOKEN", ADMIN_TOKEN).run(&["cluster", "status"]).exits(1);
}

#[test]
fn over_https_a_member_is_asked_by_who_trusts_its_ca() {
    let mut fleet = Fleet::new(0);
    let certificate = |ca: &str| {
        let typed =
            ["cluster", "certs", "--cert-dir", ca, "--role", "control", "--name", "a", "--ip", "127.0.0.1"];
        let _ = fleet.palace().run(&typed).ok();
    };
    certificate("ca");
    certificate("other");
    let listen = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--cert-dir", "ca/control-a"];
    fleet.start(&[&["control-plane", "--data", "secured"][..], &listen].concat());
    assert!(fleet.url(0).starts_with("https://"), "{}", fleet.url(0));
    let status = |ca: &str| fleet.run(&["cluster", "status", "--ca", ca]);
    let _ = fleet.run(&["cluster", "init", "--ca", "ca/ca.crt"]).ok().says("Cluster founded");
    let _ = status("ca/ca.crt").ok().says("16, with 3 replicas each");
    status("other/ca.crt").refuses(1, "cannot be reached");
    status("ca/control-a/tls.key").refuses(1, "tls.key");
    fleet.run(&["cluster", "status"]).refuses(1, "UNDERCROFT_ADMIN_CA");
    let plain = fleet.url(0).replace("https://", "http://");
    fleet.run(&["cluster", "status", "--admin-url", &plain]).refuses(1, "did not answer");
}

#[test]
fn a_stranger_that_answers_is_no_fleet() {
    for (answer, says) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", "not as an Admin API"),
        ("HTTP/1.1 302 Found\r\nlocation: /login\r\ncontent-length: 0\r\n\r\n", "status 302"),
        ("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n", "status 502"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{}", "unknown"),
        ("SSH-2.0-OpenSSH\r\n", "unknown"),
        (
            "HTTP/1.1 409 Conflict\r\ncontent-length: 38\r\n\r\n{\"error\": \"no\u{1b}[2J\", \"class\": \"conflict\"}",
            "no",
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let stranger = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut head = [0; 4096];
            let read = stream.read(&mut head).expect("a request");
            // The command may go before it has read everything.
            let _ = stream.write_all(answer.as_bytes());
            String::from_utf8_lossy(&head[..read]).into_owned()
        });
        let palace = Palace::empty().with("UNDERCROFT_ADMIN_TOKEN", ADMIN_TOKEN);
        let ran = palace.run(&["node", "list", "--admin-url", &url]);
        assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains(ADMIN_TOKEN), "{ran}");
        ran.refuses(1, says);
        assert!(stranger.join().expect("a stranger").starts_with("GET /admin/instances HTTP/1.1"));
    }
}

#[test]
fn the_join_key_follows_from_the_master_key_and_is_its_owner_s_alone() {
    let empty = Palace::empty();
    empty.run(&["cluster", "join-key"]).refuses(1, "undercroft init");
    assert!(!empty.root().exists());
    let palace = Palace::new();
    let key = palace.json(&["cluster", "join-key"])["join_key"].as_str().expect("a key").to_owned();
    assert!(key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
    assert_eq!(palace.run(&["cluster", "join-key"]).ok().stdout.trim_end(), key);
    let written = palace.run(&["cluster", "join-key", "--out", "join.key"]).ok().says("--join-key-file");
    assert!(!written.stdout.contains(&key));
    let path = palace.outside().join("join.key");
    assert_eq!(fs::read_to_string(&path).expect("a file").trim_end(), key);
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    palace.run(&["cluster", "join-key", "--out", "join.key"]).refuses(1, "refusing to overwrite");
    assert_ne!(Palace::new().json(&["cluster", "join-key"])["join_key"], json!(key));
    let master = fs::read(palace.root().join("master.key")).expect("a key");
    assert!(!key.contains(&master.iter().map(|byte| format!("{byte:02x}")).collect::<String>()));
}

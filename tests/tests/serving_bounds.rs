//! What a server holds and whom it lets wait: many vaults with few files, and a hammered vault beside a quiet one. Nothing here
//! measures time.

use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::json;
use undercroft_tests::support::{Client, PATIENCE, Palace, Served};

/// Files that the small server may have open: room for thirteen vaults.
const FILES: u64 = 1_024;
/// Vaults that are touched in turn.
const VAULTS: usize = 300;
/// More saves than one transaction takes and than may wait for one vault, and fewer than the connections of a server.
const HAMMERS: usize = 420;

fn save(client: &mut Client, vault: &str, text: &str) -> u16 {
    let body = json!({ "text": text }).to_string();
    let path = format!("/v1/vaults/{vault}/drawers");
    client.send("POST", &path, &[], &body).expect("an answer").status
}

fn found(client: &mut Client, vault: &str, query: &str) -> usize {
    let body = json!({ "query": query }).to_string();
    let path = format!("/v1/vaults/{vault}/search");
    let reply = client.send("POST", &path, &[], &body).expect("an answer").expect(200);
    reply["hits"].as_array().expect("hits").len()
}

#[test]
fn three_hundred_vaults_are_served_in_turn_with_few_files() {
    let palace = Palace::new();
    let server = Served::with_files(&palace, FILES);
    let mut client = server.client();
    for n in 0..VAULTS {
        let body = json!({ "id": format!("v{n}") }).to_string();
        assert_eq!(client.send("POST", "/v1/vaults", &[], &body).expect("an answer").status, 201);
        assert_eq!(save(&mut client, &format!("v{n}"), "the key hangs behind the map"), 200);
    }
    let mut most = 0;
    for n in 0..VAULTS {
        assert_eq!(found(&mut client, &format!("v{n}"), "where is the key"), 1);
        most = most.max(server.files());
    }
    let ready = client.send("GET", "/readyz", &[], "").expect("an answer").expect(200);
    let open = ready["open_vaults"].as_u64().expect("a count");
    assert!((1..=13).contains(&open), "{ready}");
    // Far below the limit: what one vault uses is less than what is reserved for it, and connections are few.
    assert!(most < usize::try_from(FILES).expect("a small number") / 2, "{most} files");
    let _ = server.stop();
}

/// One save each, at the same time; their statuses as they come.
fn hammer(server: &Served, vault: &'static str) -> Receiver<u16> {
    let (answered, statuses) = channel();
    for n in 0..HAMMERS {
        let (mut client, answered) = (server.client(), answered.clone());
        thread::spawn(move || {
            // The test may have failed meanwhile.
            let _ = answered.send(save(&mut client, vault, &format!("hammer {n}")));
        });
    }
    statuses
}

#[test]
fn a_hammered_vault_turns_its_own_clients_away_and_no_others() {
    let palace = Palace::new();
    for vault in ["loud", "quiet"] {
        let _ = palace.run(&["vault", "create", vault]).ok();
    }
    let server = Served::start(&palace);
    let mut client = server.client();
    for vault in ["loud", "quiet"] {
        assert_eq!(save(&mut client, vault, "the key hangs behind the map"), 200);
    }
    // Somebody holds the database of the one vault, so that its writes wait for as long as this test wants.
    let held = rusqlite::Connection::open(palace.root().join("vaults/loud/vault.db")).expect("the file");
    held.execute_batch("BEGIN IMMEDIATE").expect("held");
    let statuses = hammer(&server, "loud");
    let turned_away = |status: u16| status == 429 || status == 503;
    let first = statuses.recv_timeout(PATIENCE).expect("the queue of one vault is bounded");
    assert!(turned_away(first), "{first}");
    for n in 0..20 {
        assert_eq!(save(&mut client, "quiet", &format!("quiet {n}")), 200);
        assert!(found(&mut client, "quiet", "where is the key") > 0);
        // What is read from the held one is not in the way of its writes, either.
        assert!(found(&mut client, "loud", "where is the key") > 0);
    }
    held.execute_batch("ROLLBACK").expect("released");
    let mut kept = 1;
    for _ in 1..HAMMERS {
        match statuses.recv_timeout(PATIENCE).expect("everybody is answered") {
            200 => kept += 1,
            status => assert!(turned_away(status), "{status}"),
        }
    }
    let stats = client.send("GET", "/v1/vaults/loud/stats", &[], "").expect("an answer").expect(200);
    assert_eq!(
        stats["records"], kept,
        "a write that was turned away happened, or one that was answered did not"
    );
    let _ = server.stop();
}

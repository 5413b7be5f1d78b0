//! A server killed again and again while clients save, change, delete and search. What was not answered is sent again under its
//! key to the next server. Every write that was answered is there, none happened twice, and the vaults verify.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use serde_json::json;
use undercroft_tests::support::{Client, PATIENCE, Palace, Random, Served};

/// Times that a server under load is killed.
const KILLS: usize = 50;
/// Clients at once, and the vaults that they share.
const CLIENTS: usize = 6;
const VAULTS: [&str; 2] = ["first", "second"];
/// A server is killed after so many answers at most.
const ANSWERS: usize = 120;

/// One change, as it is sent and sent again.
#[derive(Debug, Clone)]
enum Asked {
    Save { text: String },
    Update { id: String, text: String },
    Delete { id: String },
}

/// One client through all servers. Its drawers are its own.
struct Caller {
    name: usize,
    random: Random,
    asked: usize,
    /// What was sent and not answered.
    open: Option<(String, Asked)>,
    known: BTreeMap<String, String>,
    gone: Vec<String>,
}

impl Caller {
    fn new(name: usize, seed: u64) -> Self {
        let random = Random::new(seed.wrapping_add(name as u64));
        Self { name, random, asked: 0, open: None, known: BTreeMap::new(), gone: Vec::new() }
    }

    fn vault(&self) -> &'static str {
        VAULTS[self.name % VAULTS.len()]
    }

    /// Asks until the connection ends.
    fn run(&mut self, address: SocketAddr, answered: &Sender<()>) {
        let Ok(mut client) = Client::connect(address) else { return };
        while self.once(&mut client).is_ok() {
            // Nobody counts any more once the server is killed.
            let _ = answered.send(());
        }
    }

    fn once(&mut self, client: &mut Client) -> std::io::Result<()> {
        if self.open.is_none() && self.random.below(3) == 0 {
            let body = json!({ "query": format!("caller {} number {}", self.name, self.asked) }).to_string();
            let path = format!("/v1/vaults/{}/search", self.vault());
            assert_eq!(client.send("POST", &path, &[], &body)?.status, 200);
            return Ok(());
        }
        if self.open.is_none() {
            self.asked += 1;
            self.open = Some((format!("key-{}-{}", self.name, self.asked), self.next()));
        }
        let (key, asked) = self.open.clone().expect("just made");
        let drawers = format!("/v1/vaults/{}/drawers", self.vault());
        let headers = [("Idempotency-Key", key.as_str())];
        match asked {
            Asked::Save { text } => {
                let body = json!({ "text": text, "wing": "load" }).to_string();
                let reply = client.send("POST", &drawers, &headers, &body)?.expect(200);
                self.known.insert(reply["id"].as_str().expect("an id").to_owned(), text);
            }
            Asked::Update { id, text } => {
                let body = json!({ "text": text }).to_string();
                let reply = client.send("PUT", &format!("{drawers}/{id}"), &headers, &body)?.expect(200);
                assert_eq!(reply["updated"], true);
                self.known.insert(id, text);
            }
            Asked::Delete { id } => {
                let reply = client.send("DELETE", &format!("{drawers}/{id}"), &headers, "")?.expect(200);
                assert_eq!(reply["deleted"], true);
                self.known.remove(&id);
                self.gone.push(id);
            }
        }
        self.open = None;
        Ok(())
    }

    fn next(&mut self) -> Asked {
        let text = format!("caller {} number {} {}", self.name, self.asked, "and more words ".repeat(10));
        let ids: Vec<String> = self.known.keys().cloned().collect();
        match self.random.below(6) {
            0 if !ids.is_empty() => Asked::Delete { id: self.random.pick(&ids).clone() },
            1 | 2 if !ids.is_empty() => Asked::Update { id: self.random.pick(&ids).clone(), text },
            _ => Asked::Save { text },
        }
    }

    /// Sends again what was not answered.
    fn settle(&mut self, client: &mut Client) {
        while self.open.is_some() {
            self.once(client).expect("an answer");
        }
    }

    /// What was answered is what is there.
    fn check(&self, client: &mut Client) {
        for (id, text) in &self.known {
            let path = format!("/v1/vaults/{}/drawers/{id}", self.vault());
            let found = client.send("GET", &path, &[], "").expect("an answer").expect(200);
            assert_eq!(found["drawer"]["content"], *text, "{id}");
        }
        for id in &self.gone {
            let path = format!("/v1/vaults/{}/drawers/{id}", self.vault());
            assert_eq!(client.send("GET", &path, &[], "").expect("an answer").status, 404, "{id} is back");
        }
    }
}

/// One server under load, until it is killed after `answers` answers.
fn round(palace: &Palace, callers: &mut [Caller], answers: usize) {
    let server = Served::start(palace);
    let address = server.address;
    let (answered, counted) = channel();
    thread::scope(|scope| {
        for caller in callers.iter_mut() {
            let answered = answered.clone();
            scope.spawn(move || caller.run(address, &answered));
        }
        for _ in 0..answers {
            counted.recv_timeout(PATIENCE).expect("answers");
        }
        let _ = server.kill();
    });
}

fn check(palace: &Palace, callers: &mut [Caller]) {
    let server = Served::start(palace);
    let mut client = server.client();
    let mut records: BTreeMap<&str, u64> = VAULTS.map(|vault| (vault, 0)).into();
    for caller in callers {
        caller.settle(&mut client);
        caller.check(&mut client);
        *records.get_mut(caller.vault()).expect("a vault") += caller.known.len() as u64;
    }
    for (vault, expected) in records {
        let verdict = client.send("POST", &format!("/v1/vaults/{vault}/verify"), &[], "").expect("an answer");
        assert_eq!(verdict.expect(200)["ok"], true);
        let stats = client.send("GET", &format!("/v1/vaults/{vault}/stats"), &[], "").expect("an answer");
        assert_eq!(stats.expect(200)["records"], expected, "something happened twice, or came from nowhere");
    }
    let _ = server.stop();
}

#[test]
fn fifty_kills_under_load_lose_no_answered_write_and_repeat_none() {
    let palace = Palace::new();
    for vault in VAULTS {
        let _ = palace.run(&["vault", "create", vault]).ok();
    }
    let mut callers: Vec<_> = (0..CLIENTS).map(|name| Caller::new(name, 0x5eed_0002)).collect();
    let mut random = Random::new(0x5eed_0003);
    for kill in 1..=KILLS {
        round(&palace, &mut callers, 1 + random.below(ANSWERS));
        if kill % 10 == 0 {
            check(&palace, &mut callers);
        }
    }
    for vault in VAULTS {
        let _ = palace.run(&["verify", "--vault", vault]).ok().says("VERIFY OK");
    }
}

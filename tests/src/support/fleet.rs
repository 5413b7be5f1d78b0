//! A fleet of the real binary: members of a control group as processes of their own, stand-ins for nodes, and commands that ask
//! there.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use serde_json::Value;

use super::{Answered, Client, PATIENCE, Palace, Ran, binary};

/// The operator's token of every fleet here.
pub const ADMIN_TOKEN: &str = "0123456789abcdef0123456789abcdef";
const KEY: &str = "4242424242424242424242424242424242424242424242424242424242424242";

/// A control group, and nodes that say they are there. Dropping it kills them.
#[derive(Debug)]
pub struct Fleet {
    palace: Palace,
    members: Vec<Member>,
    nodes: Vec<Child>,
}

/// A running member.
#[derive(Debug)]
struct Member {
    child: Child,
    address: String,
    /// Where its Admin API is.
    url: String,
}

impl Fleet {
    /// So many members, all of which vote. The cluster is not founded yet.
    ///
    /// # Panics
    /// When a member does not start.
    #[must_use]
    pub fn new(members: usize) -> Self {
        let palace =
            Palace::new().with("UNDERCROFT_ORCH_KEY", KEY).with("UNDERCROFT_ORCH_ADMIN_TOKEN", ADMIN_TOKEN);
        let _ = palace.run(&["cluster", "join-key", "--out", "join.key"]).ok();
        let mut fleet = Self { palace, members: Vec::new(), nodes: Vec::new() };
        for number in 1..=members {
            let data = format!("member-{number}");
            let mut arguments = vec!["control-plane", "--data", &data, "--listen", "127.0.0.1:0"];
            arguments.extend(["--admin-listen", "127.0.0.1:0", "--join-key-file", "join.key"]);
            let first = fleet.members.first().map(|member| member.address.clone());
            if let Some(first) = &first {
                arguments.extend(["--join", first]);
            }
            fleet.start(&arguments);
            fleet.until_all_vote(number);
        }
        fleet
    }

    /// The same, founded, with these nodes live and every shard placed.
    #[must_use]
    pub fn serving(members: usize, shards: u32, nodes: &[&str]) -> Self {
        let mut fleet = Self::new(members);
        let _ = fleet.run(&["cluster", "init", "--shards", &shards.to_string()]).ok();
        fleet.join(nodes);
        fleet
    }

    /// Starts a member with these arguments of the binary.
    ///
    /// # Panics
    /// When it does not say where it listens.
    pub fn start(&mut self, arguments: &[&str]) {
        let mut child =
            self.palace.command(arguments).stdout(Stdio::null()).spawn().expect("the binary starts");
        let (found, listening) = channel();
        let stderr = child.stderr.take().expect("its standard error");
        thread::spawn(move || {
            let mut before = String::new();
            for line in BufReader::new(stderr).lines() {
                let line = line.unwrap_or_default();
                let said = line.strip_prefix("Control plane: members and nodes on ");
                // The test may have given up; what is written is read on, so that the member is never held up.
                let _ = match said.and_then(|said| said.split_once(", operators on ")) {
                    Some((address, url)) => found.send(Ok((address.to_owned(), url.to_owned()))),
                    None => Ok(()),
                };
                before.push_str(&line);
                before.push('\n');
            }
            let _ = found.send(Err(before));
        });
        match listening.recv_timeout(PATIENCE).expect("it starts or ends") {
            Ok((address, url)) => self.members.push(Member { child, address, url }),
            Err(told) => panic!("a member ended:\n{told}"),
        }
    }

    /// Kills a member as a failing machine would.
    ///
    /// # Panics
    /// When there is no such member.
    pub fn kill(&mut self, member: usize) {
        self.members[member].child.kill().expect("killed");
        self.members[member].child.wait().expect("it ended");
    }

    /// Stands in for nodes of these names, and waits until they are live and every shard is placed and led.
    ///
    /// # Panics
    /// When they do not come to be.
    pub fn join(&mut self, names: &[&str]) {
        let mut command = Command::new(stand_in());
        command.arg(&self.members[0].address).arg(self.palace.root().join("master.key")).args(names);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        self.nodes.push(command.spawn().expect("a stand-in"));
        self.until("every shard is placed", &["shard", "list"], |answer| {
            let shards = answer["shards"].as_array().expect("shards");
            shards
                .iter()
                .all(|shard| shard["voters"] != serde_json::json!([]) && !shard["preferred"].is_null())
        });
        self.until("every node is live", &["node", "list"], |answer| {
            let nodes = answer["instances"].as_array().expect("nodes");
            names.iter().all(|name| nodes.iter().any(|node| node["name"] == *name && node["state"] == "live"))
        });
    }

    /// Waits until so many members are in and vote.
    pub fn until_all_vote(&self, members: usize) {
        self.until("everybody votes", &["cluster", "status"], |answer| {
            let list = answer["members"].as_array().expect("members");
            list.len() == members && list.iter().all(|member| member["votes"] == true)
        });
    }

    /// Asks again and again until the answer is as it should be. Each time a process starts, so nothing spins.
    ///
    /// # Panics
    /// When it never is.
    pub fn until(&self, what: &str, arguments: &[&str], so: impl Fn(&Value) -> bool) {
        let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let began = Instant::now();
        loop {
            let ran = self.run(&all);
            if ran.code == Some(0) && so(&ran.json()) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{what}\n{ran}");
        }
    }

    /// The palace whose master key the nodes hold, and in whose folder commands run.
    #[must_use]
    pub fn palace(&self) -> &Palace {
        &self.palace
    }

    /// Where a member's Admin API is.
    #[must_use]
    pub fn url(&self, member: usize) -> &str {
        &self.members[member].url
    }

    /// Where others reach a member.
    #[must_use]
    pub fn address(&self, member: usize) -> &str {
        &self.members[member].address
    }

    /// A command that asks a member and has not started.
    #[must_use]
    pub fn command(&self, member: usize, arguments: &[&str]) -> Command {
        let mut command = self.palace.command(arguments);
        command.env("UNDERCROFT_ADMIN_URL", self.url(member));
        command
    }

    /// Runs a command that asks a member.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn at(&self, member: usize, arguments: &[&str]) -> Ran {
        let output = self.command(member, arguments).output().expect("the binary starts");
        Ran::new(arguments.join(" "), output)
    }

    /// Runs a command that asks the first member.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.at(0, arguments)
    }

    /// Runs a command that must succeed, and reads what it printed as JSON.
    #[must_use]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        self.run(&all).ok().json()
    }

    /// Reads a route of a member without the command line.
    ///
    /// # Panics
    /// When it does not answer.
    #[must_use]
    pub fn get(&self, member: usize, route: &str) -> Answered {
        let address = self.url(member).trim_start_matches("http://").parse().expect("an address");
        let token = format!("Bearer {ADMIN_TOKEN}");
        let mut client = Client::connect(address).expect("a connection");
        client.send("GET", route, &[("Authorization", &token)], "").expect("an answer")
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for child in self.nodes.iter_mut().chain(self.members.iter_mut().map(|member| &mut member.child)) {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The path of the stand-in for nodes, built from this tree as the binary is.
fn stand_in() -> PathBuf {
    const NAME: &str = "node_stand_in";
    let profile = binary().parent().expect("a profile's folder");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(crate::tree::root()).args(["build", "--quiet", "--workspace", "--example", NAME]);
    cargo.arg("--target-dir").arg(profile.parent().expect("a target folder"));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let output = cargo.output().expect("cargo runs");
    assert!(output.status.success(), "{NAME}:\n{}", String::from_utf8_lossy(&output.stderr));
    profile.join("examples").join(format!("{NAME}{}", std::env::consts::EXE_SUFFIX))
}

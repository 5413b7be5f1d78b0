//! What a watcher makes of its replies is the map, however large it is, whatever changes meanwhile, wherever it begins.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt;
use tokio::sync::{Semaphore, watch};
use tonic::Status;
use undercroft_proto::wire::control::map_change::Change;
use undercroft_proto::wire::control::{MapChange, WatchReply};

use super::{Audience, Watcher, convert};
use crate::keys::GroupKey;
use crate::limits;
use crate::raft::SharedMap;
use crate::state::fixture::{START, create, serving};
use crate::state::{Batch, Command, State, TenantCommand};

fn told() -> convert::Told {
    convert::Told { tenants: true, key: Arc::new(GroupKey::new([4; 32])) }
}

/// What a watcher keeps.
#[derive(Default)]
struct Copy {
    things: BTreeMap<String, MapChange>,
    version: u64,
    partial: bool,
    resets: usize,
}

fn key(change: &MapChange) -> (String, bool) {
    match change.change.as_ref().expect("a change") {
        Change::Keys(_) => ("k".into(), true),
        Change::Node(node) => (format!("n{}", node.node), true),
        Change::NodeGone(node) => (format!("n{node}"), false),
        Change::Shard(shard) => (format!("s{}", shard.shard), true),
        Change::Vault(vault) => (format!("v{:?}", vault.vault), true),
        Change::VaultGone(vault) => (format!("v{vault:?}"), false),
        Change::Tenant(tenant) => (format!("t{}", tenant.tenant), true),
        Change::TenantGone(tenant) => (format!("t{tenant}"), false),
    }
}

impl Copy {
    fn take(&mut self, reply: WatchReply) {
        assert!(reply.changes.len() <= limits::WATCH_PIECE);
        if reply.reset {
            self.things.clear();
            self.resets += 1;
        }
        for change in reply.changes {
            match key(&change) {
                (key, true) => drop(self.things.insert(key, change)),
                (key, false) => drop(self.things.remove(&key)),
            }
        }
        self.partial = reply.partial;
        self.version = reply.map_version;
    }

    /// Whether it is the map of this state, for one who is told of tenants.
    fn is(&self, state: &State) -> bool {
        let all = state.whole_map().filter_map(|change| convert::change(&change, &told()));
        let all: BTreeMap<String, MapChange> = all.map(|change| (key(&change).0, change)).collect();
        !self.partial && self.version == state.version() && self.things == all
    }
}

struct World {
    map: SharedMap,
    stop: watch::Sender<bool>,
    places: Arc<Semaphore>,
    tenants: u64,
}

impl World {
    fn new(tenants: u64) -> Self {
        let mut world = Self {
            map: SharedMap::of(serving(3)),
            stop: watch::channel(false).0,
            places: Arc::new(Semaphore::new(4)),
            tenants: 0,
        };
        for _ in (0..tenants).step_by(200) {
            world.create(200);
        }
        world
    }

    /// So many tenants in one entry.
    fn create(&mut self, count: u64) {
        let commands = (self.tenants..self.tenants + count).map(create);
        self.map.decide(&Batch::of(START + 9, commands));
        self.tenants += count;
    }

    fn delete_one(&self) {
        let tenant = self.map.read(|state| state.tenants().iter().next().expect("a tenant").id);
        self.map.decide(&Batch::of(START + 9, [Command::Tenant(TenantCommand::Delete { tenant })]));
    }

    fn watch(&self, have: u64) -> futures_util::stream::BoxStream<'static, Result<WatchReply, Status>> {
        let place = self.places.clone().try_acquire_owned().expect("a place");
        Box::pin(
            Watcher::new(
                self.map.clone(),
                (have, Audience::Router, told().key),
                self.stop.subscribe(),
                place,
            )
            .stream(),
        )
    }

    /// Takes replies until the copy is the map.
    async fn settle(
        &self,
        copy: &mut Copy,
        stream: &mut (impl StreamExt<Item = Result<WatchReply, Status>> + Unpin),
    ) {
        while !self.map.read(|state| copy.is(state)) {
            copy.take(stream.next().await.expect("a reply").expect("no refusal"));
        }
    }
}

#[tokio::test]
async fn a_large_map_that_changes_while_it_is_told_arrives_whole() {
    let mut world = World::new(1000);
    let (mut copy, mut stream) = (Copy::default(), world.watch(0));
    for step in 0..5 {
        copy.take(stream.next().await.expect("a reply").expect("no refusal"));
        assert!(copy.partial, "nothing may be acted on after {step}");
        world.create(3);
        world.delete_one();
    }
    world.settle(&mut copy, &mut stream).await;
    assert_eq!(copy.resets, 1);
    world.create(1);
    world.settle(&mut copy, &mut stream).await;
    assert_eq!(copy.resets, 1, "then only deltas");
}

#[tokio::test]
async fn a_watcher_goes_on_from_its_version_without_the_whole_map() {
    let mut world = World::new(200);
    let (mut copy, mut stream) = (Copy::default(), world.watch(0));
    world.settle(&mut copy, &mut stream).await;
    drop(stream);
    world.create(700);
    world.delete_one();
    let mut again = world.watch(copy.version);
    world.settle(&mut copy, &mut again).await;
    assert_eq!(copy.resets, 1, "no second whole map");
}

#[tokio::test]
async fn a_slow_watcher_is_told_the_whole_map_again_and_costs_nothing_meanwhile() {
    let mut world = World::new(200);
    let (mut copy, mut stream) = (Copy::default(), world.watch(0));
    world.settle(&mut copy, &mut stream).await;
    for _ in 0..=limits::WATCH_DELTAS {
        world.create(1);
        world.delete_one();
    }
    world.settle(&mut copy, &mut stream).await;
    assert_eq!(copy.resets, 2);
}

#[tokio::test]
async fn a_watcher_that_is_ahead_or_at_a_member_that_stops_is_sent_away() {
    let world = World::new(0);
    let ahead = world.map.read(State::version) + 1;
    let mut stream = world.watch(ahead);
    let refused = stream.next().await.expect("a refusal").expect_err("it is ahead");
    assert_eq!(refused.code(), tonic::Code::Unavailable);
    assert!(stream.next().await.is_none(), "and the stream ends");
    let (mut copy, mut stream) = (Copy::default(), world.watch(0));
    world.settle(&mut copy, &mut stream).await;
    world.stop.send_replace(true);
    stream.next().await.expect("a refusal").expect_err("it stops");
    assert!(stream.next().await.is_none());
    drop(stream);
    assert_eq!(world.places.available_permits(), 4, "every place is free again");
}

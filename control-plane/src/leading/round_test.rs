//! The loop by a clock that stands until it is moved.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::watch;
use undercroft_proto::{MemberId, NodeId};

use super::{run, tick};
use crate::keys::GroupKey;
use crate::limits;
use crate::plan::Contact;
use crate::ports::test::{ManualClock, manual, ports};
use crate::raft::{Connect, Member, MemberConfig};
use crate::service::{Desk, Lead, Peers};
use crate::state::fixture::join;
use crate::state::{Batch, ClusterCommand, Command, Health, Load, Settings};

const PATIENCE: Duration = Duration::from_secs(20);

/// One member that leads a founded cluster with a node.
struct World {
    _folder: TempDir,
    desk: Desk,
    lead: Lead,
    clock: Arc<ManualClock>,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let me = MemberId::FIRST;
        let member =
            Member::create(MemberConfig::plain(folder.path().join("1"), me)).await.expect("a member");
        member.found(BTreeMap::from([(me, "127.0.0.1:1".to_owned())])).await.expect("founded");
        member.raft().wait(Some(PATIENCE)).current_leader(1, "it leads").await.expect("it leads");
        let settings = Settings { id: [7; 16], salt: 11, replicas: 1, witness_days: 7 };
        let found = Command::Cluster(ClusterCommand::Initialise { settings, shards: 1 });
        member.propose(&Batch::of(1, [found, join("n1", None, 1)])).await.expect("decided");
        let clock = manual();
        let (peers, key) = (Peers::new(Connect::plain()), Arc::new(GroupKey::new([4; 32])));
        let desk = Desk { member: Arc::new(member), peers, ports: ports(clock.clone()), key };
        Self { _folder: folder, desk, lead: Lead::default(), clock }
    }

    async fn tick(&self) {
        tick(&self.desk, &self.lead).await.expect("a look");
    }

    /// The node is heard now.
    fn hear(&self) {
        let at = self.desk.ports.clock.elapsed_ms();
        let contact = Contact { at, load: Load::default(), replicas: BTreeMap::new(), map_version: 0 };
        assert!(self.lead.heard(NodeId::FIRST, contact));
    }

    fn health(&self) -> Health {
        self.desk.member.map().read(|state| state.nodes().get(NodeId::FIRST).expect("the node").health)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_begins_looks_and_acts_by_its_clock_alone() {
    let world = World::new().await;
    assert!(!world.lead.leads(), "elected is not begun");
    world.tick().await;
    assert!(world.lead.leads());
    let read = world.desk.member.map();
    assert!(read.read(|state| state.assertion_keys().current().is_some()), "the first key is minted");
    assert_eq!(world.health(), Health::Joining, "it was not heard");
    world.hear();
    world.tick().await;
    assert_eq!(world.health(), Health::Live);
    world.tick().await;
    assert!(read.read(|state| state.shards().iter().all(|shard| shard.voters == [NodeId::FIRST])));
    world.tick().await;
    let settled = read.index();
    world.clock.advance(limits::DEAD_AFTER_MS - 1);
    world.tick().await;
    assert_eq!(
        (world.health(), read.index()),
        (Health::Live, settled),
        "nothing is due, so nothing is decided"
    );
    world.clock.advance(1);
    world.tick().await;
    assert_eq!(world.health(), Health::Dead, "silent for exactly as long as it may be");
    world.hear();
    world.tick().await;
    assert_eq!(world.health(), Health::Live, "and back");
    world.desk.member.stop().await;
    world.tick().await;
    assert!(!world.lead.leads(), "who has ended leads nobody");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_leader_gives_every_node_the_full_time() {
    let world = World::new().await;
    world.tick().await;
    world.hear();
    world.tick().await;
    assert_eq!(world.health(), Health::Live);
    world.clock.advance(limits::DEAD_AFTER_MS * 10);
    // It loses its leadership and gets it again: what it saw before is void.
    world.lead.end();
    world.tick().await;
    assert_eq!(world.health(), Health::Live);
    world.clock.advance(limits::DEAD_AFTER_MS);
    world.tick().await;
    assert_eq!(world.health(), Health::Dead);
    world.desk.member.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loop_goes_with_the_clock_and_ends_when_told() {
    let world = World::new().await;
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(run(world.desk.clone(), world.lead.clone(), stopped));
    let begun = async {
        while !world.lead.leads() {
            world.clock.advance(limits::TICK.as_millis() as u64);
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, begun).await.expect("it looks");
    stop.send_replace(true);
    tokio::time::timeout(PATIENCE, running).await.expect("in time").expect("it ends");
    assert!(!world.lead.leads());
    world.desk.member.stop().await;
}

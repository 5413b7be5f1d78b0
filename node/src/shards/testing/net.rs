//! The network between the hosts of a test: messages are calls. It can be cut one way or both ways, slowed, and made to lose.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use undercroft_crypto::{Entropy, SeededEntropy};
use undercroft_proto::NodeId;
use undercroft_vault::replica::State;

use crate::shards::{Copies, Message, ShardHost, Transport, Wanted};

/// What connects the hosts.
pub(crate) struct Net {
    hosts: Mutex<BTreeMap<NodeId, Weak<ShardHost>>>,
    /// From whom to whom nothing comes through.
    cut: Mutex<BTreeSet<(NodeId, NodeId)>>,
    /// Of 256 messages so many are lost, and each takes up to so long.
    weather: Mutex<(u8, Duration)>,
    dice: SeededEntropy,
}

impl Net {
    pub(crate) fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self {
            hosts: Mutex::default(),
            cut: Mutex::default(),
            weather: Mutex::new((0, Duration::ZERO)),
            dice: SeededEntropy::new(seed),
        })
    }

    pub(crate) fn connect(&self, node: u64, host: &Arc<ShardHost>) {
        self.hosts.lock().insert(NodeId::new(node), Arc::downgrade(host));
    }

    pub(crate) fn disconnect(&self, node: u64) {
        self.hosts.lock().remove(&NodeId::new(node));
    }

    pub(crate) fn cut(&self, from: u64, to: u64) {
        self.cut.lock().insert((NodeId::new(from), NodeId::new(to)));
    }

    /// Cuts a node off from these others, both ways.
    pub(crate) fn isolate(&self, node: u64, others: impl IntoIterator<Item = u64>) {
        for other in others.into_iter().filter(|other| *other != node) {
            self.cut(node, other);
            self.cut(other, node);
        }
    }

    pub(crate) fn mend(&self) {
        self.cut.lock().clear();
        *self.weather.lock() = (0, Duration::ZERO);
    }

    pub(crate) fn rough(&self, lost_of_256: u8, up_to: Duration) {
        *self.weather.lock() = (lost_of_256, up_to);
    }

    fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.cut.lock().contains(&(from, to))
    }

    fn host(&self, node: NodeId) -> Option<Arc<ShardHost>> {
        self.hosts.lock().get(&node).and_then(Weak::upgrade)
    }

    async fn weather(&self) -> io::Result<()> {
        let (lost, up_to) = *self.weather.lock();
        let mut dice = [0; 2];
        self.dice.fill(&mut dice);
        if !up_to.is_zero() {
            tokio::time::sleep(up_to * u32::from(dice[1]) / 256).await;
        }
        if dice[0] < lost { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

/// The network as one node sees it.
pub(crate) struct Wire {
    pub(crate) net: Arc<Net>,
    pub(crate) me: NodeId,
}

impl Transport for Wire {
    fn send<'a>(&'a self, _address: &'a str, message: Message) -> BoxFuture<'a, io::Result<Bytes>> {
        Box::pin(async move {
            let to = message.to;
            self.net.weather().await?;
            if self.net.is_cut(self.me, to) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let host = self.net.host(to).ok_or(io::ErrorKind::ConnectionRefused)?;
            let answer = host.deliver(message).await;
            drop(host);
            self.net.weather().await?;
            if self.net.is_cut(to, self.me) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            answer
        })
    }
}

impl Copies for Wire {
    fn fetch(&self, wanted: Wanted) -> BoxFuture<'_, io::Result<State>> {
        Box::pin(async move {
            for (node, _) in &wanted.from {
                if self.net.is_cut(self.me, *node) || self.net.is_cut(*node, self.me) {
                    continue;
                }
                let Some(host) = self.net.host(*node) else { continue };
                match host.provide(wanted.shard, wanted.vault, &wanted.into).await {
                    Ok(state) if state.applied.index >= wanted.at_least => return Ok(state),
                    Ok(_) => std::fs::remove_dir_all(&wanted.into)?,
                    Err(_) => {}
                }
            }
            Err(io::Error::other("no replica that can be reached has it"))
        })
    }
}

//! Who is connected: how many, from where, who has nothing to do, and whose answers nobody reads. Decides which connection
//! ends so that another gets in; accepts, reads and writes nothing.
//!
//! A connection is idle while no request of it is at work and no answer of it is on its way, refusals apart: whoever sends
//! half a head is as idle as whoever sends nothing or is let in nowhere. Where places are short, the connection that was idle
//! longest ends, of the address that has the most of them; where none is, the one whose answers nobody takes. Where there is
//! neither, a newcomer gets one of a few places in which only health is answered.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::app::Capacity;
use crate::limits;

/// The open connections of one server. Cheap to clone.
#[derive(Clone)]
pub(super) struct Connections(Arc<Shared>);

struct Shared {
    capacity: Capacity,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    all: HashMap<u64, Arc<Connection>>,
}

/// One connection as the others see it.
struct Connection {
    peer: IpAddr,
    number: u64,
    /// It has a place in which only health is answered.
    spare: bool,
    state: Mutex<State>,
    told: Notify,
    began: Notify,
}

struct State {
    /// Requests whose answers are not whole on their way.
    requests: usize,
    /// Since when there are none.
    idle_since: Instant,
    /// Answers on their way; each counts as a request too.
    answers: HashMap<u64, Sent>,
    next: u64,
}

/// An answer on its way.
#[derive(Clone, Copy)]
struct Sent {
    /// When a part of it was last taken.
    taken: Instant,
    /// Nothing was done for it.
    is_refusal: bool,
}

/// Since when a connection could end for others; the idle ones come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spared {
    Idle(Instant),
    Stalled(Instant),
}

/// The place of one connection; dropped, it is free.
pub(super) struct Seat {
    connection: Arc<Connection>,
    connections: Connections,
}

/// A place, and whether another connection was told to end for it.
pub(super) struct Admitted {
    pub(super) seat: Seat,
    pub(super) ended_another: bool,
}

/// A request at work, until its answer is on its way.
pub(super) struct AtWork(Arc<Connection>);

/// An answer on its way.
pub(super) struct Leaving {
    connection: Arc<Connection>,
    number: u64,
}

impl Connections {
    pub(super) fn new(capacity: Capacity) -> Self {
        Self(Arc::new(Shared { capacity, open: Mutex::default() }))
    }

    /// A place for a connection from `peer`; none when even those for health are taken.
    pub(super) fn admit(&self, peer: IpAddr) -> Option<Admitted> {
        let peer = share_of(peer);
        let capacity = &self.0.capacity;
        let mut open = self.0.open.lock();
        let of_peer = open.count(|one| one.peer == peer);
        let (spare, ends) = if of_peer >= capacity.connections_of_one {
            match open.longest_idle(|one| one.peer == peer) {
                Some(one) => (false, Some(one)),
                None => (true, None),
            }
        } else if open.count(|_| true) >= capacity.connections {
            match open.longest_idle_of_most() {
                Some(one) => (false, Some(one)),
                None => (true, None),
            }
        } else {
            (false, None)
        };
        let ends = match spare && open.spare() >= capacity.spare_connections {
            true => Some(open.longest_idle_spare()?),
            false => ends,
        };
        let ended_another = ends.is_some_and(|one| open.end(one));
        let connection = open.add(peer, spare);
        Some(Admitted { seat: Seat { connection, connections: self.clone() }, ended_another })
    }

    /// Ends the connection that was idle longest, for whoever needs its file; says whether there was one.
    pub(super) fn end_longest_idle(&self) -> bool {
        let mut open = self.0.open.lock();
        open.longest_idle_of_most().is_some_and(|one| open.end(one))
    }

    /// Ends connections with an answer of which nothing was taken for `patience`; says how many there were.
    pub(super) fn end_stalled(&self, patience: Duration) -> usize {
        self.end_where(|state, now| {
            state.answers.values().any(|sent| now.duration_since(sent.taken) >= patience)
        })
    }

    /// Ends connections that were idle for `patience`.
    pub(super) fn end_idle(&self, patience: Duration) -> usize {
        self.end_where(|state, now| state.requests == 0 && now.duration_since(state.idle_since) >= patience)
    }

    fn end_where(&self, ends: impl Fn(&State, Instant) -> bool) -> usize {
        let now = Instant::now();
        let mut open = self.0.open.lock();
        let over = open.all.values().filter(|one| ends(&one.state.lock(), now));
        let over: Vec<_> = over.map(|one| one.number).collect();
        over.into_iter().filter(|one| open.end(*one)).count()
    }
}

impl Open {
    fn add(&mut self, peer: IpAddr, spare: bool) -> Arc<Connection> {
        let number = self.next;
        self.next += 1;
        let state = State { requests: 0, idle_since: Instant::now(), answers: HashMap::new(), next: 0 };
        let connection = Arc::new(Connection {
            peer,
            number,
            spare,
            state: Mutex::new(state),
            told: Notify::new(),
            began: Notify::new(),
        });
        self.all.insert(number, connection.clone());
        connection
    }

    /// Tells a connection to end. Its place is free at once: it does nothing any more but close.
    fn end(&mut self, number: u64) -> bool {
        let Some(one) = self.all.remove(&number) else { return false };
        one.told.notify_one();
        true
    }

    fn count(&self, of: impl Fn(&Connection) -> bool) -> usize {
        self.all.values().filter(|one| !one.spare && of(one)).count()
    }

    fn spare(&self) -> usize {
        self.all.values().filter(|one| one.spare).count()
    }

    fn longest_idle(&self, of: impl Fn(&Connection) -> bool) -> Option<u64> {
        longest(self.all.values().filter(|one| !one.spare && of(one)))
    }

    fn longest_idle_spare(&self) -> Option<u64> {
        longest(self.all.values().filter(|one| one.spare))
    }

    /// The one that was idle longest of the address that has the most idle ones.
    fn longest_idle_of_most(&self) -> Option<u64> {
        let mut idle: HashMap<IpAddr, usize> = HashMap::new();
        for one in self.all.values().filter(|one| !one.spare && one.spared().is_some()) {
            *idle.entry(one.peer).or_default() += 1;
        }
        let (most, _) = idle.into_iter().max_by_key(|(_, count)| *count)?;
        self.longest_idle(|one| one.peer == most)
    }
}

fn longest<'a>(among: impl Iterator<Item = &'a Arc<Connection>>) -> Option<u64> {
    let idle = among.filter_map(|one| Some((one.spared()?, one.number)));
    idle.min().map(|(_, number)| number)
}

impl Connection {
    /// Since when it could end for others, if it could.
    fn spared(&self) -> Option<Spared> {
        self.state.lock().spared(Instant::now())
    }
}

impl Seat {
    /// Resolves when the connection is to end.
    pub(super) async fn told_to_end(&self) {
        self.connection.told.notified().await;
    }

    /// Resolves when the first request has begun.
    pub(super) async fn began(&self) {
        self.connection.began.notified().await;
    }

    /// Whether only health is answered here.
    pub(super) fn is_spare(&self) -> bool {
        self.connection.spare
    }

    /// A request begins.
    pub(super) fn begin(&self) -> AtWork {
        self.connection.state.lock().requests += 1;
        self.connection.began.notify_one();
        AtWork(self.connection.clone())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.connections.0.open.lock().all.remove(&self.connection.number);
    }
}

impl AtWork {
    /// The answer is known and leaves; a refusal is one for which nothing was done.
    pub(super) fn answered(&self, is_refusal: bool) -> Leaving {
        let mut state = self.0.state.lock();
        let number = state.next;
        state.next += 1;
        state.requests += 1;
        state.answers.insert(number, Sent { taken: Instant::now(), is_refusal });
        Leaving { connection: self.0.clone(), number }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.state.lock().one_less();
    }
}

impl Leaving {
    /// A part of it was taken.
    pub(super) fn taken(&self) {
        if let Some(sent) = self.connection.state.lock().answers.get_mut(&self.number) {
            sent.taken = Instant::now();
        }
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        let mut state = self.connection.state.lock();
        state.answers.remove(&self.number);
        state.one_less();
    }
}

impl State {
    fn spared(&self, now: Instant) -> Option<Spared> {
        if self.requests > self.answers.len() {
            return None;
        }
        let refused_only = self.answers.values().all(|sent| sent.is_refusal);
        match self.answers.values().map(|sent| sent.taken).min() {
            None => Some(Spared::Idle(self.idle_since)),
            Some(_) if refused_only => Some(Spared::Idle(self.idle_since)),
            Some(taken) if now.duration_since(taken) >= limits::ANSWER_GRACE => Some(Spared::Stalled(taken)),
            Some(_) => None,
        }
    }

    fn one_less(&mut self) {
        self.requests -= 1;
        self.idle_since = Instant::now();
    }
}

/// Whose share an address takes from: of IPv6 a whole network is one client's.
fn share_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

#[cfg(test)]
#[path = "connections_test.rs"]
mod connections_test;

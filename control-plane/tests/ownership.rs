//! A model of who owns a vault while it moves, checked in every order of events: no two shards accept writes, no acknowledged
//! write is lost, every move ends.
//!
//! Two shards, a control group that decides, a router with a hint that may be old, and a network that delays, reorders and
//! repeats every message for ever. Each shard is one replicated log, so what it applies is what all of its replicas apply; a
//! leader that was deposed is a write that was let in earlier and is applied later. A crash of whoever drives the move
//! changes nothing, because the driver keeps nothing: it acts on what is decided.
//!
//! The two guards that make it safe can be taken out, and the model must then find the fault.

use std::collections::BTreeSet;

use stateright::{Checker, Model, Property};

/// Moves and writes that are tried.
const MOVES: u8 = 3;
const WRITES: u8 = 3;

/// The rules under test.
#[derive(Clone, Copy)]
struct Rules {
    /// A shard remembers the highest epoch in which it owned or dropped the vault, and takes nothing older.
    remembers_epochs: bool,
    /// A write is checked when it is applied, and not only when the leader lets it in.
    checks_at_apply: bool,
}

/// One shard's part of the vault, as its log has made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Shard {
    /// The epoch in which it owns the vault.
    owned: Option<u8>,
    /// The move for which it stopped accepting.
    frozen: Option<u8>,
    /// The highest epoch that it knows of.
    seen: u8,
    /// The writes in its copy, a bit each.
    data: u8,
    /// A copy that was verified on a majority, for a move.
    staged: Option<(u8, u8)>,
    /// A write that a leader let in and that is not applied: epoch and bit.
    pending: Option<(u8, u8)>,
}

impl Shard {
    fn accepts(&self) -> bool {
        self.owned.is_some() && self.frozen.is_none()
    }
}

/// What the control group decided about a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Decided {
    number: u8,
    flip: bool,
    epoch: u8,
    from: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Message {
    Freeze {
        number: u8,
        epoch: u8,
        at: usize,
    },
    /// What a frozen shard holds, to the other one.
    Copy {
        number: u8,
        epoch: u8,
        data: u8,
        to: usize,
    },
    Staged {
        number: u8,
    },
    Activate {
        number: u8,
        epoch: u8,
        at: usize,
    },
    Activated {
        number: u8,
    },
    Drop {
        epoch: u8,
        at: usize,
    },
    AbortMove {
        number: u8,
        epoch: u8,
        at: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    shards: [Shard; 2],
    /// What the control group says: owner, epoch, the move under way, the moves decided.
    at: usize,
    epoch: u8,
    moving: Option<u8>,
    decided: Vec<Decided>,
    /// The router's hint: owner and epoch.
    hint: (usize, u8),
    writes: u8,
    acknowledged: u8,
    network: BTreeSet<Message>,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    BeginMove,
    Decide { flip: bool },
    Refresh,
    LetIn,
    Apply(usize),
    Deliver(Message),
}

impl World {
    fn moves(&self) -> u8 {
        self.decided.len() as u8 + u8::from(self.moving.is_some())
    }

    /// What the driver sends of what is decided; sending again is a repetition in the network.
    fn drive(&mut self) {
        if let Some(number) = self.moving {
            self.network.insert(Message::Freeze { number, epoch: self.epoch, at: self.at });
        }
        for Decided { number, flip, epoch, from } in self.decided.clone() {
            if flip {
                self.network.insert(Message::Activate { number, epoch, at: 1 - from });
                // Only when the target's activation is durable may the source let go.
                if self.network.contains(&Message::Activated { number }) {
                    self.network.insert(Message::Drop { epoch, at: from });
                }
            } else {
                self.network.insert(Message::AbortMove { number, epoch, at: from });
            }
        }
    }

    fn deliver(&mut self, rules: Rules, message: &Message) {
        let mut answer = None;
        match *message {
            Message::Freeze { number, epoch, at } => {
                let shard = &mut self.shards[at];
                if shard.owned == Some(epoch) {
                    shard.frozen = Some(number);
                    answer = Some(Message::Copy { number, epoch, data: shard.data, to: 1 - at });
                }
            }
            Message::Copy { number, epoch, data, to } => {
                let shard = &mut self.shards[to];
                // A copy of the ownership for which this shard let go is right; one of an earlier ownership is old.
                let newer = epoch >= shard.seen || !rules.remembers_epochs;
                if shard.owned.is_none() && newer {
                    shard.staged = Some((number, data));
                    answer = Some(Message::Staged { number });
                }
            }
            Message::Activate { number, epoch, at } => {
                let shard = &mut self.shards[at];
                let newer = epoch > shard.seen || !rules.remembers_epochs;
                if let Some((_, data)) = shard.staged.filter(|(staged, _)| *staged == number && newer) {
                    *shard = Shard {
                        owned: Some(epoch),
                        seen: epoch,
                        data,
                        pending: shard.pending,
                        ..Shard::default()
                    };
                }
                if shard.seen >= epoch {
                    answer = Some(Message::Activated { number });
                }
            }
            Message::Drop { epoch, at } => {
                let shard = &mut self.shards[at];
                if shard.owned.is_some_and(|owned| owned < epoch) {
                    *shard = Shard { seen: epoch, pending: shard.pending, ..Shard::default() };
                }
            }
            Message::AbortMove { number, epoch, at } => {
                let shard = &mut self.shards[at];
                if shard.owned.is_some_and(|owned| owned < epoch)
                    && shard.frozen.is_none_or(|of| of == number)
                {
                    (shard.owned, shard.frozen) = (Some(epoch), None);
                    shard.seen = epoch;
                }
            }
            Message::Staged { .. } | Message::Activated { .. } => {}
        }
        self.network.extend(answer);
    }

    /// The move has ended everywhere: one shard accepts, and it is the one that the map says, in that epoch.
    fn at_rest(&self) -> bool {
        let owner = &self.shards[self.at];
        self.moving.is_none() && owner.accepts() && owner.owned == Some(self.epoch)
    }
}

impl Model for Rules {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let owner = Shard { owned: Some(1), seen: 1, ..Shard::default() };
        vec![World {
            shards: [owner, Shard::default()],
            at: 0,
            epoch: 1,
            moving: None,
            decided: Vec::new(),
            hint: (0, 1),
            writes: 0,
            acknowledged: 0,
            network: BTreeSet::new(),
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        actions.extend([Action::BeginMove, Action::Decide { flip: true }, Action::Decide { flip: false }]);
        actions.extend([Action::Refresh, Action::LetIn, Action::Apply(0), Action::Apply(1)]);
        actions.extend(world.network.iter().cloned().map(Action::Deliver));
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        let mut world = last.clone();
        match action {
            Action::BeginMove => {
                let free = world.moving.is_none() && world.moves() < MOVES;
                world.moving = free.then_some(world.moves() + 1).or(world.moving);
            }
            Action::Decide { flip } => {
                let number = world.moving?;
                if flip && !world.network.contains(&Message::Staged { number }) {
                    return None;
                }
                let from = world.at;
                (world.moving, world.epoch) = (None, world.epoch + 1);
                world.at = if flip { 1 - from } else { from };
                world.decided.push(Decided { number, flip, epoch: world.epoch, from });
            }
            Action::Refresh => world.hint = (world.at, world.epoch),
            Action::LetIn => {
                let (at, epoch) = world.hint;
                let shard = &mut world.shards[at];
                if world.writes < WRITES
                    && shard.pending.is_none()
                    && shard.owned == Some(epoch)
                    && shard.accepts()
                {
                    shard.pending = Some((epoch, 1 << world.writes));
                    world.writes += 1;
                }
            }
            Action::Apply(at) => {
                let shard = &mut world.shards[at];
                let (epoch, bit) = shard.pending.take()?;
                let good = shard.owned == Some(epoch) && shard.accepts();
                if good || !self.checks_at_apply {
                    shard.data |= bit;
                    world.acknowledged |= bit;
                }
            }
            Action::Deliver(message) => world.deliver(*self, &message),
        }
        world.drive();
        (world != *last).then_some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("at most one shard accepts writes", |_, world: &World| {
                world.shards.iter().filter(|shard| shard.accepts()).count() <= 1
            }),
            Property::always("no acknowledged write is lost", |_, world: &World| {
                let mut accepting = world.shards.iter().filter(|shard| shard.accepts());
                accepting.all(|shard| shard.data & world.acknowledged == world.acknowledged)
            }),
            Property::eventually("every move ends", |_, world: &World| {
                world.moves() == MOVES && world.at_rest()
            }),
            Property::sometimes("a vault moves there and back", |_, world: &World| {
                world.at_rest()
                    && world.decided.len() == 2
                    && world.decided.iter().all(|decided| decided.flip)
            }),
            Property::sometimes("a write lands after a move", |_, world: &World| {
                world.epoch > 1 && world.shards[world.at].data == 0b11
            }),
        ]
    }
}

/// Checks every reachable state.
fn check(rules: Rules) -> impl Checker<Rules> {
    rules.checker().threads(2).spawn_bfs().join()
}

#[test]
fn ownership_is_safe_and_every_move_ends() {
    let checked = check(Rules { remembers_epochs: true, checks_at_apply: true });
    checked.assert_properties();
    assert!(checked.unique_state_count() > 10_000, "{} states are too few", checked.unique_state_count());
}

#[test]
fn a_shard_that_forgets_epochs_is_found_to_take_an_old_copy_back() {
    let checked = check(Rules { remembers_epochs: false, checks_at_apply: true });
    let two = checked.discovery("at most one shard accepts writes");
    let lost = checked.discovery("no acknowledged write is lost");
    assert!(two.is_some() || lost.is_some());
}

#[test]
fn a_write_that_is_checked_only_when_it_is_let_in_is_found_to_be_lost() {
    let checked = check(Rules { remembers_epochs: true, checks_at_apply: false });
    assert!(checked.discovery("no acknowledged write is lost").is_some());
}

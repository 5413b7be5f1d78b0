//! The keys of assertions: the first one is minted when there is none, and the one before the present goes when nobody needs it.

use crate::keys::GroupKey;
use crate::plan::Observed;
use crate::ports::Ports;
use crate::state::{Command, Health, KeyCommand, State};
use crate::{Error, limits};

/// What is to be done about the keys.
#[derive(Debug, PartialEq, Eq)]
enum Due {
    Nothing,
    First,
    Retire(u32, String),
}

/// The command that is due, if one is.
pub(super) fn step(
    state: &State,
    observed: &Observed,
    key: &GroupKey,
    ports: &Ports,
) -> Result<Option<Command>, Error> {
    let (elapsed, now) = (ports.clock.elapsed_ms(), ports.clock.now_ms());
    let command = match due(state, observed, elapsed, now) {
        Due::Nothing => return Ok(None),
        Due::First => KeyCommand::Mint { sealed: mint(key, ports)? },
        Due::Retire(id, reason) => KeyCommand::Retire { id, reason },
    };
    Ok(Some(Command::Key(command)))
}

/// A fresh key, sealed. What it is, nobody has seen.
pub(crate) fn mint(key: &GroupKey, ports: &Ports) -> Result<Box<[u8]>, Error> {
    let secret = zeroize::Zeroizing::new(ports.random());
    key.seal(&secret, ports)
}

/// The key before the present one is needed until every live node and every router that is heard acts on a map with the
/// present one; and no longer than its time. Who does not lead for long enough has not heard every router yet.
fn due(state: &State, observed: &Observed, elapsed: u64, now: u64) -> Due {
    if state.cluster().settings().is_none() {
        return Due::Nothing;
    }
    let keys = state.assertion_keys();
    let Some(current) = keys.current() else { return Due::First };
    let Some(previous) = keys.previous() else { return Due::Nothing };
    if now.saturating_sub(current.at) >= limits::OLD_KEY_MS {
        return Due::Retire(previous.id, "its time is over".into());
    }
    let mut live = state.nodes().iter().filter(|node| node.health == Health::Live && !node.retired);
    let nodes =
        live.all(|node| observed.contact(node.id).is_some_and(|said| said.map_version >= current.version));
    let routers = observed.age_ms(elapsed) >= limits::ROUTER_SILENT_MS
        && observed.oldest_map_of_routers(elapsed).is_none_or(|oldest| oldest >= current.version);
    if nodes && routers {
        let reason = format!("every node and router acts on key {}", current.id);
        return Due::Retire(previous.id, reason);
    }
    Due::Nothing
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use undercroft_proto::NodeId;

    use super::{Due, due};
    use crate::limits;
    use crate::plan::{Contact, Observed};
    use crate::state::fixture::{run, serving};
    use crate::state::{Command, KeyCommand, Load, State};

    /// Three live nodes and a second key.
    fn rotated() -> (State, u64) {
        let mut state = serving(1);
        for _ in 0..2 {
            run(&mut state, Command::Key(KeyCommand::Rotate { sealed: vec![1].into(), at_once: false }));
        }
        let version = state.assertion_keys().current().expect("a key").version;
        assert_eq!(version, state.version(), "told in the version that it says");
        (state, version)
    }

    fn heard(observed: &mut Observed, node: u64, map_version: u64, at: u64) {
        let contact = Contact { at, load: Load::default(), replicas: BTreeMap::new(), map_version };
        observed.heard(NodeId::new(node), contact);
    }

    #[test]
    fn the_first_key_is_minted_once_the_cluster_is_founded() {
        assert_eq!(due(&State::default(), &Observed::new(0), 0, 0), Due::Nothing);
        assert_eq!(due(&serving(1), &Observed::new(0), 0, 0), Due::First);
    }

    #[test]
    fn the_key_before_stays_until_every_node_and_router_was_seen_with_the_present_one() {
        let (state, version) = rotated();
        let (mut observed, now) = (Observed::new(0), state.now());
        let later = limits::ROUTER_SILENT_MS;
        heard(&mut observed, 1, version, later);
        heard(&mut observed, 2, version, later);
        observed.heard_router("r".into(), version - 1, later);
        assert_eq!(due(&state, &observed, later, now), Due::Nothing, "node 3 was not heard");
        heard(&mut observed, 3, version - 1, later);
        assert_eq!(due(&state, &observed, later, now), Due::Nothing, "node 3 acts on an older map");
        heard(&mut observed, 3, version + 4, later);
        assert_eq!(due(&state, &observed, later, now), Due::Nothing, "the router does");
        observed.heard_router("r".into(), version, later);
        assert_eq!(
            due(&state, &observed, later - 1, now),
            Due::Nothing,
            "other routers may not be heard yet"
        );
        assert!(matches!(due(&state, &observed, later, now), Due::Retire(1, _)));
    }

    #[test]
    fn a_router_that_is_gone_is_not_waited_for_and_nothing_is_for_ever() {
        let (state, version) = rotated();
        let (mut observed, now) = (Observed::new(0), state.now());
        observed.heard_router("gone".into(), 1, 0);
        let later = limits::ROUTER_SILENT_MS;
        (1..=3).for_each(|node| heard(&mut observed, node, version, later));
        assert!(matches!(due(&state, &observed, later, now), Due::Retire(1, _)));
        let nobody = Observed::new(0);
        assert_eq!(due(&state, &nobody, later, now + limits::OLD_KEY_MS - 1), Due::Nothing);
        assert!(matches!(due(&state, &nobody, later, now + limits::OLD_KEY_MS), Due::Retire(1, _)));
    }
}

//! A kit reads back as what was put in, and nothing else is taken for one.

use proptest::prelude::*;
use undercroft_proto::{ErrorClass, Incarnation};

use super::*;
use crate::state::fixture::{run, serving, tenant};
use crate::state::{Command, Generation, TenantCommand, VaultCommand};

const KEY: [u8; 32] = [5; 32];

fn state() -> State {
    let mut state = serving(2);
    for number in 1..=3 {
        let tenant = tenant(&mut state, number);
        let vault = state.tenants().get(tenant).unwrap().vault;
        let generation =
            Generation { incarnation: Incarnation::new(1), number: 1, sealed: Box::from([7; 48].as_slice()) };
        run(&mut state, Command::Vault(VaultCommand::AddGeneration { vault, generation }));
        if number == 3 {
            run(&mut state, Command::Tenant(TenantCommand::Delete { tenant }));
        }
    }
    state
}

fn kit(key: Option<[u8; 32]>) -> Kit {
    Kit::new(9, state().encode().unwrap(), key.map(Zeroizing::new)).unwrap()
}

#[test]
fn a_kit_reads_back_with_all_that_was_put_in() {
    for key in [None, Some(KEY)] {
        let again = Kit::decode(&kit(key).encode()).unwrap();
        assert_eq!((again.state(), again.key()), (&state(), key.as_ref()));
        let contents = again.contents();
        assert_eq!(contents, kit(key).contents());
        assert_eq!((contents.cluster.as_str(), contents.made_at), ("07".repeat(16).as_str(), 9));
        assert_eq!((contents.tenants, contents.vaults, contents.dropped, contents.generations), (2, 2, 1, 3));
        assert_eq!((contents.nodes, contents.shards, contents.members), (3, 2, 1));
        assert_eq!(contents.orch_key, key.is_some());
    }
}

#[test]
fn a_state_that_cannot_be_used_makes_no_kit() {
    let whole = state().encode().unwrap();
    for bad in [Vec::new(), whole[..whole.len() - 1].to_vec(), [whole.as_slice(), b"x"].concat()] {
        let error = Kit::new(1, bad, None).err().unwrap();
        assert!(matches!(error, Error::Kit(_)) && error.class() == ErrorClass::Integrity, "{error}");
    }
    let never = Kit::new(1, State::default().encode().unwrap(), None).err().unwrap();
    assert!(never.to_string().contains("never founded"), "{never}");
    let mut newer = whole;
    newer[0] = 200;
    assert!(matches!(Kit::new(1, newer, None), Err(Error::Version { .. })));
}

#[test]
fn a_body_that_is_cut_anywhere_is_refused() {
    let body = kit(Some(KEY)).encode();
    let without_key = kit(None).encode().len();
    for end in 0..body.len() {
        assert_eq!(Kit::decode(&body[..end]).is_ok(), end == without_key, "{end}");
    }
}

#[test]
fn parts_that_are_unknown_repeated_or_of_another_length_are_refused() {
    let parts = |list: &[(&str, &[u8])]| {
        let mut body = Vec::new();
        list.iter().for_each(|(name, bytes)| put(&mut body, name, bytes));
        body
    };
    let encoded = state().encode().unwrap();
    let (time, state) = (("made-at", [0_u8; 8].as_slice()), ("state", encoded.as_slice()));
    assert!(Kit::decode(&parts(&[time, state])).is_ok());
    let key = ("orch-key", KEY.as_slice());
    for bad in [
        parts(&[]),
        parts(&[time]),
        parts(&[state, time]),
        parts(&[time, time, state]),
        parts(&[("made-at", b"9"), state]),
        parts(&[time, state, ("orch-key", b"short")]),
        parts(&[time, state, ("more", b"x")]),
        parts(&[time, state, key, key]),
        parts(&[time, state, key, ("more", b"x")]),
    ] {
        assert!(matches!(Kit::decode(&bad), Err(Error::Kit(_))));
    }
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Kit::decode(&body).is_err());
    }
}

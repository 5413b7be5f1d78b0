//! What is witnessed of vaults, and for how long.

use undercroft_proto::{Height, Incarnation};

use crate::state::fixture::{START, report, run, serving, tenant, vault_of};
use crate::state::*;

#[test]
fn two_digests_at_one_height_are_told_and_the_first_one_stays() {
    let mut state = serving(1);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    let kept = |kept, conflicting: &[_]| Outcome::Witnessed { kept, conflicting: conflicting.to_vec() };
    assert_eq!(run(&mut state, report(vault, 1, 5, 1)), kept(1, &[]));
    assert_eq!(run(&mut state, report(vault, 1, 5, 1)), kept(0, &[]), "said again");
    assert_eq!(run(&mut state, report(vault, 1, 4, 9)), kept(0, &[]), "on its way for long");
    assert_eq!(run(&mut state, report(vault, 2, 9, 9)), kept(0, &[]), "not this life");
    let before = state.decisions().count();
    assert_eq!(run(&mut state, report(vault, 1, 5, 2)), kept(0, &[vault]));
    assert_eq!(state.decisions().count(), before + 1);
    assert_eq!(state.witnesses().of(vault)[0].digest, [1; 32]);
    assert_eq!(witnessed_height(state.witnesses().of(vault), Incarnation::new(1)), Some(Height::new(5)));
}

#[test]
fn witnesses_are_thinned_to_one_a_day_and_never_below_the_newest() {
    let mut state = serving(1);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    for hour in 0..24 * 20 {
        let at = START + hour * 3_600_000;
        state.apply(&Batch::of(at, [report(vault, 1, hour + 1, 1)]));
    }
    let list = state.witnesses().of(vault);
    assert_eq!(list.len(), 8, "seven days and today");
    assert_eq!(broken_at(vault, list), None);
    let mut edited = list.to_vec();
    edited[3].digest = [9; 32];
    assert_eq!(broken_at(vault, &edited), Some(edited[4].number));
    let mut shorter = list.to_vec();
    shorter.remove(3);
    assert_eq!(broken_at(vault, &shorter), Some(shorter[3].number), "no gap is taken for policy");
    // After a year without a write the newest is still there.
    state.apply(&Batch::of(START + 400 * 86_400_000, [report(vault, 1, 9_999, 1)]));
    assert_eq!(state.witnesses().of(vault).len(), 1);
}

#[test]
fn the_entry_of_a_day_is_its_newest_report_and_each_life_has_its_own() {
    let mut state = serving(1);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    (1..=3).for_each(|height| drop(run(&mut state, report(vault, 1, height, 1))));
    let heights = |state: &State| {
        let list = state.witnesses().of(vault).iter();
        list.map(|entry| (entry.number, entry.position.height.get())).collect::<Vec<_>>()
    };
    assert_eq!(heights(&state), [(1, 3)]);
    run(&mut state, Command::Vault(VaultCommand::Revive { vault, reason: String::new() }));
    run(&mut state, report(vault, 2, 2, 1));
    assert_eq!(heights(&state), [(1, 3), (2, 2)], "the last of the life before stays");
    assert_eq!(broken_at(vault, state.witnesses().of(vault)), None);
}

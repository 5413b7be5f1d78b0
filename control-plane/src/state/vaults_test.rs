//! Tenants and their vaults: where they are, under which token and which keys, and that nothing old comes back.

use undercroft_proto::{Epoch, ErrorClass, Incarnation, MoveId, ShardId, TokenMac};

use crate::state::fixture::{
    START, begin_move, create, decide_move, refusal, run, serving, tenant, vault_of,
};
use crate::state::*;

#[test]
fn new_vaults_go_where_there_are_fewest() {
    let mut state = serving(3);
    for number in 0..9 {
        tenant(&mut state, number);
    }
    assert!((1..=3).all(|shard| state.vaults().count(ShardId::new(shard)) == 3));
}

#[test]
fn a_token_that_was_replaced_or_revoked_opens_nothing() {
    let mut state = serving(1);
    let id = tenant(&mut state, 1);
    let old = state.tenants().get(id).and_then(|tenant| tenant.token).expect("a token");
    let new = TokenMac::from_bytes([8; 32]);
    run(&mut state, Command::Tenant(TenantCommand::Rotate { tenant: id, token: new }));
    assert!(state.tenants().of_token(&old).is_none());
    assert_eq!(state.tenants().of_token(&new).map(|tenant| tenant.id), Some(id));
    let other = tenant(&mut state, 2);
    let same = Command::Tenant(TenantCommand::Rotate { tenant: other, token: new });
    assert_eq!(refusal(run(&mut state, same)), Refusal::TokenInUse);
    run(&mut state, Command::Tenant(TenantCommand::Revoke { tenant: id }));
    assert!(state.tenants().of_token(&new).is_none());
}

#[test]
fn a_tenant_that_is_deleted_and_created_again_is_another_tenant_with_another_vault() {
    let mut state = serving(1);
    let first = tenant(&mut state, 1);
    let vault = vault_of(&state, first).id;
    run(&mut state, Command::Tenant(TenantCommand::Delete { tenant: first }));
    assert!(state.vaults().get(vault).is_none());
    let second = tenant(&mut state, 1);
    assert!(second != first && vault_of(&state, second).id > vault);
    let begin = VaultCommand::BeginMove { vault, to: ShardId::new(1), reason: String::new() };
    assert_eq!(refusal(run(&mut state, Command::Vault(begin))).class(), ErrorClass::NotFound);
}

#[test]
fn a_clock_that_goes_back_brings_no_old_id_and_no_old_time() {
    let mut state = serving(1);
    let first = tenant(&mut state, 1);
    let highest = vault_of(&state, first).id;
    let now = state.now();
    let outcome = state.apply(&Batch::of(START - 3_600_000, [create(2)])).outcomes.remove(0);
    let Outcome::Tenant { vault, .. } = outcome else { panic!("{outcome:?}") };
    assert!(vault > highest && state.now() == now);
}

#[test]
fn a_move_is_decided_once_and_gives_a_fresh_epoch_either_way() {
    let mut state = serving(2);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    assert_eq!(run(&mut state, begin_move(vault, 2)), Outcome::Move(MoveId::new(1)));
    assert!(matches!(refusal(run(&mut state, begin_move(vault, 2))), Refusal::Busy { .. }));
    assert!(matches!(refusal(run(&mut state, decide_move(vault, 7, true))), Refusal::Stale { .. }));
    assert_eq!(run(&mut state, decide_move(vault, 1, false)), Outcome::Epoch(Epoch::new(2)));
    assert_eq!(vault_of(&state, id).shard, ShardId::new(1));
    run(&mut state, begin_move(vault, 2));
    assert_eq!(run(&mut state, decide_move(vault, 2, true)), Outcome::Epoch(Epoch::new(3)));
    assert!(
        matches!(refusal(run(&mut state, decide_move(vault, 2, false))), Refusal::Stale { .. }),
        "decided"
    );
    assert_eq!(vault_of(&state, id).shard, ShardId::new(2));
    assert_eq!((state.vaults().count(ShardId::new(1)), state.vaults().count(ShardId::new(2))), (0, 1));
}

#[test]
fn generations_count_up_in_the_present_life_and_outlive_the_vault() {
    let mut state = serving(1);
    let id = tenant(&mut state, 1);
    let vault = vault_of(&state, id).id;
    let add = |incarnation, number| {
        let sealed = vec![number as u8].into();
        let generation = Generation { incarnation: Incarnation::new(incarnation), number, sealed };
        Command::Vault(VaultCommand::AddGeneration { vault, generation })
    };
    let below = |below| Command::Vault(VaultCommand::DropGenerations { vault, below, reason: String::new() });
    assert_eq!(run(&mut state, add(1, 1)), Outcome::Done);
    assert!(matches!(refusal(run(&mut state, add(1, 1))), Refusal::Stale { .. }));
    assert!(matches!(refusal(run(&mut state, add(1, 3))), Refusal::Stale { .. }));
    assert!(matches!(refusal(run(&mut state, add(2, 2))), Refusal::Stale { .. }));
    assert_eq!(run(&mut state, add(1, 2)), Outcome::Done);
    assert!(matches!(refusal(run(&mut state, below(3))), Refusal::Field { .. }), "the newest is in use");
    assert_eq!(run(&mut state, below(2)), Outcome::Done);
    let revive = Command::Vault(VaultCommand::Revive { vault, reason: String::new() });
    assert_eq!(run(&mut state, revive), Outcome::Incarnation(Incarnation::new(2)));
    assert_eq!(run(&mut state, add(2, 3)), Outcome::Done);
    run(&mut state, Command::Tenant(TenantCommand::Delete { tenant: id }));
    let kept = state.vaults().dropped().next().expect("kept");
    assert_eq!((kept.0, kept.1.generations.len()), (vault, 2));
    assert_eq!(run(&mut state, Command::Vault(VaultCommand::Destroy { vault })), Outcome::Done);
    assert_eq!(state.vaults().dropped().count(), 0);
}

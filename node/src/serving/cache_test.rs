use std::time::Duration;

use super::cache::{Seen, to_close};

const IDLE: Duration = Duration::from_secs(100);

fn seen(unused: u64, index_bytes: usize) -> Seen {
    Seen { unused: Duration::from_secs(unused), index_bytes }
}

#[test]
fn vaults_in_use_within_the_bounds_stay_open() {
    assert_eq!(to_close(&[seen(99, 10), seen(0, 10)], IDLE, 20), [0; 0]);
    assert_eq!(to_close(&[], IDLE, 0), [0; 0]);
}

#[test]
fn idle_vaults_are_closed_even_when_there_is_room() {
    assert_eq!(to_close(&[seen(200, 1), seen(100, 0), seen(99, 1)], IDLE, 20), [0, 1]);
}

#[test]
fn memory_is_taken_back_from_the_vault_used_longest_ago_until_the_rest_fits() {
    assert_eq!(to_close(&[seen(9, 10), seen(8, 10), seen(7, 10)], IDLE, 20), [0]);
    assert_eq!(to_close(&[seen(9, 10), seen(8, 10), seen(7, 10)], IDLE, 5), [0, 1, 2]);
}

#[test]
fn a_vault_without_index_is_not_closed_for_memory() {
    assert_eq!(to_close(&[seen(9, 0), seen(8, 30), seen(7, 1)], IDLE, 20), [1]);
}

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{NodeId, ShardId, TenantId, VaultId};

proptest! {
    #[test]
    fn every_vault_id_reads_back_from_its_text_and_keeps_its_order(a in any::<u128>(), b in any::<u128>()) {
        let (a, b) = (VaultId::from_u128(a), VaultId::from_u128(b));
        prop_assert_eq!(a.to_string().parse::<VaultId>(), Ok(a));
        prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
    }

    #[test]
    fn any_text_that_reads_as_a_vault_id_is_its_only_text(text in "[0-9A-Za-z]{24,28}|.{0,30}") {
        if let Ok(id) = text.parse::<VaultId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn any_text_that_reads_as_a_number_is_its_only_text(text in "[0-9+ -]{0,22}") {
        if let Ok(id) = text.parse::<NodeId>() {
            prop_assert_eq!(id.to_string(), text.clone());
        }
        if let Ok(id) = text.parse::<ShardId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn tenant_ids_read_back_in_json_and_in_bytes(number in any::<u64>()) {
        let id = TenantId::from_u64(number);
        prop_assert_eq!(id.to_string().parse::<TenantId>(), Ok(id));
        prop_assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{id}\""));
        prop_assert_eq!(serde_json::from_str::<TenantId>(&format!("\"{id}\"")).unwrap(), id);
        prop_assert_eq!(postcard::from_bytes::<TenantId>(&postcard::to_allocvec(&id).unwrap()).unwrap(), id);
    }

    #[test]
    fn the_parts_of_a_vault_id_do_not_reach_into_each_other(ms in 0_u64..1 << 48, random in any::<u128>()) {
        let id = VaultId::from_parts(ms, random);
        prop_assert_eq!(id.milliseconds(), ms);
        prop_assert_eq!(id.as_u128() & ((1 << 80) - 1), random & ((1 << 80) - 1));
    }
}

#[test]
fn a_vault_id_of_the_specification_reads_as_its_number() {
    let id: VaultId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    assert_eq!(id.milliseconds(), 1_469_922_850_259);
    assert_eq!("7ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<VaultId>(), Ok(VaultId::from_u128(u128::MAX)));
}

#[test]
fn other_writings_of_a_vault_id_are_refused() {
    for text in [
        "",
        "01arz3ndektsv4rrffq69g5fav",
        "01ARZ3NDEKTSV4RRFFQ69G5FA",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV ",
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "O1ARZ3NDEKTSV4RRFFQ69G5FAV",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU",
        "éééééééééééééé",
    ] {
        let error = text.parse::<VaultId>().unwrap_err();
        assert!(error.to_string().contains("a vault id"), "{text}: {error}");
    }
}

#[test]
fn other_writings_of_a_number_are_refused() {
    for text in ["", "+1", "-1", "01", "00", " 1", "1 ", "0x1", "18446744073709551616", "١"] {
        assert!(text.parse::<NodeId>().is_err(), "{text}");
    }
    assert!("4294967296".parse::<ShardId>().is_err());
}

#[test]
fn tenants_counted_apart_have_ids_apart() {
    let ids: BTreeSet<TenantId> = (0..10_000).map(|count| TenantId::from_count(count, 42)).collect();
    assert_eq!(ids.len(), 10_000);
}

#[test]
fn the_id_behind_the_last_vault_id_is_none() {
    assert_eq!(VaultId::from_u128(u128::MAX).next(), None);
    assert_eq!(VaultId::from_u128(7).next(), Some(VaultId::from_u128(8)));
}

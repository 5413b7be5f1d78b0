//! The byte form of entries: what is written reads back, and nothing else reads.

use proptest::prelude::*;
use undercroft_proto::VaultId;
use undercroft_vault::replica::{Adopt, Command, Create, DropVault};

use super::entry::{Malformed, ShardEntry, What};

/// What must hold of any bytes: they are refused, or they are the one form of what was read.
fn only_one_form(bytes: &[u8]) {
    if let Ok(entry) = ShardEntry::decode(bytes) {
        assert_eq!(entry.encode(), bytes);
    }
}

fn commands() -> impl Strategy<Value = What> {
    let pair = || (any::<u64>(), any::<u64>());
    prop_oneof![
        ("[a-z-]{0,12}", ".{0,40}", any::<i64>(), pair(), any::<u32>()).prop_map(
            |(level, name, at, (epoch, incarnation), generation)| {
                What::Create(Create { name, level, at, epoch, incarnation, generation })
            }
        ),
        pair().prop_map(|(move_id, epoch)| What::Adopt(Adopt { move_id, epoch })),
        any::<u64>().prop_map(|epoch| What::Drop(DropVault { epoch })),
        pair().prop_map(|(move_id, epoch)| What::Change(Command::Freeze { move_id, epoch })),
        pair().prop_map(|(move_id, epoch)| What::Change(Command::Activate { move_id, epoch })),
        pair().prop_map(|(move_id, epoch)| What::Change(Command::AbortMove { move_id, epoch })),
        any::<u32>().prop_map(|to| What::Change(Command::MigrateSchema { to })),
        any::<u64>().prop_map(|index| What::Change(Command::ArchivedUpTo { index })),
        any::<u32>().prop_map(|generation| What::Change(Command::Rotate { generation })),
    ]
}

proptest! {
    #[test]
    fn every_command_reads_back_and_no_cut_of_it_does(vault: u128, what in commands()) {
        let entry = ShardEntry { vault: VaultId::from_u128(vault), what };
        let bytes = entry.encode();
        prop_assert_eq!(ShardEntry::decode(&bytes), Ok(entry));
        for end in 0..bytes.len() {
            prop_assert!(ShardEntry::decode(&bytes[..end]).is_err());
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        prop_assert!(ShardEntry::decode(&longer).is_err());
    }

    #[test]
    fn any_bytes_that_read_are_the_only_bytes(kind in 0_u8..12, bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        only_one_form(&bytes);
        only_one_form(&[&[1, kind], bytes.as_slice()].concat());
    }
}

#[test]
fn the_form_is_as_it_was() {
    let vault = VaultId::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
    let hex = |what| hex::encode(ShardEntry { vault, what }.encode());
    let id = "100f0e0d0c0b0a090807060504030201";
    let create = Create {
        name: String::from("v"),
        level: String::from("sealed"),
        at: 1,
        epoch: 2,
        incarnation: 3,
        generation: 4,
    };
    let golden = "01000000000000000200000000000000030000000000000004000000067365616c65640176";
    assert_eq!(hex(What::Create(create)), format!("0102{id}{golden}"));
    assert_eq!(
        hex(What::Change(Command::Freeze { move_id: 5, epoch: 6 })),
        format!("0105{id}05000000000000000600000000000000")
    );
    assert_eq!(hex(What::Drop(DropVault { epoch: 7 })), format!("0104{id}0700000000000000"));
    assert_eq!(hex(What::Change(Command::Rotate { generation: 8 })), format!("010a{id}08000000"));
}

#[test]
fn what_a_newer_program_wrote_is_named_as_such() {
    let mut bytes =
        ShardEntry { vault: VaultId::from_u128(1), what: What::Drop(DropVault { epoch: 1 }) }.encode();
    bytes[1] = 99;
    assert_eq!(ShardEntry::decode(&bytes), Err(Malformed::Kind(99)));
    bytes[0] = 2;
    assert_eq!(ShardEntry::decode(&bytes), Err(Malformed::Version(2)));
    bytes[..2].copy_from_slice(&[1, 1]);
    assert!(matches!(ShardEntry::decode(&bytes), Err(Malformed::Segment(_))));
}

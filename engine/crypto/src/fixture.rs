//! The fixed master key, seal id and salt that the tests of this crate share.

use crate::derive::VaultKeys;
use crate::ids::{KeyGeneration, Salt, SealId};
use crate::master::MasterKey;
use crate::seal::{SealContext, SealDomain};

/// The bytes `first`, `first + 1`, and so on.
pub(crate) fn rising<const N: usize>(first: u8) -> [u8; N] {
    std::array::from_fn(|i| first + u8::try_from(i).expect("short"))
}

pub(crate) fn master() -> MasterKey {
    MasterKey::from_bytes(&rising::<32>(0)).expect("32 bytes")
}

pub(crate) fn seal_id() -> SealId {
    SealId::from_bytes(rising(0x40))
}

pub(crate) fn salt() -> Salt {
    Salt::from_bytes(rising(0x80))
}

pub(crate) fn generation(number: u32) -> KeyGeneration {
    KeyGeneration::from_u32(number).expect("not zero")
}

pub(crate) fn keys() -> VaultKeys {
    VaultKeys::derive(&master(), &seal_id(), generation(3), &salt())
}

pub(crate) fn place(seal_id: &SealId) -> SealContext<'_> {
    SealContext { seal_id, generation: generation(3), record: b"record", domain: SealDomain::DrawerContent }
}

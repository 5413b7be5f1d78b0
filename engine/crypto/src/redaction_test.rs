//! No key shows a byte of itself when printed, and keys may be shared between threads.

use crate::blind::{BlindKey, LabelKey};
use crate::chain::ChainKey;
use crate::derive::{NonceKey, SampleKey, SegmentKey, VaultKeys};
use crate::entropy::SeededEntropy;
use crate::fixture::{keys, master, rising};
use crate::manifest::ManifestKey;
use crate::master::MasterKey;
use crate::seal::SealKey;
use crate::secret::Secret;
use crate::tag::MacKey;

#[test]
fn the_debug_form_of_every_key_is_its_name_alone() {
    let keys = keys();
    let secret = Secret::fill_with(|out| *out = rising(0));
    let printed: [(&str, &dyn std::fmt::Debug); 12] = [
        ("Secret", &secret),
        ("MasterKey", &master()),
        ("VaultKeys", &keys),
        ("SealKey", keys.enc()),
        ("MacKey", keys.mac()),
        ("ManifestKey", keys.manifest()),
        ("ChainKey", keys.chain()),
        ("BlindKey", keys.blind()),
        ("SampleKey", keys.sample()),
        ("SegmentKey", keys.segment()),
        ("NonceKey", keys.nonce()),
        ("LabelKey", &LabelKey::generate(&SeededEntropy::new(1))),
    ];
    for (name, key) in printed {
        assert_eq!(format!("{key:?}"), format!("{name}(..)"));
        assert_eq!(format!("{key:#?}"), format!("{name}(..)"));
    }
}

#[test]
fn keys_are_shared_between_threads_by_reference() {
    fn shared<T: Send + Sync>() {}
    shared::<VaultKeys>();
    shared::<MasterKey>();
    shared::<LabelKey>();
    shared::<(SealKey, MacKey, ManifestKey, ChainKey, BlindKey, SampleKey, SegmentKey, NonceKey)>();
}

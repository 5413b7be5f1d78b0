//! Golden vectors. Every constant was computed outside this crate: HMAC and SHA-256 with Python's standard
//! library, HKDF and XChaCha20 written out by hand from their specifications around OpenSSL's ChaCha20-Poly1305,
//! Argon2id with the reference implementation in C. Inputs: see [`crate::fixture`].

use crate::blind::{BlindColumn, LabelKey};
use crate::chain::ChainState;
use crate::derive::Purpose;
use crate::entropy::{Entropy, SeededEntropy};
use crate::fixture::{generation, keys, master, place, rising, salt, seal_id};
use crate::ids::{Blind, KdfSalt, Tag};
use crate::master::MasterKey;
use crate::tag::TagDomain;

const PLAIN: &[u8] = b"The key is under the third stone.";

#[test]
fn each_purpose_derives_its_known_key() {
    let expected = [
        (Purpose::Enc, "176b0bb4793d32dd676f478e608a6d237c097eb150602b61341198db75462db2"),
        (Purpose::Mac, "7e3b43394a032d8b6ea9a035ba2549de6796fef58d4957053777cd7e5ace1e75"),
        (Purpose::Manifest, "603e40a0bd443761c4dff3ae09d63e87f8584103f91a23d676449ac99b4bbe0f"),
        (Purpose::Chain, "7272c59c6c09ca525eb6d7fdae91a7a38f6eb7fb521168d1fd77a26bb49087dd"),
        (Purpose::Blind, "f15c19be7a4220ba15f782f60c0d5674639d191ec643d406cd6e79d8840b3604"),
        (Purpose::Sample, "71d5422d76ef57678defbf56dc5d22d124d6fbdd4d7d4d17d40217add2ac9cdd"),
        (Purpose::Segment, "9810580a2cc116e66953f9249ec3b37691e9929501c500dbcf5822bb128d421e"),
        (Purpose::Nonce, "dd76ca1610f6867b135dece7258695a543980efddc8d6c405fb86d4340939f3b"),
    ];
    for (purpose, hex) in expected {
        let secret = crate::derive::derive_secret(&master(), &seal_id(), generation(3), &salt(), purpose);
        assert_eq!(hex::encode(secret.expose()), hex, "{purpose:?}");
    }
}

#[test]
fn the_master_key_of_a_passphrase_is_the_reference_implementation_s() {
    let key = MasterKey::from_passphrase(b"correct horse battery staple", &KdfSalt::from_bytes(rising(0)))
        .expect("64 MiB");
    assert_eq!(
        hex::encode(key.expose_to_key_file()),
        "0d1a3c6523c8f06e4e0af9c515aa5b5448cfebd6838f2d52c3d8b6ef8ddc3c2e"
    );
}

#[test]
fn a_tag_is_the_known_one() {
    let tag = keys().mac().tag(TagDomain::Drawer, &[b"id", b"", b"content"]);
    assert_eq!(tag.to_hex(), "e6fa9cd2455716598bd1c565a4237a1697b11d06e0d30d1588c625d006a4822e");
}

#[test]
fn blind_values_are_the_known_ones() {
    assert_eq!(
        keys().blind().blind(BlindColumn::Wing, b"kitchen").to_hex(),
        "72f227630fe9e8d3db1bfec3493f0171"
    );
    let label_key = LabelKey::generate(&SeededEntropy::new(6));
    assert_eq!(label_key.blind("drawer.add").to_hex(), "4347edf3df4f70d965706415e2d46320");
}

#[test]
fn chain_steps_digests_and_witnesses_are_the_known_ones() {
    let expected = [
        (
            1_700_000_000_123_456,
            "bd12d1009dec1423f2b374b553ebfcac90f31aa08394c1768d3102524046c49c",
            "451d94cc2bdd5df09cc4e12b5c0ba6d9556fa6da3c517bda8cfa7ad040d7c4f2",
            "3bd88b795fd527a47f52254bc09739008a432c7e85bce549bef084ec10acbb25",
        ),
        (
            -299_999_999_876_544,
            "ac1f6c61b4acb2b6178de86b099b3f87558f9246a7e317ae236330558a5f8c90",
            "91fa1fc498918bfc9046f0b78098dd7fdad826dfe337ff2120af68f3a57b94e0",
            "ec8ec3781cc2afdf841d1b610ea1d17cab1f05d82e5b6a872516580936dfae2a",
        ),
        (
            -2_299_999_999_876_544,
            "dfbf08f8c314b1f144634d3b865859c11d4b49d99574cc07ae4e33e72173bb49",
            "ffc5da57d7658a9ad134e274aa0b0805d934b433a6a48b9d836114c19351fd81",
            "bd208302078e155980b29357387c15697136165d12108dc21161e6edea4bdfc0",
        ),
    ];
    let keys = keys();
    let mut state = ChainState::genesis();
    for (row, (at_micros, head, digest, witness)) in (0_u8..).zip(expected) {
        let label = Blind::from_bytes([0x11 + row; 16]);
        state = keys.chain().step(&state, &label, &Tag::from_bytes([0x22; 32]), at_micros);
        assert_eq!(state.height.get(), u64::from(row) + 1);
        assert_eq!(state.head.to_hex(), head);
        assert_eq!(state.digest.to_hex(), digest);
        assert_eq!(hex::encode(state.witness()), witness);
    }
}

#[test]
fn sealed_bytes_are_the_known_ones() {
    let (keys, seal_id) = (keys(), seal_id());
    let sealed = keys.enc().seal(&place(&seal_id), PLAIN, &SeededEntropy::new(5));
    assert_eq!(
        hex::encode(sealed),
        "8999cb164e858dba04c71bf45d91c0d033d53c186a6858cfc306668251e5a887c63cc9febbcb263ab8061c1b54d4da56\
         168b7a9b51dba4ce958af72a088bdf86073063a4517ef0cb81"
    );
    let segment = keys.segment().seal(b"header", b"body", &SeededEntropy::new(5));
    assert_eq!(
        hex::encode(segment),
        "8999cb164e858dba04c71bf45d91c0d033d53c186a6858cf18d0090dba2c1fa52d5b08ccf4fe0f5f0787f3d8"
    );
    let label_key = LabelKey::generate(&SeededEntropy::new(6));
    assert_eq!(
        hex::encode(label_key.seal_under(keys.enc(), &seal_id, generation(3), &SeededEntropy::new(5))),
        "8999cb164e858dba04c71bf45d91c0d033d53c186a6858cf70052a8056ada5309771e7ec10c13ca3a843be7545c19ae8\
         45b822874fcf9f58bccce510ceaf44bdcdbc74f229b0d051"
    );
}

#[test]
fn derived_nonces_and_sample_ranks_are_the_known_ones() {
    let (keys, seal_id) = (keys(), seal_id());
    assert_eq!(
        hex::encode(keys.nonce().nonce(&[0x33; 32], &place(&seal_id), PLAIN)),
        "730e14f139b1170b9d28b050b4aac20507bfc521d638d8ae"
    );
    assert_eq!(keys.sample().rank(9, &Blind::from_bytes([0x11; 16])), 7_616_084_927_306_394_336);
}

#[test]
fn seeded_entropy_is_the_known_one() {
    let mut out = [0; 8];
    SeededEntropy::new(5).fill(&mut out);
    assert_eq!(hex::encode(out), "8999cb164e858dba");
}

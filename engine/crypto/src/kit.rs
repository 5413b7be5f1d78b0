//! The sealed file that a recovery kit is kept in: one body of bytes under a passphrase or a key file.
//!
//! The table of bytes is in `docs/formats/recovery-kit.md`. What the body holds is decided by who makes the kit. Damage
//! by chance is told from a wrong secret, and a wrong secret from bytes that somebody changed.

use hkdf::Hkdf;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::entropy::Entropy;
use crate::error::Error;
use crate::ids::KdfSalt;
use crate::keyed::Keyed;
use crate::layout::{put_domain, put_lp};
use crate::master::MasterKey;
use crate::seal::{Cipher, SEAL_OVERHEAD};
use crate::secret::Secret;

/// The first bytes of every kit; the last of them is the version.
pub const MAGIC: [u8; 8] = *b"UCrckit\x01";
/// The domain of the key derivation and of the check value.
pub const KIT_DOMAIN: &str = "undercroft/recovery-kit/1";

/// Bytes of the check value.
const CHECK_LEN: usize = 16;
/// Bytes of the digest at the end.
const DIGEST_LEN: usize = 32;
/// Magic, kind of secret, salt, check value: everything before the sealed body.
const HEAD_LEN: usize = MAGIC.len() + 1 + KdfSalt::LEN + CHECK_LEN;

/// Under what a kit is sealed. It is never printed.
#[derive(Clone, Copy)]
pub enum KitSecret<'a> {
    /// Stretched by Argon2id as [`MasterKey::from_passphrase`] does.
    Passphrase(&'a [u8]),
    /// The 32 bytes of a key file.
    KeyFile(&'a MasterKey),
}

impl KitSecret<'_> {
    const fn kind(self) -> u8 {
        match self {
            Self::Passphrase(_) => 1,
            Self::KeyFile(_) => 2,
        }
    }

    const fn name(kind: u8) -> Option<&'static str> {
        match kind {
            1 => Some("a passphrase"),
            2 => Some("a key file"),
            _ => None,
        }
    }
}

/// Seals a kit's body: magic ‖ kind ‖ salt(16) ‖ check(16) ‖ nonce(24) ‖ ciphertext ‖ authenticator(16) ‖ SHA-256 of all
/// before. Takes a fraction of a second under a passphrase, on purpose.
///
/// # Errors
/// [`Error::Kdf`].
pub fn seal(secret: KitSecret<'_>, body: &[u8], entropy: &dyn Entropy) -> Result<Vec<u8>, Error> {
    let salt = KdfSalt::generate(entropy);
    let mut file = Vec::with_capacity(HEAD_LEN + SEAL_OVERHEAD + body.len() + DIGEST_LEN);
    file.extend_from_slice(&MAGIC);
    file.push(secret.kind());
    file.extend_from_slice(salt.as_bytes());
    let keys = Keys::derive(secret, &salt)?;
    let check = keys.check(&file);
    file.extend_from_slice(&check);
    let sealed = keys.cipher.seal(&file, body, entropy);
    file.extend_from_slice(&sealed);
    let digest = Sha256::digest(&file);
    file.extend_from_slice(&digest);
    Ok(file)
}

/// Opens a kit and gives its body.
///
/// # Errors
/// [`Error::KitForm`] for a file that is none, or of a newer version; [`Error::KitDamaged`] for bytes that were changed;
/// [`Error::KitKind`] for a passphrase where a key file is needed, or the other way round; [`Error::KitSecret`] for a
/// secret that is not the kit's; [`Error::Kdf`].
pub fn open(secret: KitSecret<'_>, file: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let (name, version) = MAGIC.split_at(MAGIC.len() - 1);
    let found = file.strip_prefix(name).and_then(<[u8]>::first);
    match found {
        None => return Err(Error::KitForm { detail: "it does not begin as one" }),
        Some(found) if *found != version[0] => {
            return Err(Error::KitForm { detail: "it is of another version than this program knows" });
        }
        Some(_) => {}
    }
    let (content, digest) = file.split_last_chunk::<DIGEST_LEN>().ok_or(Error::KitDamaged)?;
    let intact = Sha256::digest(content).as_slice() == digest && content.len() >= HEAD_LEN + SEAL_OVERHEAD;
    if !intact {
        return Err(Error::KitDamaged);
    }
    let (head, sealed) = content.split_at(HEAD_LEN);
    let (before, check) = head.split_at(HEAD_LEN - CHECK_LEN);
    let kind = before[MAGIC.len()];
    let needs = KitSecret::name(kind).ok_or(Error::KitDamaged)?;
    if kind != secret.kind() {
        return Err(Error::KitKind { needs });
    }
    let keys = Keys::derive(secret, &KdfSalt::from_slice(&before[MAGIC.len() + 1..])?)?;
    if !bool::from(keys.check(before).ct_eq(check)) {
        return Err(Error::KitSecret { what: needs });
    }
    let mut body = Zeroizing::new(Vec::new());
    // The secret is the kit's, so what does not open was changed.
    keys.cipher.open_into(head, sealed, &mut body).map_err(|_| Error::KitDamaged)?;
    Ok(body)
}

/// The keys of one kit.
struct Keys {
    cipher: Cipher,
    check: Keyed,
}

impl Keys {
    /// HKDF-SHA256 (RFC 5869) over the stretched passphrase or the key file, with the kit's salt.
    fn derive(secret: KitSecret<'_>, salt: &KdfSalt) -> Result<Self, Error> {
        let stretched;
        let root = match secret {
            KitSecret::Passphrase(passphrase) => {
                stretched = MasterKey::from_passphrase(passphrase, salt)?;
                &stretched
            }
            KitSecret::KeyFile(key) => key,
        };
        let (mut prk, expander) =
            Hkdf::<Sha256>::extract(Some(salt.as_bytes().as_slice()), root.secret().expose());
        prk.as_mut_slice().zeroize();
        let key = |purpose: &str| expand(&expander, purpose);
        Ok(Self { cipher: Cipher::new(&key("seal")), check: Keyed::new(&key("check")) })
    }

    /// What tells the kit's secret from any other, before the body is opened.
    fn check(&self, before: &[u8]) -> [u8; CHECK_LEN] {
        let mut running = self.check.start(KIT_DOMAIN);
        running.lp(before);
        running.finish_short()
    }
}

fn expand(hkdf: &Hkdf<Sha256>, purpose: &str) -> Secret {
    let mut info = Vec::with_capacity(64);
    put_domain(&mut info, KIT_DOMAIN);
    put_lp(&mut info, purpose.as_bytes());
    Secret::fill_with(|out| {
        #[expect(clippy::expect_used, reason = "RFC 5869 allows up to 255 hash lengths, and this is one")]
        hkdf.expand(&info, out).expect("32 bytes are one hash length");
    })
}

#[cfg(test)]
#[path = "kit_test.rs"]
mod kit_test;

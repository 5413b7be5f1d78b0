//! Thirty-two secret bytes that are never copied, never printed and zeroed when dropped.
//!
//! The bytes live on the heap, so moving a key moves a pointer and leaves nothing behind on the stack.

use zeroize::Zeroize;

use crate::layout::KEY_LEN;

/// A private 32-byte secret. It has no `Clone`, and its `Debug` shows no byte.
pub(crate) struct Secret(Box<[u8; KEY_LEN]>);

impl Secret {
    /// Makes a secret in place: `write` receives the zeroed bytes where they will stay.
    pub(crate) fn fill_with(write: impl FnOnce(&mut [u8; KEY_LEN])) -> Self {
        let mut secret = Self(Box::new([0; KEY_LEN]));
        write(&mut secret.0);
        secret
    }

    /// The bytes, for as long as the borrow lasts. Callers pass them on and never copy them.
    pub(crate) fn expose(&self) -> &[u8; KEY_LEN] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Gives key types a `Debug` that prints the type's name and nothing else.
macro_rules! redacted_debug {
    ($($name:ident),+ $(,)?) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    )+};
}
pub(crate) use redacted_debug;

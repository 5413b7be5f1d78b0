use undercroft_crypto::{MasterKey, VaultKeys};

fn take(keys: VaultKeys) {
    let _ = keys.enc;
}

fn main() {
    let key = MasterKey::from_bytes(&[0; 32]).unwrap();
    let _ = &key.0;
}

use undercroft_crypto::{MasterKey, VaultKeys};

fn twice(keys: &VaultKeys) -> VaultKeys {
    keys.clone()
}

fn main() {
    let key = MasterKey::from_bytes(&[0; 32]).unwrap();
    let copy: MasterKey = Clone::clone(&key);
    drop((key, copy));
}

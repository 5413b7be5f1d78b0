use undercroft_crypto::MasterKey;

fn main() {
    let key = MasterKey::from_bytes(&[0; 32]).unwrap();
    println!("{key}");
}

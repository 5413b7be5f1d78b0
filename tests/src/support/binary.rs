//! Where the binary under test is: built once for each test program, in the profile and target folder of the tests.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The path of `undercroft`, built from this tree.
///
/// # Panics
/// When it does not build.
pub fn binary() -> &'static PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(build)
}

fn build() -> PathBuf {
    // A test program lies in <target>/<profile>/deps/.
    let own = std::env::current_exe().expect("the path of this test program");
    let profile = own.ancestors().nth(2).expect("a profile's folder").to_path_buf();
    let target = profile.parent().expect("a target folder");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(crate::tree::root())
        .args(["build", "--quiet", "--package", "undercroft", "--bin", "undercroft", "--target-dir"])
        .arg(target);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "undercroft does not build");
    profile.join(format!("undercroft{}", std::env::consts::EXE_SUFFIX))
}

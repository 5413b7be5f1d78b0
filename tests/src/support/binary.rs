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

/// The binary's own contract tests. Asking for them, with the whole workspace in view, makes cargo resolve features as
/// `cargo test --workspace` does: after that command nothing is left to compile here, and after any other the binary is
/// still that of this tree.
const CONTRACT: &str = "contract";

fn build() -> PathBuf {
    // A test program lies in <target>/<profile>/deps/.
    let own = std::env::current_exe().expect("the path of this test program");
    let profile = own.ancestors().nth(2).expect("a profile's folder").to_path_buf();
    let target = profile.parent().expect("a target folder");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(crate::tree::root())
        .args(["test", "--quiet", "--workspace", "--no-run", "--test", CONTRACT, "--target-dir"])
        .arg(target);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let output = cargo.output().expect("cargo runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "undercroft does not build:\n{told}");
    profile.join(format!("undercroft{}", std::env::consts::EXE_SUFFIX))
}

//! Compiles the messages and services when they are asked for. Needs no compiler of protocol buffers on the machine.

fn main() {
    println!("cargo::rerun-if-changed=wire");
    #[cfg(feature = "wire")]
    wire();
}

#[cfg(feature = "wire")]
fn wire() {
    let files = ["control.proto", "raft.proto"];
    let described = match protox::compile(files, ["wire"]) {
        Ok(described) => described,
        Err(error) => panic!("proto/wire does not compile: {error}"),
    };
    let generated = tonic_prost_build::configure().build_transport(false).compile_fds(described);
    if let Err(error) = generated {
        panic!("no code from proto/wire: {error}");
    }
}

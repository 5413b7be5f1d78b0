//! `control-plane`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `control-plane`. UNDERCROFT_ORCH_KEY and UNDERCROFT_ORCH_ADMIN_TOKEN are read from the environment.
#[derive(Debug, Args)]
pub(crate) struct ControlPlaneArgs {
    /// The member's folder; an empty one begins a new member
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: PathBuf,
    /// Address for members, nodes and routers; beyond this machine only with --cert-dir
    #[arg(long, default_value = "127.0.0.1:7800", value_name = "HOST:PORT")]
    pub(crate) listen: String,
    /// Where others reach it [default: where it listens]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) advertise: Option<String>,
    /// A running member, for a new one to enter its group; may be given again
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',')]
    pub(crate) join: Vec<String>,
    /// The member's certificates, as 'cluster certs' makes them; without any, connections are plain
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cert_dir: Option<PathBuf>,
    /// Address of the Admin API, HTTPS with --cert-dir; beyond this machine only with it [default: UNDERCROFT_ORCH_ADDR, else 127.0.0.1:8900]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) admin_listen: Option<String>,
    /// File with the key by which nodes prove themselves (64 hexadecimal digits); without it no node joins
    #[arg(long, value_name = "FILE")]
    pub(crate) join_key_file: Option<PathBuf>,
}

//! `keygen` and `cluster …`

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use undercroft_certs::limits;

use super::fleet::{FoundArgs, JoinKeyArgs, KitArgs, MemberArgs, StatusArgs};

/// Arguments of `keygen`.
#[derive(Debug, Args)]
pub(crate) struct KeygenArgs {
    /// Write the lines into this new file (0600) and print only its path
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// `cluster …`
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Found the cluster: how many shards, how many replicas of each. Once
    Init(FoundArgs),
    /// Print the cluster and the members of its control group
    Status(StatusArgs),
    /// Print, add and remove members of the control group
    Member(MemberArgs),
    /// Keep what the control group knows in a sealed file, or check such a file
    RecoveryKit(KitArgs),
    /// Print the key by which nodes prove that they hold this installation's master key
    JoinKey(JoinKeyArgs),
    /// Make, list and renew the certificates of a cluster; the first one makes its CA
    Certs(CertsArgs),
}

/// Arguments of `cluster certs`. Without --role, --renew and --renew-ca it lists what there is.
#[derive(Debug, Args)]
pub(crate) struct CertsArgs {
    /// The CA's folder; each certificate gets a folder in it, to be copied to its process
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cert_dir: PathBuf,

    /// What the holder is: control, node, router or admin
    #[arg(long, requires = "name")]
    pub(crate) role: Option<String>,

    /// The holder's name, for example berlin-1
    #[arg(long, requires = "role")]
    pub(crate) name: Option<String>,

    /// A host name at which others reach the holder; may be given again
    #[arg(long, value_name = "HOST", requires = "role")]
    pub(crate) host: Vec<String>,

    /// An address at which others reach the holder; may be given again
    #[arg(long, value_name = "ADDRESS", requires = "role")]
    pub(crate) ip: Vec<IpAddr>,

    /// Days for which a new certificate is valid
    #[arg(long, value_name = "DAYS", default_value_t = limits::DAYS)]
    pub(crate) days: u32,

    /// Renew every certificate of which a third of its time or less is left; with --role, that one in any case
    #[arg(long)]
    pub(crate) renew: bool,

    /// Renew the CA, in three stages between which the folders are copied to all processes
    #[arg(long, value_name = "STAGE", conflicts_with_all = ["role", "renew"])]
    pub(crate) renew_ca: Option<CaStage>,
}

/// The stages of renewing a CA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaStage {
    /// Make the next CA; everybody trusts both
    Begin,
    /// The next CA signs; every certificate is issued anew
    Switch,
    /// Nobody trusts the old CA any more
    Finish,
}

//! `serve-http`.

use clap::Args;

/// Arguments of `serve-http`.
#[derive(Debug, Args)]
pub(crate) struct ServeHttpArgs {
    /// Name or address to listen on; beyond this machine only with UNDERCROFT_MCP_HTTP_TOKEN
    #[arg(long, default_value = "127.0.0.1", value_name = "HOST")]
    pub(crate) host: String,
    /// Port to listen on; 0 takes a free one
    #[arg(long, default_value_t = 8765, value_name = "PORT")]
    pub(crate) port: u16,
    /// Open vaults for reading alone and refuse every change
    #[arg(long)]
    pub(crate) read_only: bool,
}

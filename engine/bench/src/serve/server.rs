//! The program under measurement: an installation in a temporary folder and its server as a process of its own.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::client::{Client, Prepared};
use crate::machine;

/// How long the server may take to say where it listens.
const START: Duration = Duration::from_secs(30);

/// An installation that outlives its servers.
pub(super) struct Installation {
    folder: TempDir,
    binary: PathBuf,
}

/// A running server. Dropping it kills it.
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Installation {
    /// Makes one.
    ///
    /// # Errors
    /// When the program does not start or refuses.
    pub(super) fn new(binary: &Path) -> io::Result<Self> {
        let made = Self { folder: TempDir::new()?, binary: binary.to_path_buf() };
        let done = made.command(&["init"]).output()?;
        if !done.status.success() {
            return Err(io::Error::other(format!("init: {}", String::from_utf8_lossy(&done.stderr))));
        }
        Ok(made)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, typed: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .env_clear()
            .env("HOME", self.folder.path())
            .arg("--data-dir")
            .arg(self.folder.path().join("palace"))
            .args(typed)
            .stdin(Stdio::null());
        command
    }

    /// Starts a server with its standard settings; its log goes to a file.
    ///
    /// # Errors
    /// When it does not start in time.
    pub(super) fn serve(&self) -> io::Result<Server> {
        let log = self.folder.path().join("server.log");
        let file = File::create(&log)?;
        let mut command = self.command(&["serve-http", "--port", "0"]);
        let mut child = command.stdout(Stdio::null()).stderr(file).spawn()?;
        let begun = Instant::now();
        loop {
            let said = fs::read_to_string(&log)?;
            if let Some(address) = address_in(&said) {
                return Ok(Server { child, address });
            }
            if begun.elapsed() > START || child.try_wait()?.is_some() {
                let _ = child.kill();
                return Err(io::Error::other(format!("the server did not start: {said}")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// `Serving <folder> on http://<address>`.
fn address_in(said: &str) -> Option<SocketAddr> {
    let line = said.lines().find(|line| line.starts_with("Serving "))?;
    let (_, after) = line.rsplit_once("http://")?;
    after.split(',').next()?.trim().parse().ok()
}

impl Server {
    pub(super) fn client(&self) -> io::Result<Client> {
        Client::connect(self.address)
    }

    /// Makes a sealed vault.
    pub(super) fn create(&self, client: &mut Client, vault: &str) -> io::Result<()> {
        let body = serde_json::json!({ "id": vault }).to_string();
        client.expect(&Prepared::new("POST", "/v1/vaults", &body)).map(drop)
    }

    /// Its resident memory, in MiB.
    pub(super) fn resident_mib(&self) -> f64 {
        machine::resident_mib_of(&self.child.id().to_string())
    }

    /// Processor seconds that it has used.
    pub(super) fn cpu_secs(&self) -> f64 {
        machine::cpu_secs_of(&self.child.id().to_string())
    }

    /// Files that it has open.
    pub(super) fn descriptors(&self) -> io::Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())
    }

    /// Tells it to stop, and waits until it has.
    pub(super) fn stop(mut self) -> io::Result<()> {
        let told = Command::new("kill").arg(self.child.id().to_string()).status()?;
        let ended = self.child.wait()?;
        if told.success() && ended.success() {
            Ok(())
        } else {
            Err(io::Error::other("the server did not stop well"))
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

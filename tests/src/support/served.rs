//! A server of the real binary as a process of its own, and the smallest client for it that keeps its connection.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use super::Palace;

/// Nothing takes so long unless it hangs.
pub const PATIENCE: Duration = Duration::from_secs(120);

const SERVE: [&str; 3] = ["serve-http", "--port", "0"];

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub struct Served {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
    outputs: Vec<JoinHandle<String>>,
}

impl Served {
    /// Starts a server of the installation on a free port and waits until it accepts connections.
    #[must_use]
    pub fn start(palace: &Palace) -> Self {
        Self::of(palace.command(&SERVE))
    }

    /// The same, with at most so many files open at once.
    #[must_use]
    pub fn with_files(palace: &Palace, files: u64) -> Self {
        let direct = palace.command(&SERVE);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]).arg(direct.get_program());
        shell.args(direct.get_args()).env_clear();
        shell.envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self::of(shell)
    }

    /// Starts this command and waits until it accepts connections.
    ///
    /// # Panics
    /// When it does not.
    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the binary starts");
        let (found, address) = channel();
        let stderr = child.stderr.take().expect("its standard error");
        let stdout = child.stdout.take().expect("its standard output");
        // Read as it comes: a server whose output nobody reads is another test.
        let outputs = vec![collect(stderr, Some(found)), collect(stdout, None)];
        let address = address.recv_timeout(PATIENCE).expect("it says where it listens");
        Self { child, address, outputs }
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Files that it has open.
    ///
    /// # Panics
    /// When it has ended.
    #[must_use]
    pub fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.id())).expect("a process").count()
    }

    /// A new connection.
    ///
    /// # Panics
    /// When it is not accepted.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::connect(self.address).expect("a connection")
    }

    /// Kills it as a failing machine would (SIGKILL) and gives what it had printed.
    ///
    /// # Panics
    /// When it had ended before.
    #[must_use]
    pub fn kill(mut self) -> String {
        assert!(self.child.try_wait().expect("a child").is_none(), "it ended by itself");
        self.child.kill().expect("killed");
        self.child.wait().expect("it ended");
        self.printed()
    }

    /// Tells it to stop (SIGTERM), waits until it has, and gives what it had printed.
    ///
    /// # Panics
    /// When it does not end well.
    #[must_use]
    pub fn stop(mut self) -> String {
        let told = Command::new("kill").arg(self.id().to_string()).status().expect("kill");
        assert!(told.success(), "it ended by itself");
        let ended = self.child.wait().expect("it ended");
        let printed = self.printed();
        assert!(ended.success(), "{ended}\n{printed}");
        printed
    }

    fn printed(&mut self) -> String {
        self.outputs.drain(..).map(|output| output.join().expect("its output is text")).collect()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads everything, and tells the address when its line comes.
fn collect(output: impl Read + Send + 'static, found: Option<Sender<SocketAddr>>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut all = String::new();
        for line in BufReader::new(output).lines() {
            let line = line.expect("text");
            let address = line.strip_prefix("Serving ").and_then(|line| line.rsplit_once("http://"));
            let address = address.and_then(|(_, rest)| rest.split(',').next()?.parse().ok());
            if let (Some(address), Some(found)) = (address, &found) {
                // The test may have given up.
                let _ = found.send(address);
            }
            all.push_str(&line);
            all.push('\n');
        }
        all
    })
}

/// One kept connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The status.
    pub status: u16,
    /// The head as it came.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answered {
    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("no JSON: {error}\n{self:?}"))
    }

    /// The body as JSON, once the status is the expected one.
    ///
    /// # Panics
    /// When it is another.
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens there.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream })
    }

    /// Sends a request and reads its answer.
    ///
    /// # Errors
    /// When the connection ends before.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> io::Result<Answered> {
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{more}\r\n{body}"
        );
        self.stream.write_all(request.as_bytes())?;
        self.read()
    }

    /// Sends bytes as they are and reads until the server closes the connection.
    ///
    /// # Panics
    /// When it does not close it.
    #[must_use]
    pub fn raw(mut self, bytes: &[u8]) -> Vec<u8> {
        // The server may close before it has read everything, and reset what it did not read.
        let _ = self.stream.write_all(bytes);
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        loop {
            match self.stream.read(&mut part) {
                Ok(0) => return answer,
                Ok(read) => answer.extend_from_slice(&part[..read]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return answer,
                Err(error) => panic!("the connection stays open: {error}, after {answer:?}"),
            }
        }
    }

    /// Sends bytes as they are and goes away.
    pub fn leave(mut self, bytes: &[u8]) {
        // Who goes away does not mind.
        let _ = self.stream.write_all(bytes);
    }

    fn read(&mut self) -> io::Result<Answered> {
        let (mut bytes, mut part) = (Vec::new(), [0; 16 << 10]);
        let mut more = |bytes: &mut Vec<u8>| match self.stream.read(&mut part)? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            read => {
                bytes.extend_from_slice(&part[..read]);
                Ok(())
            }
        };
        let end = loop {
            more(&mut bytes)?;
            if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let named = |line: &str| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok();
        let length = head.lines().find_map(named).unwrap_or(0);
        while bytes.len() < end + length {
            more(&mut bytes)?;
        }
        let status = head.get(9..12).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("an answer without a status"))?;
        Ok(Answered { status, head, body: String::from_utf8_lossy(&bytes[end..]).into_owned() })
    }
}

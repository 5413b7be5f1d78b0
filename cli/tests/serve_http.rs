//! The built binary as a server: it says where it listens, answers, refuses to be exposed, and ends cleanly.

#![expect(clippy::unwrap_used, reason = "a test stops at the first thing that is not as it must be")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::thread::{self, JoinHandle};

/// Declarations, further arguments, and what the refusal names.
type Unsafe<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a str);

struct Installation {
    dir: tempfile::TempDir,
}

struct Server {
    child: Child,
    /// What it prints, gathered while it runs: a full pipe would stop it.
    printed: Vec<JoinHandle<String>>,
    address: String,
}

impl Installation {
    fn new() -> Self {
        let installation = Self { dir: tempfile::tempdir().unwrap() };
        assert!(installation.run(&[], &["init"]).status.success());
        installation
    }

    fn command(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undercroft"));
        command
            .args(arguments)
            .env_clear()
            .env("UNDERCROFT_HOME", self.dir.path().join("palace"))
            .envs(environment.iter().copied());
        command
    }

    fn run(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
        self.command(environment, arguments).output().unwrap()
    }

    /// Starts on a free port and waits until it says which.
    fn serve(&self, environment: &[(&str, &str)], more: &[&str]) -> Server {
        let arguments = [&["serve-http", "--port", "0"], more].concat();
        let mut child = self
            .command(environment, &arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("no address in {line:?}"));
        let address = address.trim().trim_end_matches(", read-only").to_owned();
        let printed = vec![gather(lines), gather(child.stdout.take().unwrap())];
        Server { child, printed, address }
    }
}

impl Server {
    /// One request on a connection of its own; the whole answer as text.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\
             {headers}\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Ends it as a supervisor does; gives what it printed.
    fn terminate(mut self) -> String {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let printed: String = self.printed.drain(..).map(|gathered| gathered.join().unwrap()).collect();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{printed}");
        printed
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After a failed test nothing is left running; after `terminate` there is nothing to end.
        let _ = self.child.kill();
    }
}

fn gather(mut pipe: impl std::io::Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    })
}

#[test]
fn a_server_keeps_what_it_acknowledged_and_ends_when_told_to() {
    let installation = Installation::new();
    let server = installation.serve(&[("UNDERCROFT_LOG", "trace")], &[]);
    assert!(server.ask("GET", "/healthz", "", "").ends_with("\r\n\r\nok"));
    let saved = server.ask(
        "POST",
        "/v1/vaults/default/drawers",
        "",
        "{\"text\":\"zanzibar secret\",\"wing\":\"xylophone\",\"room\":\"quokka\"}",
    );
    assert!(saved.starts_with("HTTP/1.1 200") && saved.contains("x-undercroft-position: 0:1"), "{saved}");
    let found = server.ask("POST", "/v1/vaults/default/search", "", "{\"query\":\"zanzibar narwhal\"}");
    assert!(found.contains("zanzibar secret"), "{found}");
    server.ask("POST", "/v1/vaults/default/search", "", "{\"query\":7,\"pangolin\":\"axolotl\"}");
    server.ask("GET", "/v1/vaults/default/drawers?wing=xylophone", "", "");
    let logged = server.terminate();
    assert!(logged.contains("/v1/vaults/{id}/search"), "{logged}");
    for word in ["zanzibar", "narwhal", "xylophone", "quokka", "axolotl", "pangolin"] {
        assert!(!logged.contains(word), "{word} in {logged}");
    }
    let listed = installation.run(&[], &["search", "zanzibar"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("zanzibar secret"));
}

#[test]
fn a_read_only_server_says_so_and_refuses_changes() {
    let installation = Installation::new();
    let server = installation.serve(&[], &["--read-only"]);
    let refused = server.ask("POST", "/v1/vaults/default/drawers", "", "{\"text\":\"a\"}");
    assert!(refused.starts_with("HTTP/1.1 403") && refused.contains("server is read-only"), "{refused}");
    assert!(server.ask("GET", "/v1/vaults/default/stats", "", "").starts_with("HTTP/1.1 200"));
    server.terminate();
}

#[test]
fn the_declared_bearer_is_demanded_and_never_printed() {
    let installation = Installation::new();
    let declared = [
        ("UNDERCROFT_MCP_HTTP_TOKEN", "hunter2hunter2"),
        ("UNDERCROFT_LOG_FORMAT", "json"),
        ("UNDERCROFT_LOG", "trace"),
    ];
    let server = installation.serve(&declared, &["--host", "0.0.0.0"]);
    assert!(server.ask("GET", "/v1/vaults", "", "").starts_with("HTTP/1.1 401"));
    let shown = server.ask("GET", "/v1/vaults", "Authorization: Bearer hunter2hunter2\r\n", "");
    assert!(shown.starts_with("HTTP/1.1 200"), "{shown}");
    let logged = server.terminate();
    assert!(!logged.contains("hunter2"), "{logged}");
    assert!(logged.lines().any(|line| line.starts_with('{') && line.contains("\"status\":401")), "{logged}");
}

#[test]
fn a_start_that_would_be_unsafe_does_not_happen() {
    let installation = Installation::new();
    let cases: [Unsafe<'_>; 7] = [
        (&[], &["--host", "0.0.0.0"], "UNDERCROFT_MCP_HTTP_TOKEN"),
        (&[("UNDERCROFT_MCP_HTTP_TOKEN", "")], &[], "UNDERCROFT_MCP_HTTP_TOKEN"),
        (&[("UNDERCROFT_MCP_HTTP_TOKEN", " ")], &[], "UNDERCROFT_MCP_HTTP_TOKEN"),
        (&[("UNDERCROFT_MCP_HTTP_TOKEN", "token ")], &[], "white space"),
        (&[("UNDERCROFT_ASSERTION_SECRET", " ")], &[], "UNDERCROFT_ASSERTION_SECRET"),
        (&[("UNDERCROFT_ADMISSION", "quarantine")], &[], "UNDERCROFT_ADMISSION"),
        (&[], &["--vault", "nobody"], "no vault 'nobody'"),
    ];
    for (environment, more, named) in cases {
        let arguments = [&["serve-http", "--port", "0"], more].concat();
        let run = installation.run(environment, &arguments);
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(1) && said.contains(named), "{environment:?} {more:?}: {said}");
        assert!(!said.contains("token "), "{said}");
    }
    let nowhere = installation.run(&[], &["serve-http", "--port", "99999"]);
    assert_eq!(nowhere.status.code(), Some(1));
}

//! A server of this process on a real socket, and the smallest client for it. Nothing is decided here.
#![allow(dead_code, reason = "each test file uses its part")]

mod reply;
pub(crate) mod schema;

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::Request;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use undercroft_node::http::{self, AppOptions, Drained};
use undercroft_node::serving::{Bounds, Serving, ServingOptions};
use undercroft_palace::env::Environment;
use undercroft_palace::{Access, CreateKeys, Home, KeySource, Level, Palace, VaultSettings, standard_tools};

pub(crate) use reply::Reply;

/// Longest wait for anything; nothing takes so long unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) serving: Serving,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<Drained>,
}

/// The installation in `dir`.
pub(crate) fn palace(dir: &TempDir) -> Palace {
    let declared = KeySource::declared(&Environment::default()).expect("nothing is declared");
    let home = Home::at(dir.path().join("palace"));
    let settings = VaultSettings::default();
    Palace::open(home, &declared, CreateKeys::IfEmpty, &settings, standard_tools()).expect("an installation")
}

/// An installation with the vault `one`.
pub(crate) fn with_one_vault() -> TempDir {
    let dir = TempDir::new().expect("a folder");
    palace(&dir).create_vault("one", Level::Sealed).expect("a vault");
    dir
}

impl Server {
    /// Starts as declared.
    pub(crate) async fn start(dir: &TempDir, access: Access, app: AppOptions) -> Self {
        let options = ServingOptions { access, resident: None, bounds: Bounds::default() };
        Self::start_with(dir, options, app).await
    }

    /// Starts for writing, with nothing declared.
    pub(crate) async fn plain(dir: &TempDir) -> Self {
        Self::start(dir, Access::Write, AppOptions::default()).await
    }

    /// Starts with all options.
    pub(crate) async fn start_with(dir: &TempDir, options: ServingOptions, app: AppOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let serving = Serving::start(palace(dir), options);
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(http::serve(listener, serving.clone(), app, async {
            // Dropping the sender stops the server too.
            let _ = stopped.await;
        }));
        Self { address, serving, stop: Some(stop), running }
    }

    /// Tells it to stop.
    pub(crate) fn tell_to_stop(&mut self) {
        self.stop.take();
    }

    /// Stops it and waits for its end.
    pub(crate) async fn stop(mut self) -> Drained {
        self.tell_to_stop();
        tokio::time::timeout(PATIENCE, self.running).await.expect("it ends").expect("it does not panic")
    }

    /// Sends one request on a connection of its own.
    pub(crate) async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        send(self.address, method, path, headers, body).await
    }

    /// `GET` without headers.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], "").await
    }

    /// `POST` of a JSON body.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.send("POST", path, &[], &body.to_string()).await
    }

    /// Sends bytes as they are and reads until the server closes the connection.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.expect("a connection");
        // The server may close before it has read everything.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        // A connection that is reset has an answer too, as far as it came.
        let _ = read.expect("the server closes the connection");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Sends one request on a connection of its own.
pub(crate) async fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let stream = TcpStream::connect(address).await.expect("a connection");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a handshake");
    tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        request = request.header("host", address.to_string());
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(body.to_owned())).expect("a request");
    let answer = tokio::time::timeout(PATIENCE, sender.send_request(request)).await;
    let response = answer.expect("an answer in time").expect("an answer");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = response.into_body().collect().await.expect("a body").to_bytes().to_vec();
    Reply { status, headers, body }
}

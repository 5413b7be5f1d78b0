//! One request and its answer, with a bound on how long and how much.

use std::error::Error as _;
use std::time::Duration;

use axum::http::{HeaderValue, Method, Request, header};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use undercroft_certs::{Role, Roles, Trust};
use zeroize::Zeroizing;

use super::Address;
use crate::{Error, limits};

/// Asks one Admin API. Blocks, so it is for a process that does nothing else.
pub struct Client {
    address: Address,
    token: HeaderValue,
    trust: Option<Trust>,
    runtime: Runtime,
}

/// An answer, whatever it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

impl Client {
    /// A client of the interface at `address` that shows `token`. To `https` it trusts what `trust` says, and only
    /// members of the control group.
    ///
    /// # Errors
    /// [`Error::AdminTokenText`]; [`Error::AdminUrl`] for `https` without trust; [`Error::Stopped`] when the system has no room for a client.
    pub fn new(address: Address, token: &str, trust: Option<Trust>) -> Result<Self, Error> {
        if address.tls && trust.is_none() {
            return Err(Error::AdminUrl(
                "is https, and nobody is trusted there: give the cluster's ca.crt with --ca or UNDERCROFT_ADMIN_CA",
            ));
        }
        let shown = Zeroizing::new(format!("Bearer {token}"));
        let mut token = HeaderValue::from_bytes(shown.as_bytes()).map_err(|_| Error::AdminTokenText)?;
        token.set_sensitive(true);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Stopped(error.to_string()))?;
        Ok(Self { address, token, trust, runtime })
    }

    /// Where it asks.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Asks a route, with a JSON body or none.
    ///
    /// # Errors
    /// [`Error::AdminUnreachable`] when nothing was sent, [`Error::AdminLost`] when it was and no whole answer came. A refusal is a reply.
    pub fn ask(&self, method: Method, route: &str, body: Option<String>) -> Result<Reply, Error> {
        self.bounded(method, route, body, (limits::ADMIN_WAIT, limits::ADMIN_ANSWER))
    }

    /// Gets something large.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn fetch(&self, route: &str) -> Result<Reply, Error> {
        self.bounded(Method::GET, route, None, (limits::ADMIN_WAIT_LONG, limits::SNAPSHOT_BYTES))
    }

    fn bounded(
        &self,
        method: Method,
        route: &str,
        body: Option<String>,
        (wait, most): (Duration, usize),
    ) -> Result<Reply, Error> {
        let request = self.request(method, route, body)?;
        self.runtime.block_on(async {
            let late = || self.lost(format!("no answer within {} s", wait.as_secs()));
            tokio::time::timeout(wait, self.carried(request, most)).await.unwrap_or_else(|_| Err(late()))
        })
    }

    fn request(
        &self,
        method: Method,
        route: &str,
        body: Option<String>,
    ) -> Result<Request<Full<Bytes>>, Error> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{route}", self.address.base))
            .header(header::HOST, self.address.authority())
            .header(header::USER_AGENT, "undercroft")
            .header(header::AUTHORIZATION, &self.token);
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::new(Bytes::from(body.unwrap_or_default())));
        request.map_err(|_| Error::AdminUrl("has characters that no request can carry"))
    }

    /// Connects, sends, and reads the answer.
    async fn carried(&self, request: Request<Full<Bytes>>, most: usize) -> Result<Reply, Error> {
        let address = self.address.authority();
        let late = || std::io::Error::from(std::io::ErrorKind::TimedOut);
        match &self.trust {
            Some(trust) if self.address.tls => {
                let control = Roles::of(&[Role::Control]);
                let shaken = tokio::time::timeout(limits::ADMIN_CONNECT, trust.connect(&address, control));
                let stream = shaken.await.unwrap_or_else(|_| Err(late()));
                self.over(stream.map_err(|error| self.unreachable(&error))?, request, most).await
            }
            _ => {
                let connected = tokio::time::timeout(limits::ADMIN_CONNECT, TcpStream::connect(&address));
                let stream = connected.await.unwrap_or_else(|_| Err(late()));
                self.over(stream.map_err(|error| self.unreachable(&error))?, request, most).await
            }
        }
    }

    async fn over<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        &self,
        stream: S,
        request: Request<Full<Bytes>>,
        most: usize,
    ) -> Result<Reply, Error> {
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|error| self.unreachable(&error))?;
        // It ends with the connection; what went wrong with that, the request says.
        let driven = tokio::spawn(connection);
        let answered = sender.send_request(request).await.map_err(|error| self.lost(told(&error)));
        let reply = match answered {
            Ok(response) => self.read(response, most).await,
            Err(error) => Err(error),
        };
        driven.abort();
        reply
    }

    async fn read(&self, response: axum::http::Response<Incoming>, most: usize) -> Result<Reply, Error> {
        let status = response.status().as_u16();
        if response.body().size_hint().lower() > most as u64 {
            return Err(self.lost(format!("its answer is over {most} bytes")));
        }
        let body = Limited::new(response.into_body(), most).collect().await.map_err(|error| {
            let large = error.is::<LengthLimitError>();
            self.lost(if large { format!("its answer is over {most} bytes") } else { error.to_string() })
        })?;
        Ok(Reply { status, body: body.to_bytes().to_vec() })
    }

    fn unreachable(&self, error: &dyn std::error::Error) -> Error {
        Error::AdminUnreachable { url: self.address.to_string(), problem: error.to_string() }
    }

    fn lost(&self, problem: String) -> Error {
        Error::AdminLost { url: self.address.to_string(), problem }
    }
}

/// What the library says, with the cause that it leaves out.
fn told(error: &hyper::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

#[cfg(test)]
#[path = "ask_test.rs"]
mod ask_test;

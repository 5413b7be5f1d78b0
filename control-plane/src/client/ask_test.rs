//! What comes of a request to somebody who does not answer as an Admin API would.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use axum::http::Response;
use hyper::service::service_fn;
use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto;
use undercroft_certs::accept::Anonymous;
use undercroft_certs::authority::Request as Wanted;
use undercroft_certs::{Authority, Identity, SystemTime, TimeProvider, Tls};

use super::*;

const TOKEN: &str = "0123456789abcdef";

/// A client of a server that takes one connection, reads a request, and answers with these bytes.
fn asked(answer: &'static [u8], route: &str) -> (Result<Reply, Error>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let url = format!("http://{}/base/", listener.local_addr().expect("an address"));
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let (mut head, mut part) = (Vec::new(), [0; 1024]);
        while !head.ends_with(b"\r\n\r\n") {
            let read = stream.read(&mut part).expect("a request");
            head.extend_from_slice(&part[..read]);
        }
        stream.write_all(answer).expect("an answer");
        String::from_utf8(head).expect("text")
    });
    let client = Client::new(Address::parse(&url).expect("a URL"), TOKEN, None).expect("a client");
    let reply = client.ask(Method::GET, route, None);
    (reply, server.join().expect("a server"))
}

#[test]
fn a_request_goes_below_the_path_and_shows_the_token_once() {
    let (reply, head) = asked(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}", "/admin/x?limit=1");
    assert_eq!(reply.expect("a reply"), Reply { status: 404, body: b"{}".to_vec() });
    assert!(head.starts_with("GET /base/admin/x?limit=1 HTTP/1.1\r\n"), "{head}");
    assert_eq!(head.matches(&format!("authorization: Bearer {TOKEN}\r\n")).count(), 1, "{head}");
}

#[test]
fn an_answer_that_breaks_off_leaves_the_outcome_unknown() {
    for answer in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", b"no http\r\n\r\n"] {
        let (reply, _) = asked(answer, "/");
        let error = reply.expect_err("no answer");
        assert!(matches!(error, Error::AdminLost { .. }) && error.to_string().contains("unknown"), "{error}");
    }
}

#[test]
fn an_answer_without_end_is_not_taken() {
    let (reply, _) = asked(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n", "/");
    let told = reply.expect_err("too large").to_string();
    assert!(told.contains("over"), "{told}");
}

#[test]
fn where_nobody_listens_nothing_was_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let client = Client::new(Address::parse(&url).expect("a URL"), TOKEN, None).expect("a client");
    let error = client.ask(Method::GET, "/", None).expect_err("nobody");
    let told = error.to_string();
    assert!(matches!(error, Error::AdminUnreachable { .. }) && told.contains(&url), "{told}");
    assert!(told.contains("--admin-url") && told.contains("UNDERCROFT_ADMIN_URL"), "{told}");
}

#[test]
fn https_needs_somebody_to_trust_and_a_token_must_fit_a_header() {
    let https = Address::parse("https://localhost:1").expect("a URL");
    assert!(matches!(Client::new(https, TOKEN, None), Err(Error::AdminUrl(_))));
    let http = Address::parse("http://localhost:1").expect("a URL");
    assert!(matches!(Client::new(http, "0123456789\nabcdef", None), Err(Error::AdminTokenText)));
}

/// The URL of a server with a certificate of this role, from the CA in a folder.
fn secured(role: Role, ca: &Path) -> String {
    let now = SystemTime.current_time().expect("a clock").as_secs();
    let (authority, _) = Authority::open_or_make(ca, now).expect("a CA");
    let ips = vec!["127.0.0.1".parse().expect("an address")];
    let identity = Identity::new(role, "a").expect("a name");
    let wanted = Wanted { identity, dns: Vec::new(), ips, days: 30 }.checked().expect("a request");
    let (_, held) = authority.issue(&wanted, false, now).expect("a certificate");
    let tls = Tls::open(&held.folder, role, Arc::new(SystemTime)).expect("its files");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    listener.set_nonblocking(true).expect("a listener that does not block");
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    // It ends with the tests.
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            let mut accepted = Anonymous::new(listener, tls);
            while let Some(stream) = accepted.next().await {
                let reply = || Response::new(Full::new(Bytes::from_static(b"{}")));
                let service = service_fn(move |_| async move { Ok::<_, Infallible>(reply()) });
                let served = auto::Builder::new(TokioExecutor::new());
                // Whoever asked may have gone.
                let _ = served.serve_connection(TokioIo::new(stream), service).await;
            }
        });
    });
    url
}

#[test]
fn over_https_only_members_of_the_cluster_that_is_trusted_are_asked() {
    let (own, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (member, node) = (secured(Role::Control, own.path()), secured(Role::Node, own.path()));
    let stranger = secured(Role::Control, other.path());
    let ask = |url: &str| {
        let trust = Trust::open(&own.path().join("ca.crt"), Arc::new(SystemTime)).expect("a CA");
        let client = Client::new(Address::parse(url).expect("a URL"), TOKEN, Some(trust)).expect("a client");
        client.ask(Method::GET, "/admin/cluster", None)
    };
    assert_eq!(ask(&member).expect("a reply"), Reply { status: 200, body: b"{}".to_vec() });
    for url in [node, stranger] {
        assert!(matches!(ask(&url), Err(Error::AdminUnreachable { .. })), "{url}");
    }
}

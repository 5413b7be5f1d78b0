//! Who gets a connection and who does not, over real sockets; and how certificates are replaced under it.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

use crate::accept::{Anonymous, Incoming};
use crate::authority::Request;
use crate::connect::connect;
use crate::fixture::{At, Cluster, NOW, request};
use crate::{Authority, ClientStream, Error, Refreshed, Role, Roles, Tls, Trust, Unusable, limits};

const ANY: Roles = Roles::of(&Role::ALL);

/// Serves one byte back to whoever gets in.
async fn serve(tls: &Arc<Tls>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut incoming = Incoming::new(listener, tls.clone());
    tokio::spawn(async move {
        while let Some(mut stream) = incoming.next().await {
            tokio::spawn(async move {
                while let Ok(byte) = stream.read_u8().await {
                    if stream.write_u8(byte).await.and(stream.flush().await).is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

async fn say(stream: &mut ClientStream) -> io::Result<()> {
    stream.write_u8(7).await?;
    stream.flush().await?;
    assert_eq!(stream.read_u8().await?, 7);
    Ok(())
}

/// Connects and is answered; with TLS 1.3 a client that is refused may learn it only from the answer.
async fn talk(address: &str, tls: &Tls) -> io::Result<ClientStream> {
    let mut stream = connect(address, tls, ANY).await?;
    say(&mut stream).await?;
    Ok(stream)
}

async fn refused(address: &str, tls: &Tls, expected: &str) {
    let error = talk(address, tls).await.map(drop).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

fn open(folder: &Path, role: Role, now: u64) -> Result<Arc<Tls>, Error> {
    Tls::open(folder, role, Arc::new(At(now)))
}

fn problem(result: Result<Arc<Tls>, Error>) -> Unusable {
    match result.map(drop) {
        Err(Error::Unusable { problem, .. }) => problem,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn both_ends_show_who_they_are_under_a_post_quantum_key_exchange() {
    let cluster = Cluster::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut incoming = Incoming::new(listener, cluster.tls(Role::Control, "a"));
    let client = cluster.tls(Role::Router, "r");
    let (out, came) = tokio::join!(connect(&address, &client, Roles::of(&[Role::Control])), incoming.next());
    let (out, came) = (out.unwrap(), came.unwrap());
    assert_eq!(came.peer().to_string(), "router 'r'");
    assert!(came.from().ip().is_loopback());
    let state = out.get_ref().1;
    assert_eq!(state.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
    let group = state.negotiated_key_exchange_group().unwrap().name();
    assert_eq!(group, rustls::NamedGroup::X25519MLKEM768);
    assert_eq!(state.alpn_protocol(), Some(b"h2".as_slice()));
}

#[tokio::test]
async fn a_peer_of_another_ca_is_refused_by_either_end() {
    let (one, other) = (Cluster::new(), Cluster::new());
    let address = serve(&one.tls(Role::Node, "a")).await;
    assert!(talk(&address, &one.tls(Role::Node, "b")).await.is_ok());
    refused(&address, &other.tls(Role::Node, "b"), "UnknownIssuer").await;
    // A client that trusts the server, with a certificate that the server does not trust.
    let folder = other.issue(&request(Role::Node, "c"), NOW);
    let both = [fs::read(folder.join("ca.crt")).unwrap(), fs::read(one.path().join("ca.crt")).unwrap()];
    fs::write(folder.join("ca.crt"), both.concat()).unwrap();
    let foreign = open(&folder, Role::Node, NOW).unwrap();
    let error = talk(&address, &foreign).await.map(drop).unwrap_err().to_string();
    assert!(error.contains("alert") || error.contains("UnknownCA"), "{error}");
}

#[tokio::test]
async fn an_ended_certificate_and_one_to_come_are_refused_by_either_end() {
    let cluster = Cluster::new();
    drop(cluster.authority());
    let short = |name: &str| Request { days: 1, ..request(Role::Node, name) };
    let later = NOW + 2 * limits::DAY;
    let (early, late) = (cluster.issue(&short("early"), NOW), cluster.issue(&short("late"), later));
    let (early, late) = (open(&early, Role::Node, NOW).unwrap(), open(&late, Role::Node, later).unwrap());
    let (at_early, at_late) = (serve(&early).await, serve(&late).await);
    assert!(talk(&at_early, &early).await.is_ok() && talk(&at_late, &late).await.is_ok());
    // To the clock of each, the other's certificate has ended or is to come.
    refused(&at_early, &late, "certificate expired").await;
    refused(&at_late, &early, "not valid yet").await;
    // And the server refuses a client whose certificate it finds ended, though the client is content with the server's.
    let lenient = serve(&cluster.tls(Role::Node, "long")).await;
    assert!(talk(&lenient, &early).await.is_ok());
    let long = cluster.path().join("node-long");
    let strict = serve(&open(&long, Role::Node, later).unwrap()).await;
    let error = talk(&strict, &early).await.map(drop).unwrap_err().to_string();
    assert!(error.contains("CertificateExpired"), "{error}");
}

#[tokio::test]
async fn the_certificate_of_another_host_is_refused() {
    let cluster = Cluster::new();
    let elsewhere =
        Request { dns: vec!["elsewhere.example".into()], ips: vec![], ..request(Role::Node, "a") };
    let server = open(&cluster.issue(&elsewhere, NOW), Role::Node, NOW).unwrap();
    let address = serve(&server).await;
    refused(&address, &cluster.tls(Role::Node, "b"), "not valid for name").await;
    let named = serve(&cluster.tls(Role::Node, "c")).await.replace("127.0.0.1", "localhost");
    assert!(talk(&named, &server).await.is_ok());
}

#[tokio::test]
async fn who_answers_with_another_role_than_expected_is_left() {
    let cluster = Cluster::new();
    let address = serve(&cluster.tls(Role::Node, "a")).await;
    let client = cluster.tls(Role::Router, "r");
    let error = connect(&address, &client, Roles::of(&[Role::Control])).await.map(drop).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("is node 'a', and control is expected there"), "{error}");
}

/// A client without a certificate, and one whose certificate of the right CA has no role.
#[tokio::test]
async fn a_client_without_a_certificate_or_without_a_role_is_refused() {
    let cluster = Cluster::new();
    let address = serve(&cluster.tls(Role::Node, "a")).await;
    let known = cluster.tls(Role::Node, "b").client();
    let roots = crate::material::parse(&fs::read(cluster.path().join("ca.crt")).unwrap()).unwrap();
    let builder = || {
        let provider = crate::verify::provider();
        let clock = Arc::new(At(NOW));
        rustls::ClientConfig::builder_with_details(provider, clock)
            .with_protocol_versions(crate::verify::VERSIONS)
            .unwrap()
            .with_root_certificates(crate::verify::roots(&roots).unwrap())
    };
    let (certificate, key) = cluster.authority().without_role();
    let roleless = builder().with_client_auth_cert(vec![certificate], key).unwrap();
    for (mut config, expected) in
        [(builder().with_no_client_auth(), "CertificateRequired"), (roleless, "AccessDenied")]
    {
        config.resumption = Resumption::disabled();
        let socket = TcpStream::connect(&address).await.unwrap();
        let name = "localhost".try_into().unwrap();
        let mut stream = TlsConnector::from(Arc::new(config)).connect(name, socket).await.unwrap();
        let error = say(&mut stream).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(known.alpn_protocols, [b"h2"]);
}

#[tokio::test]
async fn where_no_certificate_is_asked_for_the_server_still_shows_its_own_and_takes_a_new_one() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    let tls = cluster.tls(Role::Control, "a");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut accepted = Anonymous::new(listener, tls.clone());
    tokio::spawn(async move {
        while let Some(mut stream) = accepted.next().await {
            let byte = stream.read_u8().await.unwrap_or_default();
            let _ = stream.write_u8(byte).await.and(stream.flush().await);
        }
    });
    let control = Roles::of(&[Role::Control]);
    let trust = |cluster: &Cluster| Trust::open(&cluster.path().join("ca.crt"), Arc::new(At(NOW)));
    let mut stream = trust(&cluster).unwrap().connect(&address, control).await.unwrap();
    say(&mut stream).await.unwrap();
    let shown = |stream: &ClientStream| stream.get_ref().1.peer_certificates().unwrap()[0].clone();
    cluster.authority().issue(&request(Role::Control, "a"), true, NOW).unwrap();
    assert_eq!(tls.refresh().unwrap(), Refreshed::Replaced);
    let renewed = trust(&cluster).unwrap().connect(&address, control).await.unwrap();
    assert_ne!(shown(&stream), shown(&renewed));
    drop(other.authority());
    assert!(trust(&other).unwrap().connect(&address, control).await.is_err(), "another CA");
    let node = trust(&cluster).unwrap().connect(&address, Roles::of(&[Role::Node])).await;
    assert_eq!(node.map(drop).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    fs::write(cluster.path().join("empty"), "").unwrap();
    let empty = Trust::open(&cluster.path().join("empty"), Arc::new(At(NOW))).map(drop);
    assert!(matches!(empty, Err(Error::Unusable { .. })));
    assert!(matches!(Trust::open(Path::new("/nowhere"), Arc::new(At(NOW))).map(drop), Err(Error::Io { .. })));
}

#[tokio::test]
async fn a_peer_without_tls_gets_nothing_and_holds_up_nobody() {
    let cluster = Cluster::new();
    let address = serve(&cluster.tls(Role::Node, "a")).await;
    // One that says nothing stays in its handshake while others come in.
    let _silent = TcpStream::connect(&address).await.unwrap();
    let mut plain = TcpStream::connect(&address).await.unwrap();
    plain.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    // An alert, or nothing, and the end.
    let ended = plain.read_to_end(&mut answer).await;
    assert!(ended.is_err() || answer.first().is_none_or(|first| *first == 21), "{answer:?}");
    assert!(talk(&address, &cluster.tls(Role::Node, "b")).await.is_ok());
    // And a client of TLS at a port without it.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain_address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    assert!(connect(&plain_address, &cluster.tls(Role::Node, "c"), ANY).await.is_err());
}

#[test]
fn files_that_do_not_fit_together_are_refused_each_with_its_reason() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    let folder = cluster.issue(&request(Role::Node, "a"), NOW);
    let foreign = other.issue(&request(Role::Node, "a"), NOW);
    let good = |file: &str| fs::read(folder.join(file)).unwrap();
    let (trusted, certificate, key) = (good("ca.crt"), good("tls.crt"), good("tls.key"));
    let with = |file: &str, bytes: &[u8]| {
        let before = good(file);
        fs::write(folder.join(file), bytes).unwrap();
        let found = problem(open(&folder, Role::Node, NOW));
        fs::write(folder.join(file), before).unwrap();
        found
    };
    assert_eq!(with("tls.key", &fs::read(foreign.join("tls.key")).unwrap()), Unusable::NotAPair);
    let not_trusted = with("ca.crt", &fs::read(foreign.join("ca.crt")).unwrap());
    assert!(matches!(not_trusted, Unusable::NotTrusted(_)));
    for (file, bytes) in [("ca.crt", &trusted), ("tls.crt", &certificate), ("tls.key", &key)] {
        for cut in [&[][..], &bytes[..bytes.len() / 2], b"\xff\xfe", b"hello"] {
            let found = with(file, cut);
            assert!(matches!(&found, Unusable::Unreadable { file: named, .. } if named == file), "{found}");
        }
    }
    assert_eq!(
        problem(open(&folder, Role::Node, NOW + 366 * limits::DAY)),
        Unusable::Expired { seconds: limits::DAY }
    );
    assert!(matches!(problem(open(&folder, Role::Node, NOW - limits::DAY)), Unusable::NotYetValid { .. }));
    assert!(matches!(problem(open(&folder, Role::Control, NOW)), Unusable::WrongRole { .. }));
    fs::remove_file(folder.join("tls.key")).unwrap();
    assert!(matches!(open(&folder, Role::Node, NOW), Err(Error::Io { .. })));
    fs::create_dir(folder.join("tls.key")).unwrap();
    assert!(matches!(open(&folder, Role::Node, NOW), Err(Error::Io { .. })));
}

#[tokio::test]
async fn certificates_are_replaced_under_way_and_old_connections_live_on() {
    let cluster = Cluster::new();
    let server = cluster.tls(Role::Node, "a");
    let address = serve(&server).await;
    let client = cluster.tls(Role::Node, "b");
    let mut old = talk(&address, &client).await.unwrap();
    let shown = |stream: &ClientStream| stream.get_ref().1.peer_certificates().unwrap()[0].clone();
    assert_eq!(server.refresh().unwrap(), Refreshed::Same);
    let longer = Request { days: 400, ..request(Role::Node, "a") };
    cluster.authority().issue(&longer, true, NOW).unwrap();
    assert_eq!(server.refresh().unwrap(), Refreshed::Replaced);
    assert_eq!(server.not_after(), NOW + 400 * limits::DAY);
    let new = talk(&address, &client).await.unwrap();
    assert_ne!(shown(&old), shown(&new));
    say(&mut old).await.unwrap();
}

#[tokio::test]
async fn a_half_written_pair_is_kept_out_until_it_is_whole() {
    let cluster = Cluster::new();
    let server = cluster.tls(Role::Node, "a");
    let address = serve(&server).await;
    let client = cluster.tls(Role::Node, "b");
    let folder = cluster.path().join("node-a");
    let old = fs::read(folder.join("tls.crt")).unwrap();
    cluster.authority().issue(&request(Role::Node, "a"), true, NOW).unwrap();
    let new = fs::read(folder.join("tls.crt")).unwrap();
    for half in [old, new[..new.len() / 2].to_vec(), Vec::new()] {
        fs::write(folder.join("tls.crt"), half).unwrap();
        assert!(matches!(server.refresh(), Err(Error::Unusable { .. })));
        // It is looked at again, also when nothing moves.
        assert!(server.refresh().is_err());
        assert!(talk(&address, &client).await.is_ok());
    }
    fs::write(folder.join("tls.crt"), new).unwrap();
    assert_eq!(server.refresh().unwrap(), Refreshed::Replaced);
    assert!(talk(&address, &client).await.is_ok());
}

/// Two processes, each with the files of any stage or of the one before: at every step one is copied to, then the other.
#[tokio::test]
async fn renewing_the_ca_refuses_nobody_at_any_step() {
    let cluster = Cluster::new();
    let (one, other) = (cluster.tls(Role::Control, "a"), cluster.tls(Role::Control, "b"));
    let (at_one, at_other) = (serve(&one).await, serve(&other).await);
    let mut authority = Authority::open(cluster.path(), NOW).unwrap();
    let beside = tempfile::tempdir().unwrap();
    for stage in ["begin", "switch", "finish"] {
        match stage {
            "begin" => authority.begin(NOW).unwrap(),
            "switch" => authority.switch(365, NOW).unwrap(),
            _ => authority.finish().unwrap(),
        };
        for copied in [&one, &other] {
            assert_eq!(copied.refresh().unwrap(), Refreshed::Replaced);
            talk(&at_one, &other).await.unwrap_or_else(|error| panic!("{stage}: {error}"));
            talk(&at_other, &one).await.unwrap_or_else(|error| panic!("{stage}: {error}"));
        }
        if stage == "begin" {
            for file in ["ca.crt", "tls.crt", "tls.key"] {
                let from = cluster.path().join("control-a").join(file);
                fs::copy(from, beside.path().join(file)).unwrap();
            }
        }
    }
    // What was of the old CA is out.
    let stale = open(beside.path(), Role::Control, NOW).unwrap();
    assert!(talk(&at_other, &stale).await.is_err());
}

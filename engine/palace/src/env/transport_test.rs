//! The transport policy: nothing in clear text leaves the machine, however the address is dressed up.

use proptest::prelude::*;

use super::transport::{is_loopback, outward_url, postgres_dsn};

#[test]
fn https_goes_anywhere_and_http_stays_here() {
    for good in [
        "https://models.example/v1",
        "HTTPS://host",
        "http://localhost:11434",
        "http://LOCALHOST/api",
        "http://127.0.0.1:8080/x?y#z",
        "http://127.8.9.10",
        "http://[::1]:8080/",
        "https://user:secret@host:8443/v1",
    ] {
        assert!(outward_url(good).is_ok(), "{good}");
    }
}

#[test]
fn clear_text_to_another_machine_is_refused_however_it_is_dressed() {
    for bad in [
        "http://models.example",
        "http://localhost.evil.example",
        "http://localhost@evil.example/",
        "http://127.0.0.1:80@evil.example/",
        "http://evil.example#@localhost",
        "http://evil.example\\@localhost",
        "http://127.0.0.1.evil.example",
        "http://[::2]/",
        "http://0.0.0.0/",
    ] {
        assert!(outward_url(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_cannot_be_read_counts_as_clear_text() {
    for bad in [
        "",
        "host",
        "localhost:11434",
        "ftp://localhost",
        "http://",
        "https://:443",
        "https://host:99999",
        "https://[::1",
        "https://ho st/",
        "http:/localhost",
    ] {
        assert!(outward_url(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_refusal_never_repeats_the_login() {
    let complaint = format!("{:?}", outward_url("http://user:hunter2@far.example/").unwrap_err());
    assert!(!complaint.contains("hunter2") && !complaint.contains("far.example"), "{complaint}");
}

#[test]
fn a_database_on_another_machine_must_encrypt_for_certain() {
    for good in [
        "postgres://user@localhost/db",
        "postgresql://user:pw@db.example:5432/db?sslmode=verify-full",
        "host=/var/run/postgresql dbname=x",
        "host=db.example sslmode=require",
    ] {
        assert!(postgres_dsn(good).is_ok(), "{good}");
    }
    for bad in [
        "postgres://db.example/db",
        "postgres://db.example/db?sslmode=prefer",
        "postgres://db.example/db?sslmode=require&sslmode=disable",
        "mysql://localhost/db",
        "host=db.example",
        "dbname=x",
        "",
    ] {
        assert!(postgres_dsn(bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn an_http_address_is_accepted_only_with_a_loopback_host(host in "[a-z0-9.@:\\[\\]/-]{1,30}") {
        if outward_url(&format!("http://{host}")).is_ok() {
            let authority = host.split('/').next().unwrap().rsplit('@').next().unwrap();
            let name = if authority.starts_with('[') {
                authority.split(']').next().unwrap().trim_start_matches('[')
            } else {
                authority.split(':').next().unwrap()
            };
            prop_assert!(is_loopback(name), "{host}");
        }
    }
}

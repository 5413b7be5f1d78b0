use super::auth::{AssertionSecret, WINDOW_SECONDS, assertion, is_valid};

const NOW: u64 = 1_700_000_000;

fn secret() -> AssertionSecret {
    AssertionSecret::new(String::from("shared between router and server"))
}

#[test]
fn an_assertion_is_the_documented_mac() {
    // printf '%s' '1700000000|tenant-1' | openssl dgst -sha256 -hmac 'shared between router and server'
    assert_eq!(
        assertion(&secret(), NOW, "tenant-1"),
        "1700000000:d5f8ce12a200c4afb46c718c705284684c474fafd54696ab87d56e99da776d65"
    );
}

#[test]
fn an_assertion_holds_for_its_vault_and_its_time_alone() {
    let minted = assertion(&secret(), NOW, "one");
    for now in [NOW, NOW + WINDOW_SECONDS, NOW - WINDOW_SECONDS] {
        assert!(is_valid(&secret(), &minted, "one", now));
    }
    for now in [NOW + WINDOW_SECONDS + 1, NOW - WINDOW_SECONDS - 1, 0, u64::MAX] {
        assert!(!is_valid(&secret(), &minted, "one", now));
    }
    for other in ["two", "", "one ", "One"] {
        assert!(!is_valid(&secret(), &minted, other, NOW), "{other}");
    }
    assert!(!is_valid(&AssertionSecret::new(String::from("another")), &minted, "one", NOW));
}

#[test]
fn an_assertion_that_is_not_exactly_written_is_refused() {
    let minted = assertion(&secret(), NOW, "one");
    let (ts, tag) = minted.split_once(':').unwrap();
    let malformed = [
        String::new(),
        String::from(":"),
        ts.to_owned(),
        tag.to_owned(),
        format!("{ts}:"),
        format!(":{tag}"),
        format!("+{ts}:{tag}"),
        format!("0{ts}:{tag}"),
        format!(" {ts}:{tag}"),
        format!("{ts}:{tag} "),
        format!("{ts}:{}", tag.to_uppercase()),
        format!("{ts}:{}", &tag[..62]),
        format!("{ts}:{tag}00"),
        format!("{ts}:{tag}:{tag}"),
        format!("99999999999999999999:{tag}"),
    ];
    for shown in malformed {
        assert!(!is_valid(&secret(), &shown, "one", NOW), "{shown}");
    }
}

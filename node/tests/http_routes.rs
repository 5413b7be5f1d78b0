//! The shapes and statuses of `/v1`, over a real socket.

mod support;

use serde_json::{Value, json};
use support::{Server, palace, with_one_vault};
use undercroft_palace::Level;

fn keys(value: &Value) -> Vec<String> {
    let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
    keys.sort();
    keys
}

#[tokio::test(flavor = "multi_thread")]
async fn vaults_are_made_listed_and_deleted() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let made =
        server.post("/v1/vaults", json!({ "id": "two", "level": "hmac_only", "embedder": "hash" })).await;
    assert_eq!(made.header("content-type"), "application/json");
    assert_eq!(made.expect(201), json!({ "id": "two", "level": "hmac-only", "created": true }));
    assert_eq!(server.get("/v1/vaults").await.expect(200), json!({ "vaults": ["one", "two"] }));
    let again = server.post("/v1/vaults", json!({ "id": "two" })).await.expect(409);
    assert_eq!(again["class"], "conflict");
    let gone = server.send("DELETE", "/v1/vaults/two/", &[], "").await.expect(200);
    assert_eq!(gone, json!({ "id": "two", "deleted": true, "backups_kept": 0 }));
    server.send("DELETE", "/v1/vaults/two", &[], "").await.expect(404);
    server.get("/v1/vaults/two/stats").await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drawer_lives_through_all_its_routes() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let body = json!({
        "text": "the spare key hangs behind the map", "wing": "house", "room": "keys", "kind": "statement",
        "content_date": "2026-01-02", "agent": "a", "channel": "c", "session": "s",
    });
    let saved = server.post("/v1/vaults/one/drawers", body).await;
    assert_eq!(saved.header("x-undercroft-position"), "0:1");
    let saved = saved.expect(200);
    assert_eq!(keys(&saved), ["created", "deduped", "id", "quarantined"]);
    let id = saved["id"].as_str().unwrap();
    let path = format!("/v1/vaults/one/drawers/{id}");
    let drawer = server.get(&path).await.expect(200);
    assert_eq!(drawer["drawer"]["content"], "the spare key hangs behind the map");
    assert_eq!(drawer["drawer"]["meta"]["added_by"], "rest");
    assert_eq!(drawer["drawer"]["meta"]["agent"], "a");
    let listed = server.get("/v1/vaults/one/drawers?wing=house&room=keys&limit=5").await.expect(200);
    assert_eq!(keys(&listed["drawers"][0]), ["filed_at", "id", "preview", "room", "source_file", "wing"]);
    let copy = json!({ "text": "the spare key hangs behind the map" });
    let found = server.post("/v1/vaults/one/drawers/check-duplicate", copy).await.expect(200);
    assert_eq!(found, json!({ "duplicate": true, "id": id }));
    let changed = server.send("PUT", &path, &[], "{\"text\":\"under the mat\"}").await;
    assert_eq!(changed.header("x-undercroft-position"), "0:2");
    assert_eq!(changed.expect(200), json!({ "id": id, "updated": true }));
    assert_eq!(server.get(&path).await.expect(200)["drawer"]["content"], "under the mat");
    let gone = server.send("DELETE", &path, &[], "").await.expect(200);
    assert_eq!(gone, json!({ "id": id, "deleted": true }));
    let missing = server.get(&path).await;
    assert_eq!(missing.header("x-undercroft-position"), "0:3", "a refusal has a position too");
    missing.expect(404);
    server.send("DELETE", &path, &[], "").await.expect(404);
    server.send("PUT", &path, &[], "{\"text\":\"x\"}").await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn search_answers_with_every_field_and_pages() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    for n in 0..7 {
        let text = format!("note {n}: the lighthouse keeper trims the lamp");
        server.post("/v1/vaults/one/drawers", json!({ "text": text })).await.expect(200);
    }
    let query = json!({ "query": "lighthouse lamp", "wing": "general", "room": "inbox", "limit": 3 });
    let page = server.post("/v1/vaults/one/search", query).await;
    assert_eq!(page.header("x-undercroft-position"), "0:7");
    let page = page.expect(200);
    assert_eq!(keys(&page), ["hits", "next_offset", "ranked_at"]);
    assert_eq!((page["hits"].as_array().unwrap().len(), &page["next_offset"]), (3, &json!(3)));
    assert_eq!(keys(&page["hits"][0]).len(), 20);
    let rest = json!({
        "query": "lighthouse lamp", "limit": 0, "offset": 3, "ranked_at": page["ranked_at"], "kind": null,
    });
    let rest = server.post("/v1/vaults/one/search", rest).await.expect(200);
    assert_eq!(rest["hits"].as_array().unwrap().len(), 4);
    let kind = json!({ "query": "lamp", "kind": "decision" });
    let of_kind = server.post("/v1/vaults/one/search", kind).await.expect(200);
    assert_eq!((&of_kind["hits"], &of_kind["unlabeled_excluded"]), (&json!([]), &json!(7)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reading_routes_have_their_shapes() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let first = server.post("/v1/vaults/one/drawers", json!({ "text": "the door is red" })).await.expect(200);
    let newer = json!({ "text": "the door is blue", "supersedes": first["id"] });
    server.post("/v1/vaults/one/drawers", newer).await.expect(200);
    let stats = server.get("/v1/vaults/one/stats").await.expect(200);
    let expected = [
        "chain_ceiling",
        "chain_head",
        "chain_over_ceiling",
        "chain_records",
        "chain_replays",
        "codebooks",
        "db_bytes",
        "drawers",
        "embed_failures",
        "external",
        "id",
        "kg",
        "late_failures",
        "level",
        "quarantined",
        "read_only",
        "records",
        "rerank_failures",
        "rooms",
        "tunnels",
        "unhealed",
        "wings",
        "writes",
    ];
    assert_eq!(keys(&stats), expected);
    assert_eq!((&stats["records"], &stats["chain_records"]), (&json!(2), &json!(2)));
    let taxonomy = server.get("/v1/vaults/one/taxonomy").await.expect(200);
    assert_eq!(
        taxonomy,
        json!({ "wings": [{ "wing": "general", "rooms": [{ "room": "inbox", "count": 2 }] }] })
    );
    let woken = server.get("/v1/vaults/one/wake-up?wing=general").await.expect(200);
    assert_eq!(woken["drawers"].as_array().unwrap().len(), 2);
    let links = server.get("/v1/vaults/one/supersessions").await.expect(200);
    assert_eq!(keys(&links), ["ok", "summary", "supersessions"]);
    assert_eq!(links["summary"]["verified"], 1);
    let history = server.get("/v1/vaults/one/history?limit=1&offset=1").await.expect(200);
    assert_eq!((&history["count"], &history["scope"]), (&json!(1), &json!("operator")));
    assert_eq!(keys(&history["records"][0]), ["at", "record_id", "seq", "tag"]);
    assert_eq!(history["records"][0]["seq"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_repair_and_anchor_answer_in_full() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    server.post("/v1/vaults/one/drawers", json!({ "text": "kept" })).await.expect(200);
    let report = server.send("POST", "/v1/vaults/one/verify", &[], "").await.expect(200);
    assert_eq!((&report["ok"], &report["records_checked"]), (&json!(true), &json!(1)));
    for field in ["bad_records", "orphan_labels", "mirror_drift", "bad_supersessions", "bad_receipts"] {
        assert_eq!(report[field], json!([]), "{field}");
    }
    assert_eq!(report["receipts"], report["supersessions"]);
    let repaired = server.send("POST", "/v1/vaults/one/repair", &[], "").await;
    assert_eq!(repaired.header("x-undercroft-position"), "0:2");
    assert_eq!(repaired.expect(200)["ok"], true);
    let anchored = server.send("POST", "/v1/vaults/one/anchor", &[], "").await.expect(200);
    assert_eq!(keys(&anchored), ["anchored", "behind_by", "chain_head", "writes"]);
    assert_eq!((&anchored["anchored"], &anchored["writes"]), (&json!(true), &json!(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_are_found_counted_and_removed() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    for _ in 0..3 {
        server.post("/v1/vaults/one/drawers", json!({ "text": "twice told" })).await.expect(200);
    }
    let seen = server.send("POST", "/v1/vaults/one/dedup", &[], "").await.expect(200);
    assert_eq!(keys(&seen), ["applied", "dates_kept", "duplicate_groups", "quarantined", "removed"]);
    assert_eq!((&seen["applied"], &seen["removed"]), (&json!(false), &json!(2)));
    let done = server.post("/v1/vaults/one/dedup", json!({ "apply": true })).await.expect(200);
    assert_eq!((&done["applied"], &done["removed"]), (&json!(true), &json!(2)));
    assert_eq!(server.get("/v1/vaults/one/stats").await.expect(200)["records"], 1);
    let none = server.send("DELETE", "/v1/vaults/one/drawers?source=a%20b.md", &[], "").await.expect(200);
    assert_eq!(none, json!({ "source": "a b.md", "deleted": 0, "ids": [] }));
    server.send("DELETE", "/v1/vaults/one/drawers", &[], "").await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_made_listed_and_brought_back() {
    let dir = with_one_vault();
    palace(&dir).create_vault("two", Level::Sealed).unwrap();
    let server = Server::plain(&dir).await;
    server.post("/v1/vaults/one/drawers", json!({ "text": "before" })).await.expect(200);
    let made = server.send("POST", "/v1/vaults/one/backups", &[], "").await;
    assert_eq!(made.header("x-undercroft-position"), "0:1");
    let made = made.expect(200);
    assert_eq!(keys(&made), ["chain_records", "dropped", "name", "records"]);
    let name = made["name"].as_str().unwrap().to_owned();
    let listed = server.get("/v1/vaults/one/backups").await;
    assert_eq!(listed.header("x-undercroft-position"), "0:1");
    let listed = listed.expect(200);
    assert_eq!(listed, json!({ "backups": [{ "name": name, "vault": "one" }] }));
    assert_eq!(server.get("/v1/vaults/two/backups").await.expect(200), json!({ "backups": [] }));
    server.post("/v1/vaults/one/drawers", json!({ "text": "after" })).await.expect(200);
    server.post("/v1/vaults/two/backups/restore", json!({ "name": name })).await.expect(400);
    server.post("/v1/vaults/one/backups/restore", json!({ "name": "../one" })).await.expect(404);
    let restored = server.post("/v1/vaults/one/backups/restore", json!({ "name": name })).await;
    assert_eq!(restored.header("x-undercroft-position"), "0:1");
    restored.expect(200);
    assert_eq!(server.get("/v1/vaults/one/stats").await.expect(200)["records"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_copies_of_a_deleted_vault_are_nothing_to_the_next_one_of_its_name() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    server.post("/v1/vaults/one/drawers", json!({ "text": "of the first" })).await.expect(200);
    let made = server.send("POST", "/v1/vaults/one/backups", &[], "").await.expect(200);
    let gone = server.send("DELETE", "/v1/vaults/one", &[], "").await.expect(200);
    assert_eq!(gone, json!({ "id": "one", "deleted": true, "backups_kept": 1 }));
    server.post("/v1/vaults", json!({ "id": "one" })).await.expect(201);
    assert_eq!(server.get("/v1/vaults/one/backups").await.expect(200), json!({ "backups": [] }));
    let restore = json!({ "name": made["name"] });
    let refused = server.post("/v1/vaults/one/backups/restore", restore).await;
    assert!(refused.error().contains("earlier vault"), "{}", refused.text());
    assert_eq!(refused.expect(409)["class"], "conflict");
    assert_eq!(server.get("/v1/vaults/one/drawers").await.expect(200), json!({ "drawers": [] }));
    let own = server.send("POST", "/v1/vaults/one/backups", &[], "").await.expect(200);
    assert_ne!(own["name"], made["name"]);
    let gone = server.send("DELETE", "/v1/vaults/one", &[], "").await.expect(200);
    assert_eq!(gone["backups_kept"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_request_is_said_with_its_status() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let drawers = "/v1/vaults/one/drawers";
    let id = "00000000000000000000000000000000";
    let cases: Vec<(&str, String, &str, u16, &str)> = vec![
        ("POST", drawers.into(), "{", 400, "EOF"),
        ("POST", drawers.into(), "", 400, "EOF"),
        ("POST", drawers.into(), "[]", 400, "the body"),
        ("POST", drawers.into(), "{}", 400, "text"),
        ("POST", drawers.into(), "{\"text\":1}", 400, "invalid type"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"txet\":1}", 400, "txet"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"text\":\"b\"}", 400, "duplicate field"),
        ("POST", drawers.into(), "{\"text\":\" \"}", 400, "text"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"wing\":\"\"}", 400, "wing"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"wing\":\"quarantine-pending\"}", 400, "reserved"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"kind\":\"poem\"}", 400, "kind"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"content_date\":\"soon\"}", 400, "content_date"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"supersedes\":\"x\"}", 400, "id"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"added_by\":\"mcp\"}", 400, "added_by"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"vector\":[1]}", 501, "vector"),
        ("POST", drawers.into(), "{\"text\":\"a\",\"dedup_threshold\":0.9}", 501, "dedup_threshold"),
        ("POST", "/v1/vaults/one/search".into(), "{\"query\":\"a\",\"as_of\":\"2026\"}", 501, "as_of"),
        ("POST", "/v1/vaults/one/search".into(), "{\"query\":\"a\",\"min_trust\":\"x\"}", 501, "min_trust"),
        ("POST", "/v1/vaults/one/search".into(), "{\"query\":\"a\",\"when\":\"x\"}", 501, "when"),
        ("POST", "/v1/vaults/one/search".into(), "{\"query\":\"a\",\"ranked_at\":\"x\"}", 400, "ranked_at"),
        ("POST", "/v1/vaults/one/search".into(), "{\"query\":\"a\",\"language\":\"xx\"}", 400, "language"),
        ("POST", "/v1/vaults/one/search".into(), "{\"query\":\"a\",\"limit\":-1}", 400, "the body"),
        ("POST", "/v1/vaults/one/search".into(), "{\"query\":\"a\",\"limit\":99999}", 400, "limit"),
        ("GET", format!("{drawers}?limit=501"), "", 400, "limit"),
        ("GET", format!("{drawers}?limit=x"), "", 400, "query string"),
        ("GET", format!("{drawers}?limt=1"), "", 400, "limt"),
        ("GET", format!("{drawers}/xyz"), "", 400, "hexadecimal"),
        ("GET", format!("{drawers}/{id}"), "", 404, id),
        ("GET", format!("{drawers}/%ff"), "", 400, "UTF-8"),
        ("GET", "/v1/vaults/nobody/stats".into(), "", 404, "nobody"),
        ("GET", "/v1/vaults/%2e%2e/stats".into(), "", 400, "vault"),
        ("GET", "/v1/vaults/one%20/stats".into(), "", 400, "vault id"),
        ("GET", "/v1/nothing".into(), "", 404, "not found"),
        ("GET", "/".into(), "", 404, "not found"),
        ("PATCH", drawers.into(), "", 405, "PATCH"),
        ("GET", "/v1/vaults/one".into(), "", 405, "GET"),
        ("POST", "/v1/vaults".into(), "{\"id\":\"a/b\"}", 400, "vault"),
        ("POST", "/v1/vaults".into(), "{\"id\":\"x\",\"level\":\"open\"}", 400, "level"),
        ("POST", "/v1/vaults".into(), "{\"id\":\"x\",\"embedder\":\"onnx\"}", 400, "embedder"),
        ("POST", "/v1/vaults".into(), "{\"id\":\"x\",\"embedder\":\"external:m@3\"}", 501, "embedder"),
        ("GET", "/v1/vaults/one/kg/stats".into(), "", 501, "GET /v1/vaults/{id}/kg/stats"),
        ("POST", "/v1/vaults/one/rotate".into(), "", 501, "rotate"),
        ("GET", "/v1/vaults/one/export".into(), "", 501, "export"),
        ("GET", "/metrics".into(), "", 404, "not found"),
    ];
    for (method, path, body, status, named) in cases {
        let reply = server.send(method, &path, &[], body).await;
        assert_eq!(reply.status, status, "{method} {path} {body}: {}", reply.text());
        assert!(reply.error().contains(named), "{method} {path} {body}: {}", reply.text());
    }
    assert_eq!(server.get("/v1/vaults").await.expect(200), json!({ "vaults": ["one"] }));
    assert_eq!(server.get("/v1/vaults/one/stats").await.expect(200)["records"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_carries_an_id_of_its_request() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let named = server.send("GET", "/v1/vaults", &[("x-request-id", "mine-1")], "").await;
    assert_eq!(named.header("x-request-id"), "mine-1");
    let other = server.send("GET", "/nowhere", &[("x-request-id", "not mine")], "").await;
    assert!(!other.header("x-request-id").is_empty() && other.header("x-request-id") != "not mine");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_is_given_back_byte_for_byte() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    for text in ["line\r\nline\ttab\u{0}nul", "e\u{301} é 日本語 \u{feff}", "\"quoted\" \\ </script>"] {
        let saved = server.post("/v1/vaults/one/drawers", json!({ "text": text })).await.expect(200);
        let path = format!("/v1/vaults/one/drawers/{}", saved["id"].as_str().unwrap());
        assert_eq!(server.get(&path).await.expect(200)["drawer"]["content"], text);
    }
}

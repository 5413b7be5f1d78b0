//! The served document: who gets it, and that answers are what it says.

mod support;

use serde_json::{Value, json};
use support::schema::Document;
use support::{Reply, Server, palace, with_one_vault};
use undercroft_node::http::{AppOptions, Bearer};
use undercroft_palace::{Access, Level};

const V: &str = "/v1/vaults/{id}";

async fn document(server: &Server) -> Document {
    Document(server.get("/v1/openapi.json").await.expect(200))
}

/// Fails unless the status, the headers and the body of an answer are documented.
fn expect_conforming(document: &Document, method: &str, template: &str, reply: &Reply) {
    let what = format!("{method} {template} -> {}", reply.status);
    let schema = document.answer(method, template, reply.status);
    assert!(schema.is_object(), "{what}: no shape is documented");
    assert_eq!(document.findings(schema, &reply.json(), ""), Vec::<String>::new(), "{what}");
    let answer = &document.operation(method, template)["responses"][reply.status.to_string()];
    let documented = document.resolved(answer)["headers"].as_object().expect("headers");
    let ours = ["x-request-id", "x-undercroft-position", "retry-after", "www-authenticate"];
    for name in ours.iter().filter(|name| reply.headers.contains_key(**name)) {
        assert!(documented.keys().any(|known| known.eq_ignore_ascii_case(name)), "{what}: {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_behind_the_bearer_and_says_nothing_about_the_installation() {
    let dir = with_one_vault();
    palace(&dir).create_vault("zanzibar", Level::Sealed).expect("a vault");
    let options = AppOptions { bearer: Some(Bearer::new("t0ken".into())), ..AppOptions::default() };
    let server = Server::start(&dir, Access::Write, options).await;
    assert_eq!(server.get("/v1/openapi.json").await.status, 401);
    let reply = server.send("GET", "/v1/openapi.json", &[("authorization", "Bearer t0ken")], "").await;
    assert_eq!(reply.header("content-type"), "application/json");
    let text = reply.text();
    for secret in [dir.path().to_str().expect("a path"), "zanzibar", "t0ken"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let document = reply.expect(200);
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    assert_eq!(document["components"]["securitySchemes"]["assertion"]["name"], "X-Vault-Assertion");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_built_route_of_a_vault_answers_as_documented() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let document = document(&server).await;
    let saved = server.post("/v1/vaults/one/drawers", json!({ "text": "the door is red" })).await;
    expect_conforming(&document, "POST", &format!("{V}/drawers"), &saved);
    let id = saved.json()["id"].as_str().expect("an id").to_owned();
    let newer = json!({ "text": "the door is blue", "kind": "statement", "content_date": "2026-01-02", "supersedes": id });
    server.post("/v1/vaults/one/drawers", newer).await.expect(200);
    let asked = [
        ("GET", "/stats", json!(null)),
        ("GET", "/drawers", json!(null)),
        ("GET", "/drawers/{drawer_id}", json!(null)),
        ("PUT", "/drawers/{drawer_id}", json!({ "text": "the door was red" })),
        ("POST", "/drawers/check-duplicate", json!({ "text": "the door is blue" })),
        ("POST", "/drawers/check-duplicate", json!({ "text": "nobody said this" })),
        ("POST", "/dedup", json!({ "apply": true })),
        ("GET", "/taxonomy", json!(null)),
        ("GET", "/wake-up", json!(null)),
        ("POST", "/search", json!({ "query": "door", "kind": "statement" })),
        ("GET", "/supersessions", json!(null)),
        ("GET", "/history", json!(null)),
        ("POST", "/backups", json!(null)),
        ("GET", "/backups", json!(null)),
        ("POST", "/verify", json!(null)),
        ("POST", "/repair", json!(null)),
        ("POST", "/anchor", json!(null)),
        ("DELETE", "/drawers/{drawer_id}", json!(null)),
    ];
    for (method, part, body) in asked {
        let path = format!("/v1/vaults/one{part}").replace("{drawer_id}", &id);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = server.send(method, &path, &[], &body).await;
        assert_eq!(reply.status, 200, "{method} {part}: {}", reply.text());
        expect_conforming(&document, method, &format!("{V}{part}"), &reply);
    }
    let gone = server.send("DELETE", "/v1/vaults/one/drawers?source=nothing", &[], "").await;
    expect_conforming(&document, "DELETE", &format!("{V}/drawers"), &gone);
    for (method, path, body) in
        [("POST", "/v1/vaults", "{\"id\":\"two\"}"), ("GET", "/v1/vaults", ""), ("GET", "/readyz", "")]
    {
        expect_conforming(&document, method, path, &server.send(method, path, &[], body).await);
    }
    expect_conforming(&document, "DELETE", V, &server.send("DELETE", "/v1/vaults/two", &[], "").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_as_documented() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    let document = document(&server).await;
    let large = format!("{{\"text\":\"{}\"}}", "a".repeat(1 << 20));
    let refused = [
        ("GET", "/stats", "/v1/vaults/two/stats", "", 404),
        ("GET", "/stats", "/v1/vaults/..%2f/stats", "", 400),
        ("GET", "/drawers", "/v1/vaults/one/drawers?limit=501", "", 400),
        ("GET", "/drawers", "/v1/vaults/one/drawers?colour=red", "", 400),
        ("GET", "/drawers/{drawer_id}", "/v1/vaults/one/drawers/17", "", 400),
        ("POST", "/drawers", "/v1/vaults/one/drawers", "{", 400),
        ("POST", "/drawers", "/v1/vaults/one/drawers", "{\"text\":\"a\",\"vector\":[1]}", 501),
        ("POST", "/drawers", "/v1/vaults/one/drawers", &large, 413),
        ("POST", "/search", "/v1/vaults/one/search", "{\"query\":\"a\",\"when\":1}", 501),
        ("POST", "/backups/restore", "/v1/vaults/one/backups/restore", "{\"name\":\"none\"}", 404),
        ("GET", "/kg/canonical/{key}", "/v1/vaults/one/kg/canonical/k", "", 501),
        ("POST", "/mcp", "/v1/vaults/one/mcp", "{", 400),
    ];
    for (method, part, path, body, status) in refused {
        let reply = server.send(method, path, &[], body).await;
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.text());
        expect_conforming(&document, method, &format!("{V}{part}"), &reply);
    }
    let foreign = server.send("GET", "/v1/vaults", &[("host", "example.org")], "").await;
    assert_eq!(foreign.status, 403);
    expect_conforming(&document, "GET", "/v1/vaults", &foreign);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_commands_print_is_what_the_document_says() {
    let dir = with_one_vault();
    let document = document(&Server::plain(&dir).await).await;
    // `wake-up` tells this machine besides whom the palace serves; the others print the same on both surfaces.
    let printed = [
        ("remember", "Saved"),
        ("drawer_get", "FoundDrawer"),
        ("drawer_list", "DrawerList"),
        ("drawer_update", "Updated"),
        ("drawer_delete", "Deleted"),
        ("check_dup_found", "Duplicate"),
        ("check_dup_missing", "Duplicate"),
        ("dedup", "DedupReport"),
        ("stats", "VaultStats"),
        ("taxonomy", "Taxonomy"),
        ("search", "SearchReply"),
        ("search_by_kind", "SearchReply"),
        ("history", "History"),
        ("supersessions", "Supersessions"),
        ("verify", "Verified"),
        ("repair", "RepairReport"),
        ("vault_list", "VaultList"),
        ("vault_anchor", "AnchorReport"),
        ("error_conflict", "Refused"),
        ("error_integrity", "Refused"),
        ("error_not_found", "Refused"),
    ];
    for (name, schema) in printed {
        let path = format!("{}/../tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(document.findings(document.schema(schema), &value, ""), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_check_of_the_tests_finds_what_is_wrong() {
    let document = Document(json!({ "components": { "schemas": {
        "A": { "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } },
        "B": { "allOf": [{ "$ref": "#/components/schemas/A" }, {
            "type": "object",
            "properties": { "w": { "oneOf": [{ "type": "null" }, { "type": "string", "enum": ["x"] }] } },
        }] },
    } } }));
    let findings = |value: Value| document.findings(document.schema("B"), &value, "").len();
    assert_eq!(findings(json!({ "n": 1, "w": "x" })), 0);
    assert_eq!(findings(json!({ "n": 1, "w": null })), 0);
    assert_eq!(findings(json!({ "n": "<masked>" })), 0);
    for wrong in [json!({}), json!({ "n": 1.5 }), json!({ "n": 1, "w": "y" }), json!({ "n": 1, "more": 1 })] {
        assert_eq!(findings(wrong.clone()), 1, "{wrong}");
    }
}

//! What a route does not take is refused by it, for every route of the document, over a real socket.

mod support;

use serde_json::{Value, json};
use support::{Reply, Server, with_one_vault};
use undercroft_node::http::AppOptions;
use undercroft_node::serving::{Bounds, ServingOptions};
use undercroft_palace::Access;

/// Every operation of the document that is built and no health route: method, path without a hole, itself.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            let is_open = operation["security"] == json!([]);
            if is_open || operation.get("x-not-built").is_some() {
                continue;
            }
            let path = path.replace("{id}", "one").replace("{drawer_id}", &"0".repeat(32));
            all.push((method.to_uppercase(), path, operation.clone()));
        }
    }
    all
}

async fn server(dir: &tempfile::TempDir) -> Server {
    let options = ServingOptions {
        access: Access::Write,
        resident: Some(String::from("one")),
        bounds: Bounds::default(),
    };
    Server::start_with(dir, options, AppOptions { metrics: true, ..AppOptions::default() }).await
}

fn expect_refused(reply: &Reply, what: &str, says: &str) {
    assert_eq!(reply.status, 400, "{what}: {}", reply.text());
    assert!(reply.text().contains(says), "{what}: {}", reply.text());
    for name in ["struct", "usize", "u64", "Request"] {
        assert!(!reply.text().contains(name), "{what} tells a name of the program: {}", reply.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_overlooks_a_field_of_the_query_or_a_body_that_it_does_not_read() {
    let dir = with_one_vault();
    let server = server(&dir).await;
    let document = server.get("/v1/openapi.json").await.expect(200);
    let operations = operations(&document);
    assert!(operations.len() > 20, "{}", operations.len());
    for (method, path, operation) in &operations {
        let asked = format!("{method} {path}");
        let body = if operation["requestBody"].is_object() { "{}" } else { "" };
        let reply = server.send(method, &format!("{path}?zork=1"), &[], body).await;
        expect_refused(&reply, &asked, "unknown field `zork`");
        let reply = server.send(method, path, &[], "{\"zork\":1}").await;
        let says = match (body.is_empty(), path.ends_with("/mcp")) {
            (true, _) => "takes none",
            (false, true) => "error",
            (false, false) => "zork",
        };
        expect_refused(&reply, &asked, says);
        for array in ["[]", "[\"a\"]", "[true]"] {
            let says = if path.ends_with("/mcp") { "error" } else { "the body" };
            expect_refused(&server.send(method, path, &[], array).await, &asked, says);
        }
    }
    // Nothing of that was done.
    assert_eq!(server.get("/v1/vaults").await.expect(200), json!({ "vaults": ["one"] }));
    assert_eq!(server.get("/v1/vaults/one/stats").await.expect(200)["records"], 0);
    assert_eq!(server.get("/livez?at=1").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_an_object_and_its_refusals_speak_of_fields() {
    let dir = with_one_vault();
    let server = Server::plain(&dir).await;
    for body in ["null", "1", "\"text\"", "[\"words\"]", " [true]"] {
        for path in ["drawers", "search", "dedup", "backups/restore"] {
            let reply = server.send("POST", &format!("/v1/vaults/one/{path}"), &[], body).await;
            expect_refused(&reply, body, "must be a JSON object");
        }
    }
    let reply = server.post("/v1/vaults/one/search", json!({ "query": "a", "limit": -1 })).await;
    expect_refused(&reply, "limit", "a whole number, not negative");
    server.send("POST", "/v1/vaults/one/dedup", &[], "").await.expect(200);
    // A chunked body without a byte is none.
    let chunked = "POST /v1/vaults/one/verify HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert!(server.raw(format!("{chunked}0\r\n\r\n").as_bytes()).await.starts_with("HTTP/1.1 200"));
    assert!(server.raw(format!("{chunked}1\r\nx\r\n0\r\n\r\n").as_bytes()).await.starts_with("HTTP/1.1 400"));
}

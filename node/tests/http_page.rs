//! `docs/http.md` and the running server say the same about every route and every series.

mod support;

use support::{Server, with_one_vault};
use undercroft_node::http::{AppOptions, Bearer};
use undercroft_palace::Access;

const PAGE: &str = include_str!("../../docs/http.md");

/// Routes of the page: method, path, whether it is built.
fn routes() -> Vec<(String, String, bool)> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    rows.filter_map(|row| {
        let (route, built) = row.split_once("` | ")?;
        let (method, path) = route.split_once(' ')?;
        matches!(built, "yes" | "no").then(|| (method.to_owned(), path.to_owned(), built == "yes"))
    })
    .collect()
}

/// The path with a vault that exists and names that mean nothing.
fn filled(path: &str) -> String {
    let path = path.replace("{id}", "one");
    path.replace("{drawer_id}", &"0".repeat(32)).replace("{tid}", "t").replace("{key}", "k")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_of_the_page_is_there_and_says_whether_it_is_built() {
    let dir = with_one_vault();
    let server =
        Server::start(&dir, Access::Write, AppOptions { metrics: true, ..AppOptions::default() }).await;
    let mut routes = routes();
    assert_eq!(routes.len(), 68, "the table of the page was read");
    // The vault is deleted last.
    routes.sort_by_key(|(method, path, _)| (method == "DELETE" && path == "/v1/vaults/{id}", path.clone()));
    for (method, path, built) in routes {
        let reply = server.send(&method, &filled(&path), &[], "").await;
        if built {
            assert!(![405, 501].contains(&reply.status), "{method} {path}: {}", reply.text());
            let unknown = reply.status == 404 && reply.error() == "not found";
            assert!(!unknown, "{method} {path}");
        } else {
            assert_eq!(reply.status, 501, "{method} {path}: {}", reply.text());
            assert_eq!(reply.error(), format!("not implemented: {method} {path}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_and_the_document_have_the_same_routes() {
    let dir = with_one_vault();
    let document = Server::plain(&dir).await.get("/v1/openapi.json").await.expect(200);
    let mut documented = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            documented.push((method.to_uppercase(), path.clone(), operation.get("x-not-built").is_none()));
        }
    }
    let mut written = routes();
    written.sort();
    documented.sort();
    assert_eq!(written, documented);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_of_the_page_is_behind_the_bearer_but_health() {
    let dir = with_one_vault();
    let options = AppOptions { bearer: Some(Bearer::new("t".into())), ..AppOptions::default() };
    let server = Server::start(&dir, Access::Write, options).await;
    for (method, path, _) in routes() {
        let status = server.send(&method, &filled(&path), &[], "").await.status;
        let open = ["/healthz", "/livez", "/readyz"].contains(&path.as_str());
        assert_eq!(status, if open { 200 } else { 401 }, "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_names_every_series() {
    let dir = with_one_vault();
    let server =
        Server::start(&dir, Access::Write, AppOptions { metrics: true, ..AppOptions::default() }).await;
    let body = serde_json::json!({ "query": "a" });
    server.post("/v1/vaults/one/search", body).await.expect(200);
    let text = server.get("/metrics").await.text();
    let shown: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    for series in &shown {
        assert!(PAGE.contains(&format!("| `{series}` |")), "{series}");
    }
    // A counter with labels is shown once something was counted; nothing was rejected here.
    let named = PAGE.lines().filter(|line| line.starts_with("| `undercroft_")).count();
    assert_eq!(shown.len() + 1, named, "{shown:?}");
}

/// Body and path of the page's `curl` lines.
fn typed() -> Vec<(&'static str, &'static str)> {
    let lines = PAGE.lines().filter_map(|line| line.strip_prefix("curl "));
    let parts = lines.filter_map(|line| {
        let (_, rest) = line.split_once(" -d '")?;
        let (body, address) = rest.split_once("' http://127.0.0.1:8765")?;
        Some((body, address))
    });
    parts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_page_tells_to_type_saves_a_text_and_finds_it() {
    let dir = tempfile::TempDir::new().expect("a folder");
    support::palace(&dir).create_vault("default", undercroft_palace::Level::Sealed).expect("a vault");
    let server = Server::plain(&dir).await;
    let [save, search] = typed()[..] else { panic!("two lines") };
    let json = [("content-type", "application/json")];
    let saved = server.send("POST", save.1, &json, save.0).await.expect(200);
    for field in ["id", "created", "deduped", "quarantined"] {
        assert!(saved.get(field).is_some(), "{field}: {saved}");
    }
    let found = server.send("POST", search.1, &json, search.0).await.expect(200);
    assert_eq!(found["hits"][0]["content"], "The key hangs behind the map.");
    assert!(found.get("next_offset").is_some() && found.get("ranked_at").is_some(), "{found}");
}

//! Messages among other requests of a serving process.

use serde_json::{Value, json};
use tempfile::TempDir;
use undercroft_palace::{Access, CreateKeys, Home, KeySource, Level, Palace, VaultSettings, standard_tools};

use super::http::{HttpAnswer, carry_out};
use super::{Message, Posture, Server};
use crate::serving::{Bounds, Serving, ServingOptions, VaultHandle};

async fn served(dir: &TempDir) -> (Serving, VaultHandle) {
    let home = Home::at(dir.path().join("palace"));
    let (settings, tools) = (VaultSettings::default(), standard_tools());
    let palace = Palace::open(home, &KeySource::KeyFile, CreateKeys::IfEmpty, &settings, tools).unwrap();
    let options = ServingOptions { access: Access::Write, resident: None, bounds: Bounds::default() };
    let serving = Serving::start(palace, options);
    let handle = serving.create("one", Level::Sealed).await.unwrap();
    (serving, handle)
}

async fn call(handle: &VaultHandle, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let server = Server::new(Posture::Writable);
    let message = Message::read(message.to_string().as_bytes());
    let HttpAnswer { status: 200, body: Some(body) } =
        carry_out(handle, None, server, message).await.unwrap()
    else {
        panic!("a call is answered")
    };
    let reply: Value = serde_json::from_str(&body).unwrap();
    reply["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_agents_write_at_once_and_every_text_is_kept() {
    let dir = TempDir::new().unwrap();
    let (_serving, handle) = served(&dir).await;
    let writers: Vec<_> = (0..40)
        .map(|n| {
            let handle = handle.clone();
            tokio::spawn(async move {
                call(&handle, "undercroft_save", json!({ "content": format!("line {n}") })).await
            })
        })
        .collect();
    for writer in writers {
        assert_eq!(writer.await.unwrap()["isError"], false);
    }
    let status = call(&handle, "undercroft_status", json!({})).await;
    assert_eq!(status["structuredContent"]["records"], 40);
    assert_eq!(handle.position(), 40);
    let verdict = call(&handle, "undercroft_verify", json!({})).await;
    assert!(verdict["content"][0]["text"].as_str().unwrap().ends_with("result: VERIFY OK"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_call_is_answered_without_a_write() {
    let dir = TempDir::new().unwrap();
    let (_serving, handle) = served(&dir).await;
    let server = Server::new(Posture::Writable);
    for (body, status) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 200),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 202),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","id2":1}"#, 400),
        ("nope", 400),
    ] {
        let answer = carry_out(&handle, None, server, Message::read(body.as_bytes())).await.unwrap();
        assert_eq!(answer.status, status, "{body}");
    }
    assert_eq!(handle.position(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_that_an_agent_is_answered_is_known_to_the_process_and_counted_once() {
    let dir = TempDir::new().unwrap();
    let (serving, handle) = served(&dir).await;
    let saved = call(&handle, "undercroft_save", json!({ "content": "one that somebody will change" })).await;
    let id = saved["structuredContent"]["id"].clone();
    assert_eq!(serving.damaged(), []);
    // Somebody who has the file and not the key.
    let path = handle.read(|vault| Ok(vault.dir().join("vault.db"))).await.unwrap();
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute("UPDATE drawers SET content = zeroblob(99)", []).unwrap();
    let refused = call(&handle, "undercroft_get_drawer", json!({ "id": id })).await;
    assert_eq!(refused["isError"], true);
    let damaged = serving.damaged();
    assert!(
        damaged.len() == 1 && damaged[0].vault == "one" && damaged[0].finding.contains("integrity"),
        "{damaged:?}"
    );
    assert_eq!(serving.counted().failed, [1, 0, 0, 0]);
    // A change of it fails too: that verdict passed the writer, and is not counted twice.
    let update = json!({ "id": id, "content": "other words" });
    assert_eq!(call(&handle, "undercroft_update_drawer", update).await["isError"], true);
    assert_eq!(serving.counted().failed, [2, 0, 0, 0]);
}

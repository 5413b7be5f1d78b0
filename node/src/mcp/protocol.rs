//! One JSON-RPC 2.0 message in, at most one out. Knows neither lines nor HTTP, and keeps nothing between messages.
//!
//! Strict on what it takes: one object a message, no batches, no unknown members, ids that can be given back exactly. A
//! message without an id is never carried out, whatever its method.

use serde_json::{Map, Value, json};
use undercroft_vault::Vault;

use super::arguments::Arguments;
use super::failure::{Failure, echo};
use super::message::Message;
use super::reply::{Reply, failed};
use super::step::{Pending, Step};
use super::tools::{self, Call, Plan};
use super::{fence, version};

type Object = Map<String, Value>;

const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const METHOD_NOT_FOUND: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;

/// What a client is told about the server when it begins.
const INSTRUCTIONS: &str = "A memory that keeps what was said word for word. At the start of a conversation call \
    undercroft_wake_up; before you answer from memory or ask for something again, call undercroft_search; when \
    something is worth remembering, call undercroft_save with the words as they were said.";

/// Whether tools may change the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Posture {
    /// They may.
    Writable,
    /// They are refused.
    ReadOnly,
}

/// The answer to one message.
#[derive(Debug, Clone)]
pub enum Answer {
    /// It needs no reply: a notification, or an answer to something that was never asked.
    Accepted,
    /// The reply.
    Reply {
        /// One line of JSON, without its end.
        reply: String,
        /// What the log should know: a defect, or a verdict on stored bytes.
        failure: Option<Failure>,
    },
    /// It is no JSON.
    Unreadable {
        /// The reply where one is sent.
        reply: String,
        /// What the parser says.
        reason: String,
    },
    /// It is no request: the reply.
    Invalid(String),
}

/// The protocol over one vault at a time. It holds what the process decides and nothing of a client.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    posture: Posture,
    audit_ceiling: Option<u64>,
}

/// A request that can be answered.
struct Request<'a> {
    id: &'a Value,
    method: &'a str,
    params: Option<&'a Object>,
}

/// An error of the protocol, as opposed to a tool that failed.
struct RpcError {
    code: i32,
    message: String,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl Server {
    /// The protocol in this posture.
    #[must_use]
    pub fn new(posture: Posture) -> Self {
        Self { posture, audit_ceiling: None }
    }

    /// The chain length from which the status says that the chain is long.
    #[must_use]
    pub fn with_audit_ceiling(mut self, ceiling: Option<u64>) -> Self {
        self.audit_ceiling = ceiling;
        self
    }

    /// Carries out one message over `vault`, as far as that needs no write. Blocks as long as a tool reads.
    #[must_use]
    pub fn begin(&self, vault: &Vault, message: &Message) -> Step {
        let value = match &message.0 {
            Ok(value) => value,
            Err(error) => {
                let reason = format!("parse error: {error}");
                let reply = error_reply(&Value::Null, &RpcError::new(PARSE_ERROR, &reason));
                return Step::Done(Answer::Unreadable { reply, reason });
            }
        };
        let request = match read(value) {
            Err((id, error)) => return Step::Done(Answer::Invalid(error_reply(&id, &error))),
            Ok(None) => return Step::Done(Answer::Accepted),
            Ok(Some(request)) => request,
        };
        let result = match request.method {
            "initialize" => initialize(request.params),
            "ping" => Ok(json!({})),
            "tools/list" => list(request.params),
            "tools/call" => match asked(request.params) {
                Ok((name, given)) => return self.call(request.id, name, given, vault),
                Err(error) => Err(error),
            },
            other => Err(RpcError::new(METHOD_NOT_FOUND, format!("method not found: {}", echo(other)))),
        };
        Step::Done(match result {
            Ok(result) => Answer::Reply { reply: result_reply(request.id, &result), failure: None },
            Err(error) => Answer::Reply { reply: error_reply(request.id, &error), failure: None },
        })
    }

    /// The reply to a message that is longer than this transport takes.
    #[must_use]
    pub(super) fn too_long(most: usize) -> String {
        let message = format!("the message is longer than {most} bytes; send less at once");
        error_reply(&Value::Null, &RpcError::new(INVALID_REQUEST, message))
    }

    fn call(&self, id: &Value, name: &str, given: Option<&Object>, vault: &Vault) -> Step {
        let none = Object::new();
        match self.plan(name, given.unwrap_or(&none), vault) {
            Ok(Plan::Write(change, finish)) => Step::Write(change, Pending { id: id.clone(), finish }),
            Ok(Plan::Answer(reply)) => Step::Done(called(id, Ok(reply))),
            Err(failure) => Step::Done(called(id, Err(failure))),
        }
    }

    /// The gates in their order, then the tool.
    fn plan(&self, name: &str, given: &Object, vault: &Vault) -> Result<Plan, Failure> {
        let tool = tools::find(name);
        fence::admit(self.posture, name, tool, given, vault)?;
        let Some(tool) = tool else {
            return Err(Failure::invalid(format!("unknown tool: {}", echo(name))));
        };
        let arguments = Arguments::check(tool, given)?;
        tool.run.start(&Call { vault, arguments, audit_ceiling: self.audit_ceiling })
    }
}

/// The answer to a call: one that failed is a result that says so.
pub(super) fn called(id: &Value, outcome: Result<Reply, Failure>) -> Answer {
    match outcome {
        Ok(reply) => Answer::Reply { reply: result_reply(id, &reply.into_result()), failure: None },
        Err(failure) => {
            let reply = result_reply(id, &failed(&failure));
            Answer::Reply { reply, failure: Some(failure).filter(Failure::is_for_the_log) }
        }
    }
}

/// The tool that a call names, and the arguments that it gives. A call without them is an error of the protocol.
fn asked(params: Option<&Object>) -> Result<(&str, Option<&Object>), RpcError> {
    let invalid = |what: &str| RpcError::new(INVALID_PARAMS, what);
    let params = params.ok_or_else(|| invalid("params must name a tool"))?;
    // A task is not offered, and a client that wishes for one is answered as if it had not.
    known_params(params, &["name", "arguments", "_meta", "task"])?;
    let name = params.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| invalid("params.name must be the name of a tool"))?;
    match params.get("arguments") {
        None | Some(Value::Null) => Ok((name, None)),
        Some(Value::Object(given)) => Ok((name, Some(given))),
        Some(_) => Err(invalid("params.arguments must be an object")),
    }
}

/// What a client says of itself and wishes for is open by nature; only the version is read.
fn initialize(params: Option<&Object>) -> Result<Value, RpcError> {
    let wanted = match params.and_then(|params| params.get("protocolVersion")) {
        None | Some(Value::Null) => None,
        Some(Value::String(wanted)) => Some(wanted.as_str()),
        Some(_) => return Err(RpcError::new(INVALID_PARAMS, "params.protocolVersion must be a string")),
    };
    Ok(json!({
        "protocolVersion": version::negotiate(wanted),
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "undercroft", "version": env!("CARGO_PKG_VERSION") },
        "instructions": INSTRUCTIONS,
    }))
}

/// Every tool, also where some are refused: what a client knows does not depend on how the server was started.
fn list(params: Option<&Object>) -> Result<Value, RpcError> {
    if let Some(params) = params {
        known_params(params, &["cursor", "_meta"])?;
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(RpcError::new(INVALID_PARAMS, "params.cursor: there is one page; leave it out"));
        }
    }
    Ok(json!({ "tools": tools::all().map(tools::Tool::entry).collect::<Vec<_>>() }))
}

fn known_params(params: &Object, known: &[&str]) -> Result<(), RpcError> {
    match params.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(RpcError::new(INVALID_PARAMS, format!("unknown parameter: {}", echo(name)))),
    }
}

/// Reads the envelope: a request, or nothing that needs a reply. What is wrong is told under the id, where it has one.
fn read(value: &Value) -> Result<Option<Request<'_>>, (Value, RpcError)> {
    let refuse = |id: &Value, message: &str| Err((id.clone(), RpcError::new(INVALID_REQUEST, message)));
    let message = match value {
        Value::Object(message) => message,
        Value::Array(_) => return refuse(&Value::Null, "batches are not taken; send one message at a time"),
        _ => return refuse(&Value::Null, "a message is a JSON object"),
    };
    let id = match message.get("id") {
        None => None,
        Some(id) if can_be_returned(id) => Some(id),
        Some(_) => return refuse(&Value::Null, "id must be a string or a whole number of 64 bits"),
    };
    let shown = id.unwrap_or(&Value::Null);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(shown, "jsonrpc must be \"2.0\"");
    }
    if let Some(name) = message.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
        return refuse(shown, &format!("unknown member: {}", echo(name)));
    }
    let method = match message.get("method") {
        Some(Value::String(method)) => method,
        Some(_) => return refuse(shown, "method must be a string"),
        // An answer; nothing was ever asked of the client.
        None if message.contains_key("result") || message.contains_key("error") => return Ok(None),
        None => return refuse(shown, "method is missing"),
    };
    let Some(id) = id else { return Ok(None) };
    let params = match message.get("params") {
        None | Some(Value::Null) => None,
        Some(Value::Object(params)) => Some(params),
        Some(_) => return Err((id.clone(), RpcError::new(INVALID_PARAMS, "params must be an object"))),
    };
    Ok(Some(Request { id, method, params }))
}

/// Everything that a message may hold, a request or an answer.
const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Ids come back exactly as they came; a fraction or a longer number would not.
fn can_be_returned(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

fn result_reply(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

fn error_reply(id: &Value, error: &RpcError) -> String {
    let error = json!({ "code": error.code, "message": error.message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

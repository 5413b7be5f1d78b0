//! Every route, on one screen, with its operation in the document. What is not built answers 501 and says so.
//!
//! Nothing is decided here; the order of the checks around the table is in `envelope`.

use axum::http::{Method, StatusCode};

use super::contract::Table;
use super::errors::Refusal;
use super::later::{later, later_anywhere};
use super::{
    backups, drawers, history, integrity, mcp, openapi, search, stats, status, supersessions, taxonomy,
    vaults,
};

pub(super) fn table() -> Table {
    let server = Table::default()
        .get("/healthz", "Whether the process answers", status::healthz)
        .get("/livez", "Whether the process answers", status::healthz)
        .get("/readyz", "Whether new requests are taken", status::readyz)
        .get("/metrics", "Counters in the Prometheus text format", status::metrics)
        .post(
            "/mcp",
            "One message of an agent to the vault that the server was started with",
            mcp::of_resident,
        )
        .get("/ui", "The console", later_anywhere)
        .get("/monitor", "The dashboard", later_anywhere)
        .get("/v1/openapi.json", "This document", openapi::document)
        .get("/v1/vaults", "List the vaults", vaults::list)
        .post("/v1/vaults", "Make a vault", vaults::create)
        .delete("/v1/vaults/{id}", "Destroy a vault and everything in it", vaults::delete)
        .under("/v1/vaults/{id}");
    unbuilt(built(server))
}

/// Routes of one vault.
fn built(table: Table) -> Table {
    table
        .get("/stats", "Counts about the vault", stats::stats)
        .get("/drawers", "List drawers, newest filed first", drawers::list)
        .post("/drawers", "Keep a text, word for word", drawers::save)
        .delete("/drawers", "Destroy every drawer of a source", drawers::delete_source)
        .post("/drawers/check-duplicate", "Whether a text is filed already", drawers::check_duplicate)
        .get("/drawers/{drawer_id}", "Read a drawer", drawers::get)
        .put("/drawers/{drawer_id}", "Give a drawer other words", drawers::update)
        .delete("/drawers/{drawer_id}", "Destroy a drawer", drawers::delete)
        .post("/dedup", "Count copies, or remove them", drawers::dedup)
        .get("/taxonomy", "Wings, rooms and how many drawers each holds", taxonomy::taxonomy)
        .get("/wake-up", "The drawers that were written last", taxonomy::wake_up)
        .post("/search", "Find drawers by meaning and by word", search::search)
        .get(
            "/supersessions",
            "Which drawer updates which, and whether the receipts hold",
            supersessions::list,
        )
        .get("/history", "The audit chain, newest first", history::history)
        .get("/backups", "List the copies of the vault", backups::list)
        .post("/backups", "Make a copy and verify it", backups::create)
        .post("/backups/restore", "Bring a copy back", backups::restore)
        .post("/verify", "Check every record and replay the chain", integrity::verify)
        .post("/repair", "Derive again what can be derived, and verify", integrity::repair)
        .post("/anchor", "Write the head of the chain into the manifest", integrity::anchor)
        .post("/mcp", "One message of an agent", mcp::of_vault)
}

/// Routes of one vault whose features this version does not have.
fn unbuilt(table: Table) -> Table {
    table
        .get("/stats/history", "Samples of the counts", later)
        .get("/stream", "What happens in the vault, as it happens", later)
        .get("/kg/stats", "Counts of the knowledge graph", later)
        .get("/kg/entities", "Entities", later)
        .get("/kg/query", "Facts about an entity", later)
        .get("/kg/timeline", "Facts in the order of time", later)
        .get("/kg/rel", "Facts by predicate", later)
        .get("/kg/receipts", "Receipts of facts", later)
        .get("/kg/canonical/{key}", "The fact that holds for a key", later)
        .post("/kg/authority", "Rule on a fact", later)
        .get("/index/status", "Counts of an index elsewhere", later)
        .get("/tunnels", "List tunnels between wings", later)
        .post("/tunnels", "Make a tunnel", later)
        .get("/tunnels/traverse", "Wings that tunnels lead to", later)
        .delete("/tunnels/{tid}", "Remove a tunnel", later)
        .get("/tunnels/{tid}/drawers", "Drawers at the far end", later)
        .get("/diary", "Read a diary", later)
        .post("/diary", "Write into a diary", later)
        .get("/diary/agents", "Who keeps a diary", later)
        .get("/closets", "Closets", later)
        .get("/hallways", "Hallways", later)
        .get("/trust", "Trust in each wing", later)
        .post("/trust", "Set the trust in a wing", later)
        .get("/admission", "What awaits a ruling", later)
        .post("/admission", "Rule on what waits", later)
        .get("/retention", "How long drawers are kept", later)
        .post("/retention", "Set how long drawers are kept", later)
        .post("/retention/sweep", "Destroy what is past its time", later)
        .post("/forget", "Destroy drawers and attest it", later)
        .post("/verify-forgetting", "Check an attestation", later)
        .get("/witness", "What a witness signs", later)
        .post("/witness", "Check what a witness signed", later)
        .post("/refine", "Distil facts", later)
        .post("/rotate", "Change the vault's keys", later)
        .get("/export", "The vault as lines of JSON", later)
        .post("/import", "Take over lines of JSON", later)
}

pub(super) async fn no_route() -> Refusal {
    Refusal::of(undercroft_palace::ErrorClass::NotFound, "not found")
}

pub(super) async fn no_method(method: Method) -> Refusal {
    Refusal::surface(StatusCode::METHOD_NOT_ALLOWED, format!("{method} is not a method of this route"))
}

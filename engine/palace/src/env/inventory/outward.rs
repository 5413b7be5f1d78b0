//! Variables of clients that leave the machine: language models and remote vector databases.

use super::{Reader, Variable};
use crate::env::{parse, pins, transport};

const LLM: &str = "the language-model client";
const REMOTE: &str = "remote indexes";

const fn remote_url(name: &'static str, meaning: &'static str) -> Variable {
    Variable::protects(name, Reader::Index, transport::outward_url)
        .values("https anywhere, http on this machine")
        .means(meaning)
        .unbuilt(REMOTE)
}

pub(super) const TABLE: &[Variable] = &[
    Variable::protects("UNDERCROFT_LLM_URL", Reader::Llm, transport::outward_url)
        .values("https anywhere, http on this machine")
        .means("The language model that `refine` and the advisor ask.")
        .unbuilt(LLM),
    Variable::opaque("UNDERCROFT_LLM_MODEL", Reader::Llm)
        .values("model name")
        .default("llama3.2")
        .means("The model that is asked for.")
        .unbuilt(LLM),
    Variable::tunes("UNDERCROFT_LLM_API", Reader::Llm, parse::model_api)
        .values("ollama, openai")
        .default("inferred: openai when the address contains `/v1`, else ollama")
        .means("The shape of requests.")
        .unbuilt(LLM),
    Variable::opaque("UNDERCROFT_LLM_KEY", Reader::Llm)
        .credential()
        .values("bearer")
        .default("no header")
        .means("The language model's credential.")
        .unbuilt(LLM),
    Variable::protects("UNDERCROFT_LLM_CA", Reader::Llm, pins::certificate_file)
        .blank_refused()
        .values("PEM file")
        .means("Pins the language model's authority in place of the public roots.")
        .unbuilt(LLM),
    remote_url("UNDERCROFT_QDRANT_URL", "The Qdrant server."),
    remote_url("UNDERCROFT_CHROMA_URL", "The Chroma server."),
    remote_url("UNDERCROFT_MILVUS_URL", "The Milvus server."),
    remote_url("UNDERCROFT_WEAVIATE_URL", "The Weaviate server."),
    Variable::protects("UNDERCROFT_PGVECTOR_DSN", Reader::Index, transport::postgres_dsn)
        .credential()
        .values("connection string; another machine needs sslmode=require, verify-ca or verify-full")
        .means("The PostgreSQL server with pgvector.")
        .unbuilt(REMOTE),
    Variable::protects("UNDERCROFT_INDEX_CA", Reader::Index, pins::certificate_file)
        .blank_refused()
        .values("PEM file, one or several roots")
        .means("Pins the authority of all five databases in place of the public roots.")
        .unbuilt(REMOTE),
];

//! Variables of embedders and rerankers.

use super::{Reader, Variable};
use crate::env::{parse, pins, transport};

const SERVED: &str = "the http embedder";
const ONNX: &str = "the onnx and ort embedders";
const RERANKING: &str = "reranking";
const LATE: &str = "late interaction";

pub(super) const TABLE: &[Variable] = &[
    Variable::protects("UNDERCROFT_EMBEDDER", Reader::Engine, parse::embedder)
        .values("hash (known, not in this version: onnx, ort, http)")
        .default("hash")
        .means("What turns text into vectors; it names the vector space of a vault."),
    Variable::protects("UNDERCROFT_EMBED_URL", Reader::Engine, transport::outward_url)
        .values("https anywhere, http on this machine")
        .means("The endpoint of the http embedder.")
        .unbuilt(SERVED),
    Variable::opaque("UNDERCROFT_EMBED_MODEL", Reader::Engine)
        .values("model name")
        .default("nomic-embed-text")
        .means("The model that the endpoint is asked for.")
        .unbuilt(SERVED),
    Variable::tunes("UNDERCROFT_EMBED_API", Reader::Engine, parse::model_api)
        .values("ollama, openai")
        .default("inferred: openai when the address contains `/v1`, else ollama")
        .means("The shape of requests to the endpoint.")
        .unbuilt(SERVED),
    Variable::opaque("UNDERCROFT_EMBED_KEY", Reader::Engine)
        .credential()
        .values("bearer")
        .default("no header")
        .means("The endpoint's credential.")
        .unbuilt(SERVED),
    Variable::tunes("UNDERCROFT_EMBED_DIM", Reader::Engine, |v| parse::at_least::<1>(v).map(drop))
        .values("whole number of at least 1")
        .default("probed from the endpoint")
        .means("Dimensions of the endpoint's vectors.")
        .unbuilt(SERVED),
    Variable::protects("UNDERCROFT_EMBED_CA", Reader::Engine, pins::certificate_file)
        .blank_refused()
        .values("PEM file")
        .means("Pins the endpoint's authority in place of the public roots.")
        .unbuilt(SERVED),
    Variable::opaque("UNDERCROFT_ONNX_MODEL", Reader::Engine)
        .values("file")
        .default("required by onnx and ort")
        .means("The embedding model.")
        .unbuilt(ONNX),
    Variable::opaque("UNDERCROFT_ONNX_TOKENIZER", Reader::Engine)
        .values("file")
        .default("required by onnx and ort")
        .means("The embedding model's tokenizer.")
        .unbuilt(ONNX),
    Variable::opaque("UNDERCROFT_ONNX_NAME", Reader::Engine)
        .values("identity")
        .default("a shared generic name, with a warning")
        .means("The identity that is recorded for the vault.")
        .unbuilt(ONNX),
    Variable::protects("UNDERCROFT_RERANKER", Reader::Engine, parse::reranker)
        .values("off (known, not in this version: onnx, ort, colbert, colbert-ort)")
        .means("What reorders the best candidates.")
        .unbuilt(RERANKING),
    Variable::opaque("UNDERCROFT_RERANK_MODEL", Reader::Engine)
        .values("file")
        .default("required by onnx and ort")
        .means("The reranking model.")
        .unbuilt(RERANKING),
    Variable::opaque("UNDERCROFT_RERANK_TOKENIZER", Reader::Engine)
        .values("file")
        .default("required by onnx and ort")
        .means("The reranking model's tokenizer.")
        .unbuilt(RERANKING),
    Variable::opaque("UNDERCROFT_RERANK_NAME", Reader::Engine)
        .values("identity")
        .default("onnx-reranker")
        .means("The reranker's name in reports.")
        .unbuilt(RERANKING),
    Variable::tunes("UNDERCROFT_RERANK_TOP_N", Reader::Engine, |v| parse::at_least::<1>(v).map(drop))
        .values("whole number of at least 1")
        .default("50")
        .means("How many candidates are reranked.")
        .unbuilt(RERANKING),
    Variable::tunes("UNDERCROFT_LATE_TOP_N", Reader::Engine, |v| parse::at_least::<1>(v).map(drop))
        .values("whole number of at least 1")
        .default("200, or `UNDERCROFT_RERANK_TOP_N` when that is declared")
        .means("How many candidates late interaction scores.")
        .unbuilt(LATE),
    Variable::opaque("UNDERCROFT_COLBERT_MODEL", Reader::Engine)
        .values("file")
        .default("required by colbert")
        .means("The token model of documents.")
        .unbuilt(LATE),
    Variable::opaque("UNDERCROFT_COLBERT_QUERY_MODEL", Reader::Engine)
        .values("file")
        .default("required by colbert")
        .means("The token model of queries.")
        .unbuilt(LATE),
    Variable::opaque("UNDERCROFT_COLBERT_TOKENIZER", Reader::Engine)
        .values("file")
        .default("required by colbert")
        .means("The token model's tokenizer.")
        .unbuilt(LATE),
    Variable::opaque("UNDERCROFT_COLBERT_NAME", Reader::Engine)
        .values("identity")
        .default("colbert")
        .means("The token model's name in reports.")
        .unbuilt(LATE),
    Variable::tunes("UNDERCROFT_ORT_POOL", Reader::Engine, |v| parse::at_least::<1>(v).map(drop))
        .values("whole number of at least 1")
        .default("number of cores")
        .means("Sessions that the ONNX Runtime keeps.")
        .unbuilt(ONNX),
    Variable::opaque("UNDERCROFT_FORCE_EMBEDDER", Reader::Engine)
        .protecting()
        .values("`1`; anything else declines")
        .means("Accepts another embedder than the vault records, and records it (run `repair` after)."),
];

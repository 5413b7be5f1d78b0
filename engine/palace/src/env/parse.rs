//! Parsers of values: text in, a typed value or a complaint out. Each is used by the pre-flight and by its resolver alike.
//!
//! Text arrives trimmed, except secrets. No parser knows the name of a variable, reads another one, or opens a vault; a
//! complaint names what would be right and repeats a value only where the value cannot be a secret.

use std::net::SocketAddr;

use super::finding::Complaint;

type Parsed<T> = Result<T, Complaint>;

/// A number that can be switched off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit<T> {
    /// Disabled: the threshold is never reached.
    Off,
    /// The declared number.
    At(T),
}

/// How word and meaning scores are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fusion {
    /// Saturating BM25 channel.
    #[default]
    Bm25,
    /// The predecessor's sum, kept for comparison.
    Legacy,
}

/// Lowest trust class of a wing whose drawers an unscoped read may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrustFloor {
    /// Every wing.
    Quarantined,
    /// Wings that were never assigned a class, and better.
    Standard,
}

/// Saves that one writer may make in a span of time before the screen holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many saves.
    pub count: u64,
    /// In how many seconds.
    pub seconds: u64,
}

fn is_off(text: &str) -> bool {
    text.eq_ignore_ascii_case("off")
}

/// Any text.
pub fn any(_text: &str) -> Parsed<()> {
    Ok(())
}

/// A whole number of at least `MIN`.
pub fn at_least<const MIN: u64>(text: &str) -> Parsed<u64> {
    match text.parse::<u64>() {
        Ok(number) if number >= MIN => Ok(number),
        _ => Err(Complaint::unreadable(format!("expected a whole number of at least {MIN}"))),
    }
}

/// A whole number from `MIN` to `MAX`.
pub fn between<const MIN: u64, const MAX: u64>(text: &str) -> Parsed<u64> {
    match text.parse::<u64>() {
        Ok(number) if (MIN..=MAX).contains(&number) => Ok(number),
        _ => Err(Complaint::unreadable(format!("expected a whole number from {MIN} to {MAX}"))),
    }
}

/// `off`, or a whole number of at least `MIN`.
pub fn off_or_at_least<const MIN: u64>(text: &str) -> Parsed<Limit<u64>> {
    if is_off(text) {
        return Ok(Limit::Off);
    }
    at_least::<MIN>(text)
        .map(Limit::At)
        .map_err(|_| Complaint::unreadable(format!("expected off, or a whole number of at least {MIN}")))
}

/// A seed: decimal, or hexadecimal after `0x`.
pub fn seed(text: &str) -> Parsed<u64> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| Complaint::unreadable("expected a 64-bit number, decimal or hexadecimal after 0x"))
}

fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

fn off_or_share(text: &str, most: f64) -> Parsed<Limit<f64>> {
    if is_off(text) {
        return Ok(Limit::Off);
    }
    match finite(text) {
        Some(number) if (0.0..=most).contains(&number) => Ok(Limit::At(number)),
        _ => Err(Complaint::unreadable(format!("expected off, or a number from 0 to {most}"))),
    }
}

/// `bm25` or `legacy`; `rrf`, which others offer, is named in the complaint.
pub fn fusion(text: &str) -> Parsed<Fusion> {
    match text {
        "bm25" => Ok(Fusion::Bm25),
        "legacy" => Ok(Fusion::Legacy),
        "rrf" => Err(Complaint::unreadable("rrf is not offered; expected bm25 or legacy")),
        _ => Err(Complaint::unreadable("expected bm25 or legacy")),
    }
}

/// The share of meaning in the fused score: any number, clamped to 0.20–0.70.
pub fn fusion_weight(text: &str) -> Parsed<f64> {
    finite(text)
        .map(|weight| weight.clamp(0.20, 0.70))
        .ok_or_else(|| Complaint::unreadable("expected a number, which is clamped to 0.20–0.70"))
}

/// The calibrated cosine from which a hit may be admitted by meaning alone: 0–1, or `off` for word evidence only.
pub fn semantic_gate(text: &str) -> Parsed<Limit<f64>> {
    off_or_share(text, 1.0)
}

/// The cosine that maps to a neutral score: 0–0.98; `off` is 0.
pub fn semantic_floor(text: &str) -> Parsed<f64> {
    off_or_share(text, 0.98).map(|limit| match limit {
        Limit::Off => 0.0,
        Limit::At(floor) => floor,
    })
}

/// A trust class; `off` declines a floor.
///
/// In this version every wing reads as `standard`, so the two lower floors hold without doing anything and `trusted`, which
/// somebody declares to be protected by classes that cannot be assigned yet, refuses.
pub fn trust_floor(text: &str) -> Parsed<Option<TrustFloor>> {
    match text {
        "quarantined" => Ok(Some(TrustFloor::Quarantined)),
        "standard" => Ok(Some(TrustFloor::Standard)),
        "trusted" => Err(Complaint::not_built("assigning trust classes, without which no wing is trusted,")),
        _ if is_off(text) => Ok(None),
        _ => Err(Complaint::unreadable("expected quarantined, standard, trusted or off")),
    }
}

/// The embedder: `hash` is built in; the names of the others are known, so that a typing error is told from a build.
pub fn embedder(text: &str) -> Parsed<()> {
    match text {
        "hash" => Ok(()),
        "onnx" | "ort" | "http" => Err(Complaint::not_built(&format!("the {text} embedder"))),
        _ => Err(Complaint::unreadable("expected hash (known, but not in this version: onnx, ort, http)")),
    }
}

/// The candidate tier. This version scans exactly, so every tier refuses and `off` is what it does.
pub fn retrieval(text: &str) -> Parsed<()> {
    match text {
        "pq" | "fde" | "hnsw" => Err(Complaint::NotBuilt(format!(
            "not implemented: this version scans every record exactly and has no {text} tier; remove the declaration"
        ))),
        _ if is_off(text) => Ok(()),
        _ => Err(Complaint::unreadable("expected pq, fde, hnsw or off")),
    }
}

/// A reranker's name; none is built.
pub fn reranker(text: &str) -> Parsed<()> {
    match text {
        "onnx" | "ort" | "colbert" | "colbert-ort" => {
            Err(Complaint::not_built(&format!("the {text} reranker")))
        }
        _ if is_off(text) => Ok(()),
        _ => Err(Complaint::unreadable("expected onnx, ort, colbert, colbert-ort or off")),
    }
}

/// A protection that is declared with one word and declined with `off`, and that this version does not have.
fn unbuilt_protection(text: &str, word: &str, feature: &str) -> Parsed<()> {
    if text == word {
        return Err(Complaint::NotBuilt(format!(
            "not implemented: {feature} is not part of this version, and starting without it would leave you unprotected; \
             remove the declaration or set it to off"
        )));
    }
    if is_off(text) { Ok(()) } else { Err(Complaint::unreadable(format!("expected {word} or off"))) }
}

/// `quarantine` or `off`.
pub fn admission(text: &str) -> Parsed<()> {
    unbuilt_protection(text, "quarantine", "the admission screen")
}

/// `advisory` or `off`.
pub fn admission_advisor(text: &str) -> Parsed<()> {
    unbuilt_protection(text, "advisory", "the admission advisor")
}

/// `chain` or `off`.
pub fn read_audit(text: &str) -> Parsed<()> {
    unbuilt_protection(text, "chain", "the audit of reads")
}

/// `<count>/<seconds>`, both above 0, or `off`.
pub fn admission_rate(text: &str) -> Parsed<Option<Rate>> {
    if is_off(text) {
        return Ok(None);
    }
    let rate = text.split_once('/').and_then(|(count, seconds)| {
        let rate = Rate { count: count.trim().parse().ok()?, seconds: seconds.trim().parse().ok()? };
        (rate.count > 0 && rate.seconds > 0).then_some(rate)
    });
    rate.map(Some).ok_or_else(|| Complaint::unreadable("expected <count>/<seconds>, both above 0, or off"))
}

/// `ollama` or `openai`.
pub fn model_api(text: &str) -> Parsed<()> {
    match text {
        "ollama" | "openai" => Ok(()),
        _ => Err(Complaint::unreadable("expected ollama or openai")),
    }
}

/// A switch: `1`, `true`, `0`, `false` or `off`.
pub fn switch(text: &str) -> Parsed<bool> {
    match text {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ if is_off(text) => Ok(false),
        _ => Err(Complaint::unreadable("expected 1, true, 0, false or off")),
    }
}

/// A language that results are printed in.
pub fn interface_language(text: &str) -> Parsed<()> {
    let primary = text.split(['_', '-', '.']).next().unwrap_or(text).to_ascii_lowercase();
    match primary.as_str() {
        "en" | "de" | "es" | "fr" | "it" | "pt" | "ru" | "zh" | "ko" | "hi" => Ok(()),
        _ => Err(Complaint::unreadable("expected en, de, es, fr, it, pt, ru, zh, ko or hi")),
    }
}

/// A bearer token: white space inside is allowed, but not at its end, where a file's last newline hides.
pub fn token(text: &str) -> Parsed<()> {
    if text.ends_with(char::is_whitespace) {
        return Err(Complaint::unreadable("ends in white space, which no client would send; remove it"));
    }
    Ok(())
}

/// The operator's token: at least 16 characters, no trailing white space.
pub fn admin_token(text: &str) -> Parsed<()> {
    token(text)?;
    if text.chars().count() < 16 {
        return Err(Complaint::unreadable("shorter than 16 characters; use a longer, random token"));
    }
    Ok(())
}

/// 32 bytes in hexadecimal, surrounding white space allowed. Each way of being wrong has its own words.
pub fn hex_key(text: &str) -> Parsed<()> {
    let digits = text.trim();
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Complaint::unreadable("is not hex: only 0-9 and a-f may occur"));
    }
    if digits.len() != 64 {
        return Err(Complaint::unreadable(format!(
            "has {} hex digits; 64 (32 bytes) are needed",
            digits.len()
        )));
    }
    Ok(())
}

/// The bytes of such a key.
pub fn hex_key_bytes(text: &str) -> Parsed<[u8; 32]> {
    hex_key(text)?;
    let nibble = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default() as u8;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.trim().as_bytes().chunks_exact(2)) {
        *byte = nibble(pair[0]) << 4 | nibble(pair[1]);
    }
    Ok(bytes)
}

/// Requests a minute: a plain whole number; 0 or `off` for none.
pub fn rate_limit(text: &str) -> Parsed<u64> {
    if is_off(text) {
        return Ok(0);
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Complaint::unreadable("expected a plain whole number a minute, 0 or off"));
    }
    text.parse().map_err(|_| Complaint::unreadable("too large; expected a whole number a minute"))
}

/// `host:port`. A name is not looked up: only its form is judged.
pub fn listen_address(text: &str) -> Parsed<()> {
    let form = || Complaint::unreadable("expected host:port, for example 127.0.0.1:8900");
    let (host, port) = text.rsplit_once(':').ok_or_else(form)?;
    port.parse::<u16>().map_err(|_| form())?;
    let bracketed = host.starts_with('[') && host.ends_with(']');
    let plain = !host.is_empty() && !host.contains([':', '/', ' ', '[', ']']);
    if plain || (bracketed && text.parse::<SocketAddr>().is_ok()) { Ok(()) } else { Err(form()) }
}

/// A listener that is declined with `off`.
pub fn optional_listener(text: &str) -> Parsed<()> {
    if is_off(text) { Ok(()) } else { listen_address(text) }
}

//! The document against itself, and its numbers against the bounds that are enforced.

use serde_json::Value;
use undercroft_text::morphology::Language;
use undercroft_text::names::MAX_NAME_BYTES;
use undercroft_vault::limits as vault_limits;

use crate::http::routes;
use crate::limits;

fn document() -> Value {
    let (_, bytes, _) = routes::table().finish();
    serde_json::from_slice(&bytes).unwrap()
}

/// Every reference in a part of the document.
fn references<'a>(part: &'a Value, found: &mut Vec<&'a str>) {
    match part {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of = |(path, item): (&String, &'_ Value)| {
        let path = path.clone();
        item.as_object()
            .unwrap()
            .iter()
            .map(move |(method, _)| format!("{method} {path}"))
            .collect::<Vec<_>>()
    };
    let names: Vec<String> = paths.iter().flat_map(of).collect();
    let mut all = Vec::new();
    for name in names {
        let (method, path) = name.split_once(' ').unwrap();
        all.push((name.clone(), &document["paths"][path][method]));
    }
    all
}

#[test]
fn every_reference_leads_somewhere_and_everything_kept_is_used() {
    let document = document();
    let mut found = Vec::new();
    references(&document, &mut found);
    for reference in &found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    for kind in ["schemas", "responses", "headers", "parameters"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            let reference = format!("#/components/{kind}/{name}");
            assert!(found.contains(&reference.as_str()), "nothing uses {reference}");
        }
    }
}

#[test]
fn every_operation_says_who_may_send_it_and_what_it_answers() {
    let document = document();
    let mut ids = std::collections::BTreeSet::new();
    for (name, operation) in operations(&document) {
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{name}: its id is another's");
        let answers = operation["responses"].as_object().unwrap();
        let (is_built, is_open) = (
            operation.get("x-not-built").is_none(),
            operation["security"] == Value::from([(); 0].map(|()| 0)),
        );
        assert_eq!(answers.keys().any(|status| status.starts_with('2')), is_built, "{name}");
        assert_eq!(answers.contains_key("401"), !is_open, "{name}");
        let health = ["get /healthz", "get /livez", "get /readyz"].contains(&name.as_str());
        assert_eq!(is_open, health, "{name}");
    }
}

#[test]
fn every_parameter_of_a_path_is_in_it_and_every_segment_is_a_parameter() {
    let document = document();
    for (name, operation) in operations(&document) {
        let named = operation["parameters"].as_array().unwrap().iter();
        let named = named.filter(|parameter| parameter["in"] == "path");
        let mut named: Vec<&str> = named.map(|parameter| parameter["name"].as_str().unwrap()).collect();
        let parts = name.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let mut parts: Vec<&str> = parts.collect();
        named.sort_unstable();
        parts.sort_unstable();
        assert_eq!(named, parts, "{name}");
    }
}

#[test]
fn bodies_refuse_what_they_do_not_know() {
    let document = document();
    for (name, operation) in operations(&document) {
        let Some(reference) = operation.pointer("/requestBody/content/application~1json/schema/$ref") else {
            continue;
        };
        let schema = document.pointer(reference.as_str().unwrap().strip_prefix('#').unwrap()).unwrap();
        assert_eq!(schema["additionalProperties"], false, "{name}: {schema}");
    }
}

#[test]
fn the_numbers_are_the_bounds_that_are_enforced() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let at = |pointer: &str| schemas.pointer(pointer).and_then(Value::as_u64);
    let expected = [
        ("/SaveRequest/properties/text/maxLength", vault_limits::MAX_TEXT_BYTES),
        ("/SaveRequest/properties/wing/maxLength", MAX_NAME_BYTES),
        ("/SaveRequest/properties/agent/maxLength", vault_limits::MAX_CLAIM_BYTES),
        ("/TextRequest/properties/text/maxLength", vault_limits::MAX_TEXT_BYTES),
        ("/SearchRequest/properties/query/maxLength", vault_limits::MAX_QUERY_BYTES),
        ("/SearchRequest/properties/limit/maximum", vault_limits::MAX_SEARCH_DEPTH),
        ("/SearchRequest/properties/offset/maximum", vault_limits::MAX_SEARCH_DEPTH),
        ("/NewVault/properties/id/maxLength", MAX_NAME_BYTES),
    ];
    for (pointer, bound) in expected {
        assert_eq!(at(pointer), Some(bound as u64), "{pointer}");
    }
    let limit = |path: &str| {
        let parameters = document["paths"][path]["get"]["parameters"].as_array().unwrap().iter();
        parameters.filter(|one| one["name"] == "limit").find_map(|one| one["schema"]["maximum"].as_u64())
    };
    assert_eq!(limit("/v1/vaults/{id}/drawers"), Some(vault_limits::MAX_LIST as u64));
    assert_eq!(limit("/v1/vaults/{id}/history"), Some(vault_limits::MAX_HISTORY as u64));
    let about = document["info"]["description"].as_str().unwrap();
    for bound in [limits::BODY_BYTES, limits::HEADER_BYTES, limits::HEADERS] {
        assert!(about.contains(&bound.to_string()), "{bound}");
    }
    let too_large = &document["components"]["responses"]["TooLarge"]["description"];
    assert!(too_large.as_str().unwrap().contains(&limits::BODY_BYTES.to_string()));
    let languages = schemas["SearchRequest"]["properties"]["language"]["enum"].as_array().unwrap();
    assert_eq!(languages.len(), Language::ALL.len() + 1, "and null");
}

#[test]
fn every_row_is_an_operation_and_documents_whether_it_takes_a_key() {
    let (_, _, rows) = routes::table().finish();
    let document = document();
    assert_eq!(operations(&document).len(), rows.len());
    for row in rows.iter() {
        let operation = &document["paths"][&row.path][row.method.as_str().to_lowercase()];
        let parameters = operation["parameters"].as_array().expect("an operation");
        let documented = parameters.iter().any(|parameter| parameter["name"] == "Idempotency-Key");
        assert_eq!(row.takes_key, documented, "{} {}", row.method, row.path);
    }
    assert_eq!(rows.iter().filter(|row| row.takes_key).count(), 5);
}

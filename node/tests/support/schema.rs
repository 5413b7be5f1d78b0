//! The least of JSON Schema that the document uses, stricter than it in one point: a field that is not documented is a
//! finding, although clients are told to expect new ones.

use std::collections::BTreeMap;

use serde_json::Value;

/// The document, and what it says about a value.
pub(crate) struct Document(pub(crate) Value);

impl Document {
    /// What `$ref` names, followed to its end.
    pub(crate) fn resolved<'a>(&'a self, mut part: &'a Value) -> &'a Value {
        while let Some(reference) = part["$ref"].as_str() {
            let pointer = reference.strip_prefix('#').expect("references lead into the document");
            part = self.0.pointer(pointer).expect("something is there");
        }
        part
    }

    /// The operation of a route.
    pub(crate) fn operation(&self, method: &str, template: &str) -> &Value {
        let operation = &self.0["paths"][template][method.to_lowercase()];
        assert!(operation.is_object(), "{method} {template} is not in the document");
        operation
    }

    /// The schema of an answer in JSON; fails when the document does not have that status.
    pub(crate) fn answer(&self, method: &str, template: &str, status: u16) -> &Value {
        let answer = &self.operation(method, template)["responses"][status.to_string()];
        assert!(answer.is_object(), "{method} {template} does not document {status}");
        &self.resolved(answer)["content"]["application/json"]["schema"]
    }

    /// A schema by name.
    pub(crate) fn schema(&self, name: &str) -> &Value {
        let schema = &self.0["components"]["schemas"][name];
        assert!(schema.is_object(), "no schema {name}");
        schema
    }

    /// Everything in which `value` is not what `schema` says. A masked string, `<…>`, stands for any value.
    pub(crate) fn findings(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let schema = self.resolved(schema);
        if value.as_str().is_some_and(|text| text.starts_with('<') && text.ends_with('>')) {
            return Vec::new();
        }
        for choice in ["oneOf", "anyOf"] {
            if let Some(items) = schema[choice].as_array() {
                let fits = items.iter().any(|item| self.findings(item, value, at).is_empty());
                return if fits { Vec::new() } else { vec![format!("{at}: {value} is none of the choices")] };
            }
        }
        let mut findings = Vec::new();
        if !is_of_type(&schema["type"], value) {
            findings.push(format!("{at}: {value} is not of type {}", schema["type"]));
        }
        if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
            findings.push(format!("{at}: {value} is none of {}", schema["enum"]));
        }
        if let Some(items) = value.as_array().filter(|_| schema["items"].is_object()) {
            let of = |(n, item)| self.findings(&schema["items"], item, &format!("{at}/{n}"));
            findings.extend(items.iter().enumerate().flat_map(of));
        }
        // Without a type nothing is said about the value.
        if let Some(fields) =
            value.as_object().filter(|_| schema["type"] == "object" || schema["allOf"].is_array())
        {
            let (mut properties, mut required) = (BTreeMap::new(), Vec::new());
            self.collect(schema, &mut properties, &mut required);
            let missing = required.into_iter().filter(|name| !fields.contains_key(*name));
            findings.extend(missing.map(|name| format!("{at}: {name} is missing")));
            for (name, value) in fields {
                match properties.get(name.as_str()) {
                    Some(schema) => findings.extend(self.findings(schema, value, &format!("{at}/{name}"))),
                    None => findings.push(format!("{at}: {name} is not documented")),
                }
            }
        }
        findings
    }

    /// Properties of an object and of what it is put together from.
    fn collect<'a>(
        &'a self,
        schema: &'a Value,
        properties: &mut BTreeMap<&'a str, &'a Value>,
        required: &mut Vec<&'a str>,
    ) {
        let schema = self.resolved(schema);
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.collect(part, properties, required);
        }
        let own = schema["properties"].as_object().into_iter().flatten();
        properties.extend(own.map(|(name, schema)| (name.as_str(), schema)));
        required.extend(schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str));
    }
}

fn is_of_type(types: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("null") => value.is_null(),
        _ => false,
    };
    match types {
        Value::Null => true,
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

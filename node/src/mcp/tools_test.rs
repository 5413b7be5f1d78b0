//! The inventory, counted both ways, and what every tool refuses.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use undercroft_text::morphology::Language;
use undercroft_vault::Kind;

use super::fixture::Served;
use super::tools::{self, Class};

/// Every tool that this product has or will have: its name, whether it writes, and why it is not there yet.
const DOCUMENTED: [(&str, bool, Option<&str>); 38] = [
    ("undercroft_save", true, None),
    ("undercroft_add_drawer", true, None),
    ("undercroft_update_drawer", true, None),
    ("undercroft_delete_drawer", true, None),
    ("undercroft_delete_by_source", true, None),
    ("undercroft_dedup", true, None),
    ("undercroft_search", false, None),
    ("undercroft_get_drawer", false, None),
    ("undercroft_list_drawers", false, None),
    ("undercroft_check_duplicate", false, None),
    ("undercroft_wake_up", false, None),
    ("undercroft_list_wings", false, None),
    ("undercroft_list_rooms", false, None),
    ("undercroft_get_taxonomy", false, None),
    ("undercroft_status", false, None),
    ("undercroft_verify", false, None),
    ("undercroft_history", false, None),
    ("undercroft_supersessions", false, None),
    ("undercroft_get_closet_index", false, Some("closets")),
    ("undercroft_list_hallways", false, Some("hallways")),
    ("undercroft_create_tunnel", true, Some("tunnels")),
    ("undercroft_delete_tunnel", true, Some("tunnels")),
    ("undercroft_list_tunnels", false, Some("tunnels")),
    ("undercroft_follow_tunnel", false, Some("tunnels")),
    ("undercroft_traverse", false, Some("tunnels")),
    ("undercroft_diary_write", true, Some("diaries")),
    ("undercroft_diary_read", false, Some("diaries")),
    ("undercroft_list_agents", false, Some("diaries")),
    ("undercroft_check_erasure_receipt", false, Some("forgetting")),
    ("undercroft_kg_add", true, Some("the knowledge graph")),
    ("undercroft_kg_invalidate", true, Some("the knowledge graph")),
    ("undercroft_kg_supersede", true, Some("the knowledge graph")),
    ("undercroft_kg_query", false, Some("the knowledge graph")),
    ("undercroft_kg_timeline", false, Some("the knowledge graph")),
    ("undercroft_kg_stats", false, Some("the knowledge graph")),
    ("undercroft_kg_rel", false, Some("the knowledge graph")),
    ("undercroft_kg_receipts", false, Some("the knowledge graph")),
    ("undercroft_lookup_canonical", false, Some("the knowledge graph")),
];

/// What an operator alone may do.
const OPERATORS: [&str; 16] = [
    "admission",
    "trust",
    "retention",
    "forget",
    "rotate",
    "authority",
    "anchor",
    "export",
    "import",
    "refine",
    "witness",
    "backup",
    "restore",
    "repair",
    "vault",
    "config",
];

const NOWHERE: &str = "00000000000000000000000000000000";

#[test]
fn the_inventory_and_the_documentation_name_the_same_tools() {
    let documented: BTreeMap<&str, bool> = DOCUMENTED
        .iter()
        .filter(|(_, _, absent)| absent.is_none())
        .map(|(name, writes, _)| (*name, *writes))
        .collect();
    let built: BTreeMap<&str, bool> =
        tools::all().map(|tool| (tool.name, tool.class != Class::Read)).collect();
    assert_eq!(built, documented);
    assert_eq!(tools::all().count(), built.len(), "a name stands twice");
    let unique: BTreeSet<&str> = DOCUMENTED.iter().map(|(name, ..)| *name).collect();
    let writes = DOCUMENTED.iter().filter(|(_, writes, _)| *writes).count();
    assert_eq!((unique.len(), writes), (38, 11 + 1));
    let served = Served::new();
    for (name, ..) in DOCUMENTED.iter().filter(|(_, _, absent)| absent.is_some()) {
        assert_eq!(served.refusal(name, json!({})), format!("error: unknown tool: {name}"));
    }
}

#[test]
fn the_page_lists_every_tool_and_whether_it_writes() {
    const PAGE: &str = include_str!("../../../docs/mcp.md");
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `undercroft_")?.split_once("` | "));
    let page: BTreeMap<String, bool> =
        rows.map(|(name, rest)| (format!("undercroft_{name}"), rest.starts_with("yes | "))).collect();
    let built: BTreeMap<String, bool> =
        tools::all().map(|tool| (tool.name.to_owned(), tool.class != Class::Read)).collect();
    assert_eq!(page, built);
}

#[test]
fn no_tool_gives_an_agent_what_is_the_operators() {
    let served = Served::new();
    for word in OPERATORS {
        assert!(tools::all().all(|tool| !tool.name.contains(word)), "{word}");
        let name = format!("undercroft_{word}");
        assert_eq!(served.refusal(&name, json!({})), format!("error: unknown tool: {name}"));
    }
}

/// Every object of a value, the value itself included.
fn objects(value: &Value) -> Vec<&serde_json::Map<String, Value>> {
    let mut found: Vec<_> = value.as_object().into_iter().collect();
    let inside: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    };
    found.extend(inside.into_iter().flat_map(objects));
    found
}

#[test]
fn schemas_are_plain_and_names_are_short() {
    let listed = Served::new().result("tools/list", json!({}));
    let listed = listed["tools"].as_array().unwrap();
    assert_eq!(listed.len(), tools::all().count());
    for tool in listed {
        let name = tool["name"].as_str().unwrap();
        let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(name.len() <= 64 && name.starts_with("undercroft_") && name.chars().all(is_plain), "{name}");
        let schema = &tool["inputSchema"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        assert!(schema["properties"].is_object(), "{name}");
        for object in objects(tool) {
            for keyword in ["anyOf", "oneOf", "allOf", "$ref", "not", "$schema"] {
                assert!(!object.contains_key(keyword), "{name}: {keyword}");
            }
            assert!(
                object.get("required").is_none_or(|r| r.as_array().is_some_and(|r| !r.is_empty())),
                "{name}"
            );
            assert!(object.values().all(|value| !value.is_null()), "{name}");
        }
        for (argument, schema) in schema["properties"].as_object().unwrap() {
            assert!(schema["type"].is_string() && schema["description"].is_string(), "{name}.{argument}");
        }
    }
}

#[test]
fn annotations_say_what_a_tool_does() {
    let destroys = [
        "undercroft_update_drawer",
        "undercroft_delete_drawer",
        "undercroft_delete_by_source",
        "undercroft_dedup",
    ];
    for (name, writes, _) in DOCUMENTED.iter().filter(|(_, _, absent)| absent.is_none()) {
        let entry = tools::find(name).unwrap().entry();
        let hints = &entry["annotations"];
        assert_eq!(hints["readOnlyHint"], !writes, "{name}");
        assert_eq!(hints["destructiveHint"], destroys.contains(name), "{name}");
        assert_eq!(hints["openWorldHint"], false);
    }
}

#[test]
fn closed_lists_are_the_engines() {
    assert_eq!(super::tools::find("undercroft_search").unwrap().name, "undercroft_search");
    let listed = |tool: &str, argument: &str| {
        tools::find(tool).unwrap().entry()["inputSchema"]["properties"][argument]["enum"].clone()
    };
    assert_eq!(listed("undercroft_save", "kind"), json!(Kind::ALL.map(Kind::as_str)));
    assert_eq!(listed("undercroft_search", "language"), json!(Language::ALL.map(|(_, code, _)| code)));
}

/// Arguments with which a tool of an empty vault gets as far as its own work.
fn fitting(tool: &str) -> Value {
    match tool {
        "undercroft_save" | "undercroft_add_drawer" | "undercroft_check_duplicate" => {
            json!({ "content": "words" })
        }
        "undercroft_update_drawer" => json!({ "id": NOWHERE, "content": "words" }),
        "undercroft_delete_drawer" | "undercroft_get_drawer" => json!({ "id": NOWHERE }),
        "undercroft_delete_by_source" => json!({ "source_file": "notes.md" }),
        "undercroft_search" => json!({ "query": "words" }),
        "undercroft_list_rooms" => json!({ "wing": "general" }),
        _ => json!({}),
    }
}

#[test]
fn every_tool_refuses_what_it_does_not_know_what_is_missing_and_what_has_another_type() {
    let served = Served::new();
    for tool in tools::all() {
        let mut more = fitting(tool.name);
        more["no_such"] = json!(1);
        let said = served.refusal(tool.name, more);
        assert!(
            said.starts_with(&format!("error: unknown argument: no_such; {} takes ", tool.name)),
            "{said}"
        );
        for name in tool.unbuilt {
            let mut more = fitting(tool.name);
            more[*name] = json!("x");
            assert_eq!(
                served.refusal(tool.name, more),
                format!("error: not implemented: {name}; leave it out")
            );
        }
        let schema = tool.entry()["inputSchema"].clone();
        for required in schema["required"].as_array().into_iter().flatten() {
            let name = required.as_str().unwrap();
            let mut less = fitting(tool.name);
            less.as_object_mut().unwrap().remove(name);
            let said = served.refusal(tool.name, less);
            assert_eq!(said, format!("error: missing required argument: {name}"), "{}", tool.name);
        }
        for (name, property) in schema["properties"].as_object().unwrap() {
            let wrong = match property["type"].as_str().unwrap() {
                "string" => vec![json!(7), json!(["x"]), json!(null), json!({ "x": "y" })],
                "integer" => vec![json!("5"), json!(-1), json!(1.5), json!(null), json!(true), json!([5])],
                "boolean" => vec![json!("true"), json!(1), json!(null)],
                other => panic!("{other}"),
            };
            for value in wrong {
                let mut ill = fitting(tool.name);
                ill[name] = value.clone();
                let said = served.refusal(tool.name, ill);
                assert!(
                    said.starts_with(&format!("error: invalid argument {name}: ")),
                    "{} {value}: {said}",
                    tool.name
                );
            }
        }
    }
    assert_eq!(served.ok("undercroft_status", json!({})).structured["records"], 0, "a refused call wrote");
}

#[test]
fn every_tool_refuses_the_wing_under_review_under_any_name_and_at_any_depth() {
    let served = Served::new();
    for tool in tools::all() {
        for (name, value) in [
            ("wing", json!("quarantine-pending")),
            ("content", json!("quarantine-pending")),
            ("wing", json!("  quarantine-pending\n")),
            ("no_such", json!([{ "deep": ["quarantine-pending"] }])),
        ] {
            let mut given = fitting(tool.name);
            given[name] = value;
            let said = served.refusal(tool.name, given);
            assert!(said.contains("undercroft admission"), "{}: {said}", tool.name);
        }
    }
    // Words that only speak of it are words.
    served.save("quarantine-pending is the wing under review");
}

#[test]
fn a_read_only_server_refuses_every_write_and_what_it_does_not_know() {
    let served = Served::read_only(|written| {
        written.save("kept before");
    });
    for (name, writes, absent) in DOCUMENTED {
        if writes || absent.is_some() {
            let said = served.refusal(name, fitting(name));
            assert_eq!(said, format!("error: server is read-only: {name} is not allowed"));
        }
    }
    // A count of copies changes nothing, and is a write all the same: the gate knows tools, not arguments.
    assert!(served.refusal("undercroft_dedup", json!({ "apply": false })).contains("read-only"));
    assert!(served.refusal("no_such", json!({})).contains("no_such is not allowed"));
    for tool in tools::all().filter(|tool| tool.class == Class::Read && tool.name != "undercroft_get_drawer")
    {
        served.ok(tool.name, fitting(tool.name));
    }
    assert_eq!(served.ok("undercroft_status", json!({})).structured["read_only"], true);
    assert_eq!(
        served.result("tools/list", json!({}))["tools"].as_array().unwrap().len(),
        tools::all().count()
    );
}

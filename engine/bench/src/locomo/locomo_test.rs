use super::*;

const DATA: &str = r#"[{"conversation":{"speaker_a":"Ada","session_2":[{"dia_id":"D2:1","speaker":"Bo","text":"A red kite."}],
"session_2_date_time":"noon","session_1":[{"dia_id":"D1:1","speaker":"Ada","text":"Hello."},
{"dia_id":"D1:2","speaker":"Bo","text":"A blue boat."}],"session_3":[]},
"qa":[{"question":"What is blue?","category":4,"evidence":["D1:2"]},
{"question":"What is red or blue?","category":1,"evidence":["D2:1","D1:2","D9:9; D1:1"]},
{"question":"Nothing?","category":5,"evidence":[]},{"question":"Odd?","category":3,"evidence":["D"]}]}]"#;

/// Finds every drawer, in the order filed.
#[derive(Default)]
struct Everything(Vec<(String, String)>);

impl Searcher for Everything {
    fn file(&mut self, room: &str, text: &str) {
        self.0.push((room.to_owned(), text.to_owned()));
    }

    fn search(&mut self, _question: &str, limit: usize) -> Vec<(String, String)> {
        self.0.iter().take(limit).cloned().collect()
    }
}

#[test]
fn sessions_come_in_order_and_empty_ones_are_left_out() {
    let data = parse(DATA.as_bytes()).unwrap();
    let numbers: Vec<u32> = data[0].sessions.iter().map(|session| session.number).collect();
    assert_eq!(numbers, [1, 2]);
    assert_eq!(data[0].sessions[1].date, "noon");
}

#[test]
fn malformed_evidence_names_the_sessions_it_can_and_no_turn() {
    let data = parse(DATA.as_bytes()).unwrap();
    assert_eq!(data[0].questions[1].evidence[2].sessions, [9, 1]);
    assert_eq!(data[0].questions[3].evidence[0].sessions, [0u32; 0]);
}

#[test]
fn a_turn_is_rendered_with_its_speaker() {
    let data = parse(DATA.as_bytes()).unwrap();
    assert_eq!(
        drawers(&data[0].sessions[0], Unit::Turn),
        ["Ada said, \"Hello.\"", "Bo said, \"A blue boat.\""]
    );
    assert_eq!(
        drawers(&data[0].sessions[0], Unit::Chunk).concat(),
        "Ada said, \"Hello.\"\nBo said, \"A blue boat.\""
    );
}

#[test]
fn questions_are_counted_and_judged_by_the_protocol() {
    let data = parse(DATA.as_bytes()).unwrap();
    let total = run(&data, Unit::Chunk, Everything::default).total();
    assert_eq!(total, Row { questions: 3, session_hits: 2, turn_questions: 2, turn_hits: 2 });
    let nothing = run(&data, Unit::Turn, || Nothing).total();
    assert_eq!(nothing, Row { questions: 3, session_hits: 0, turn_questions: 2, turn_hits: 0 });
}

struct Nothing;

impl Searcher for Nothing {
    fn file(&mut self, _room: &str, _text: &str) {}

    fn search(&mut self, _question: &str, _limit: usize) -> Vec<(String, String)> {
        Vec::new()
    }
}

#[test]
fn bytes_that_are_not_the_data_set_are_refused_by_name() {
    assert!(matches!(parse(b"{"), Err(DataError::Json(_))));
    assert!(matches!(parse(b"{}"), Err(DataError::Shape("the list of conversations"))));
    assert!(matches!(parse(br#"[{"conversation":{}}]"#), Err(DataError::Shape("qa"))));
}

//! Owns running the questions and judging the answers.

use std::collections::HashMap;

use super::parse::{Conversation, Question};
use super::render::{Unit, drawers, room};
use super::report::{Report, Row};

/// Distinct sessions, and drawers, that count as found.
const DEPTH: usize = 10;
/// Drawers asked for where rooms cannot be asked for, so that ten distinct ones are among them.
const DEEP: usize = 400;

/// Something that keeps drawers and finds them again. One is made for each conversation.
pub trait Searcher {
    /// Keeps one drawer; those of a room come in the order in which they were said.
    fn file(&mut self, room: &str, text: &str);
    /// The best drawers for a question, as room and text.
    fn search(&mut self, question: &str, limit: usize) -> Vec<(String, String)>;

    /// The best distinct rooms for a question, in the order of their best drawers.
    fn rooms(&mut self, question: &str, limit: usize) -> Vec<String> {
        let mut rooms: Vec<String> = Vec::new();
        for (room, _) in self.search(question, DEEP) {
            if !rooms.contains(&room) && rooms.len() < limit {
                rooms.push(room);
            }
        }
        rooms
    }
}

/// Files each conversation into a searcher of its own and asks all of its questions.
pub fn run<S: Searcher>(conversations: &[Conversation], unit: Unit, mut make: impl FnMut() -> S) -> Report {
    let mut report = Report::default();
    for (number, conversation) in conversations.iter().enumerate() {
        let mut searcher = make();
        for session in &conversation.sessions {
            let room = room(session.number);
            drawers(session, unit).iter().for_each(|text| searcher.file(&room, text));
        }
        for question in conversation.questions.iter().filter(|question| !question.evidence.is_empty()) {
            let found = searcher.search(&question.text, DEPTH);
            let sessions = searcher.rooms(&question.text, DEPTH);
            report.add(number, question.category, judge(conversation, question, &found, &sessions));
        }
    }
    report
}

/// The counts of a single question.
fn judge(
    conversation: &Conversation,
    question: &Question,
    found: &[(String, String)],
    sessions: &[String],
) -> Row {
    let gold: Vec<String> = question
        .evidence
        .iter()
        .flat_map(|evidence| &evidence.sessions)
        .map(|number| room(*number))
        .collect();
    let session_hit = gold.iter().any(|room| sessions.contains(room));
    let turns: HashMap<&str, (String, &str)> = conversation
        .sessions
        .iter()
        .flat_map(|session| session.turns.iter().map(|turn| (session.number, turn)))
        .map(|(number, turn)| (&*turn.id, (room(number), &*turn.text)))
        .collect();
    let wanted: Vec<_> =
        question.evidence.iter().filter_map(|evidence| turns.get(&*evidence.written)).collect();
    let first = &found[..found.len().min(DEPTH)];
    let covers = |(room, text): &(String, &str)| {
        first.iter().any(|drawer| drawer.0 == *room && drawer.1.contains(text))
    };
    Row {
        questions: 1,
        session_hits: usize::from(session_hit),
        turn_questions: usize::from(!wanted.is_empty()),
        turn_hits: usize::from(!wanted.is_empty() && wanted.iter().all(|turn| covers(turn))),
    }
}

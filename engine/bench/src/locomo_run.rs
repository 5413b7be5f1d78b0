//! LoCoMo on the real vault: one fresh sealed vault a conversation, filled and asked as a user would.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use undercroft_crypto::Level;
use undercroft_vault::{AddedBy, NewDrawer, Origin, Result, SearchRequest, Vault};

use crate::locomo::{self, Report, Searcher, Unit};
use crate::machine;
use crate::palace::{Palace, UNSCREENED};

/// Time spent filing and searching, over all conversations.
#[derive(Default)]
struct Spent {
    ingest: Cell<Duration>,
    search: Cell<Duration>,
    searches: Cell<usize>,
}

/// Runs both units and prints; skips, saying so, when the file is not there.
///
/// # Errors
/// What the data file or the vault says.
pub fn run(path: &Path) -> std::result::Result<(), Box<dyn std::error::Error>> {
    if !path.exists() {
        println!("LoCoMo skipped: {} is not there", path.display());
        return Ok(());
    }
    let conversations = locomo::read(path)?;
    let palace = Palace::new();
    machine::print(&palace.path());
    let (turns, _) = measure(&palace, &conversations, Unit::Turn);
    println!("one drawer a turn\n{turns}");
    let (report, spent) = measure(&palace, &conversations, Unit::Chunk);
    println!("default chunks\n{report}");
    let total = report.total();
    println!(
        "LOCOMO sessions={}/{} turns={}/{} search_secs={:.2} ingest_secs={:.2} searches={}",
        total.session_hits,
        total.questions,
        total.turn_hits,
        total.turn_questions,
        spent.search.get().as_secs_f64(),
        spent.ingest.get().as_secs_f64(),
        spent.searches.get(),
    );
    Ok(())
}

fn measure(palace: &Palace, conversations: &[locomo::Conversation], unit: Unit) -> (Report, Rc<Spent>) {
    let spent = Rc::new(Spent::default());
    let mut number = 0;
    let report = locomo::run(conversations, unit, || {
        number += 1;
        Conversation::new(palace, &format!("{unit:?}-{number}").to_lowercase(), spent.clone())
    });
    (report, spent)
}

/// A vault that waits with filing until the first question, so that drawers go in as `mine` files them.
struct Conversation {
    vault: Vault,
    waiting: Vec<NewDrawer>,
    spent: Rc<Spent>,
}

impl Conversation {
    fn new(palace: &Palace, name: &str, spent: Rc<Spent>) -> Self {
        let vault = palace.create(name, Level::Sealed).expect("a fresh vault");
        Self { vault, waiting: Vec::new(), spent }
    }

    fn flush(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        for result in self.vault.save_many(std::mem::take(&mut self.waiting), UNSCREENED)? {
            result?;
        }
        self.spent.ingest.set(self.spent.ingest.get() + start.elapsed());
        Ok(())
    }

    fn ask(&self, question: &str, limit: usize, room_cap: Option<usize>) -> Vec<(String, String)> {
        let request =
            SearchRequest { query: question.to_owned(), limit, room_cap, ..SearchRequest::default() };
        let start = Instant::now();
        let reply = self.vault.search(&request).expect("searches");
        self.spent.search.set(self.spent.search.get() + start.elapsed());
        self.spent.searches.set(self.spent.searches.get() + 1);
        reply.hits.into_iter().map(|hit| (hit.room, hit.content)).collect()
    }
}

impl Searcher for Conversation {
    fn file(&mut self, room: &str, text: &str) {
        let chunk = self.waiting.iter().filter(|new| new.room == room).count();
        let origin = Origin {
            source: format!("{room}.txt"),
            chunk: u32::try_from(chunk).unwrap_or(u32::MAX),
            line_start: None,
            line_end: None,
        };
        self.waiting.push(NewDrawer::from_source("conversation", room, text, AddedBy::Miner, origin));
    }

    fn search(&mut self, question: &str, limit: usize) -> Vec<(String, String)> {
        self.flush().expect("files");
        self.ask(question, limit, None)
    }

    fn rooms(&mut self, question: &str, limit: usize) -> Vec<String> {
        self.flush().expect("files");
        self.ask(question, limit, Some(1)).into_iter().map(|(room, _)| room).collect()
    }
}

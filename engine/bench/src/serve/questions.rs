//! Vaults to be searched, and what they are asked.

use std::io;

use super::client::Prepared;
use super::server::Server;
use crate::corpus::Corpus;

/// Connections that fill a vault: enough to share transactions.
const FILLERS: usize = 8;
/// Questions that one client repeats.
const QUESTIONS: usize = 200;

/// Makes a sealed vault of `drawers` drawers of 90 words and gives their texts.
pub(super) fn filled(
    server: &Server,
    corpus: &mut Corpus,
    vault: &str,
    drawers: usize,
) -> io::Result<Vec<String>> {
    server.create(&mut server.client()?, vault)?;
    let texts: Vec<String> = (0..drawers).map(|_| corpus.drawer()).collect();
    let share = texts.len().div_ceil(FILLERS).max(1);
    std::thread::scope(|scope| {
        let fillers: Vec<_> =
            texts.chunks(share).map(|texts| scope.spawn(|| fill(server, vault, texts))).collect();
        fillers
            .into_iter()
            .try_for_each(|one| one.join().unwrap_or_else(|_| Err(io::Error::other("a filler panicked"))))
    })?;
    Ok(texts)
}

fn fill(server: &Server, vault: &str, texts: &[String]) -> io::Result<()> {
    let mut client = server.client()?;
    for (n, text) in texts.iter().enumerate() {
        client.expect(&Prepared::save(vault, &format!("room-{}", n / 25), text))?;
    }
    Ok(())
}

/// For each client, questions of 3 to 8 words that stand together in one of the texts.
pub(super) fn questions(
    corpus: &mut Corpus,
    vault: &str,
    texts: &[String],
    clients: usize,
) -> Vec<Vec<Prepared>> {
    let mut one = || {
        let text = &texts[corpus.below(texts.len())];
        let words = 3 + corpus.below(6);
        Prepared::search(vault, &corpus.question(text, words))
    };
    (0..clients).map(|_| (0..QUESTIONS).map(|_| one()).collect()).collect()
}

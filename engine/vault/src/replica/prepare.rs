//! The writing copy's half: several requests in one transaction, sealed into a segment before anything is committed.
//! Waits for nobody: who cannot begin is told so.

use std::sync::Arc;

use rusqlite::Connection;
use undercroft_crypto::{Anchor, Codec, ProposalId, Segment, SegmentHeader, TagDomain};

use super::changes;
use super::ownership::Ownership;
use super::parked::{Parked, Taken};
use crate::audit::Label;
use crate::error::{Error, Result};
use crate::limits;
use crate::storage::outcomes;
use crate::vault::{Committed, Done, Ready, Screening, Txn, Vault, WriteRequest};

/// A request on its way: validated and embedded already, which needs no transaction.
pub struct Pending {
    request: WriteRequest,
    ready: Result<Ready>,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}

/// In which ownership and life of the vault requests are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The ownership epoch that the sender knows.
    pub epoch: u64,
    /// The incarnation that the sender knows.
    pub incarnation: u64,
}

/// What became of one request.
#[derive(Debug)]
pub enum Answer {
    /// It is in the segment, or it failed, or there was nothing to do. What is in the segment counts once that is committed.
    Done(Result<Done>),
    /// The segment was full; it was rolled back and belongs into the next one, in front of everything that waits.
    Again(Box<WriteRequest>),
}

/// Requests that were carried out in one open transaction.
#[derive(Debug)]
pub struct Batch {
    /// What became of each request, in order.
    pub answers: Vec<Answer>,
    /// The transaction; `None` when nothing changed, and the answers count as they are.
    pub parked: Option<Parked>,
}

/// Validates and embeds requests, on every core when there are many. Possible while another transaction is open.
#[must_use]
pub fn make_ready(vault: &Vault, requests: Vec<WriteRequest>) -> Vec<Pending> {
    let changes = requests.iter().map(|request| request.change.clone()).collect();
    let ready = vault.make_ready(changes);
    requests.into_iter().zip(ready).map(|(request, ready)| Pending { request, ready }).collect()
}

/// Carries out requests in one transaction, each in a savepoint, and leaves it open. Readers see nothing of it.
///
/// A request that alone is too large for a segment fails; one that does not fit behind others is given back, with all that
/// follow it, so that their order stays.
///
/// # Errors
/// [`Error::Parked`] while another transaction is open; [`Error::NotOwned`] when the vault is frozen or the terms are not
/// its own; as [`Vault::write_requests`] otherwise. Nothing happened then.
pub fn prepare(
    vault: &Arc<Vault>,
    pending: Vec<Pending>,
    screening: Screening,
    terms: Terms,
) -> Result<Batch> {
    let Screening::Bypass(_reason) = screening;
    let taken = Taken::from(vault)?;
    let proposal = ProposalId::generate(vault.keyring().entropy());
    let (answers, written) = carry_out(vault, taken.conn(), pending, terms, proposal)?;
    let parked = match written {
        None => None,
        Some(committed) => {
            let segment = seal(vault, &committed, terms, proposal)?;
            Some(Parked::new(taken, committed, segment))
        }
    };
    Ok(Batch { answers, parked })
}

fn carry_out(
    vault: &Vault,
    conn: &Connection,
    pending: Vec<Pending>,
    terms: Terms,
    proposal: ProposalId,
) -> Result<(Vec<Answer>, Option<Committed>)> {
    let mut txn = vault.begin(conn, true)?;
    terms.check(vault, &Ownership::load(conn, vault.keyring().mac())?)?;
    vault.check_same_embedder(&txn)?;
    outcomes::forget_expired(conn, txn.now(), limits::FORGOTTEN_OUTCOMES)?;
    let mut answers = Vec::with_capacity(pending.len());
    let (mut full, mut any) = (false, false);
    for Pending { request, ready } in pending {
        if full {
            answers.push(Answer::Again(Box::new(request)));
            continue;
        }
        let done = txn.item(|txn| {
            let done = vault.carry_out_once(txn, ready, request.idempotency.as_ref())?;
            fits(txn, any).map(|()| done)
        });
        if txn.is_lost() {
            return Err(done.err().unwrap_or(Error::SnapshotExpired));
        }
        full = any && matches!(done, Err(Error::Crypto(undercroft_crypto::Error::SegmentTooLarge { .. })));
        any |= done.is_ok();
        answers.push(if full { Answer::Again(Box::new(request)) } else { Answer::Done(done) });
    }
    vault.check_in_place()?;
    Ok((answers, finish(txn, proposal)?))
}

/// Whether what was recorded so far goes into a segment. The bound counts what was rolled back as well: where nothing else
/// is in the segment yet, the changes themselves are measured.
fn fits(txn: &Txn<'_>, behind_others: bool) -> Result<()> {
    let limit = limits::SEGMENT_CHANGES_BYTES;
    let mut bytes = usize::try_from(txn.recorded_bound()).unwrap_or(usize::MAX);
    if bytes > limit && !behind_others {
        bytes = txn.recorded()?.len();
    }
    if bytes <= limit {
        return Ok(());
    }
    Err(undercroft_crypto::Error::SegmentTooLarge { bytes, limit }.into())
}

/// Stores what the transaction ends with and leaves it open; `None` when it changes nothing.
fn finish(mut txn: Txn<'_>, proposal: ProposalId) -> Result<Option<Committed>> {
    if !txn.has_records() {
        if txn.recorded()?.is_empty() {
            return Ok(None);
        }
        // Two states with one head could not be told apart by those who follow.
        let tag = txn.keyring().tag(TagDomain::Event, &[b"ledger/outcomes", proposal.as_bytes()]);
        txn.record(&Label::Outcomes, &tag)?;
    }
    txn.finish().map(Some)
}

fn seal(vault: &Vault, committed: &Committed, terms: Terms, proposal: ProposalId) -> Result<Segment> {
    let keyring = vault.keyring();
    let changeset = committed.changeset.as_deref().unwrap_or_default();
    // What a copy would refuse is not proposed.
    let changes = changes::read(changeset)
        .map_err(|defect| Error::invalid("change", format!("it does not fit into a segment: {defect}")))?;
    let records: Vec<&[u8]> = changes.iter().map(|change| &changeset[change.span.clone()]).collect();
    let header = SegmentHeader {
        seal_id: *keyring.seal_id(),
        generation: keyring.generation(),
        epoch: terms.epoch,
        incarnation: terms.incarnation,
        proposal,
        base: Anchor { height: committed.base.height, head: committed.base.head },
        after: committed.chain,
        codec: Codec::from(keyring.level()),
    };
    Ok(Segment::seal(header, &records, keyring.keys().segment(), keyring.entropy())?)
}

impl Terms {
    fn check(self, vault: &Vault, ownership: &Ownership) -> Result<()> {
        let refused = |reason| Err(Error::NotOwned { name: vault.name(), reason });
        if self.incarnation != ownership.incarnation {
            return refused("the request is meant for another life of it");
        }
        if self.epoch != ownership.epoch {
            return refused("the request is meant for another owner");
        }
        if ownership.frozen_for.is_some() {
            return refused("it is frozen");
        }
        Ok(())
    }
}

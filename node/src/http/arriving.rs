//! Bodies on their way in, and requests by the vault that they are about: counted and bounded, in all and for one vault, so
//! that one of them takes neither the places nor the memory of the others. Reads no body.
//!
//! A body counts for a vault only once its request may use that vault: nobody uses up another one's share.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::app::Capacity;
use super::errors::{Answer, Refusal};
use crate::error::Error;
use crate::limits;

/// Every body that is held and every request at work on a vault. Cheap to clone.
#[derive(Clone)]
pub(super) struct Arriving(Arc<Shared>);

struct Shared {
    capacity: Capacity,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    total: Share,
    of: HashMap<String, Share>,
}

/// What is counted, of all or of one vault.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct Share {
    requests: usize,
    arriving: usize,
    bytes: usize,
}

/// The vault that a request may use, for whoever reads its body.
#[derive(Clone)]
pub(super) struct OfVault(pub(super) Arc<str>);

/// A request at work on a vault, until it is dropped.
pub(super) struct Visit {
    arriving: Arriving,
    vault: String,
}

/// One body, from before its first byte until it is dropped.
pub(super) struct Held {
    arriving: Arriving,
    vault: String,
    bytes: usize,
    is_whole: bool,
}

/// Where the body of a request is counted until the request is answered.
#[derive(Clone, Default)]
pub(super) struct Kept(Arc<Mutex<Option<Held>>>);

impl Kept {
    pub(super) fn keep(&self, held: Held) {
        *self.0.lock() = Some(held);
    }
}

impl Arriving {
    pub(super) fn new(capacity: Capacity) -> Self {
        Self(Arc::new(Shared { capacity, all: Mutex::default() }))
    }

    /// Counts a request that may use `vault`.
    pub(super) fn visit(&self, vault: &str) -> Answer<Visit> {
        let mut all = self.0.all.lock();
        let own = all.of.entry(vault.to_owned()).or_default();
        if own.requests >= limits::REQUESTS_PER_VAULT {
            return Err(Error::VaultBusy(vault.to_owned()).into());
        }
        own.requests += 1;
        Ok(Visit { arriving: self.clone(), vault: vault.to_owned() })
    }

    /// Counts a body that begins to arrive; `vault` is `None` while it is not known whose it is.
    pub(super) fn begin(&self, vault: Option<&OfVault>) -> Answer<Held> {
        let vault = vault.map_or("", |vault| &vault.0);
        let capacity = &self.0.capacity;
        let mut all = self.0.all.lock();
        if all.total.arriving >= capacity.arriving {
            return Err(Refusal::overloaded());
        }
        let own = all.of.entry(vault.to_owned()).or_default();
        if own.arriving >= capacity.arriving_of_vault {
            return Err(busy(vault));
        }
        own.arriving += 1;
        all.total.arriving += 1;
        Ok(Held { arriving: self.clone(), vault: vault.to_owned(), bytes: 0, is_whole: false })
    }

    /// Takes something off a vault's share and off the total.
    fn less(&self, vault: &str, by: Share) {
        let mut all = self.0.all.lock();
        all.total.subtract(by);
        if let Some(own) = all.of.get_mut(vault) {
            own.subtract(by);
            if *own == Share::default() {
                all.of.remove(vault);
            }
        }
    }
}

impl Share {
    fn subtract(&mut self, by: Self) {
        self.requests = self.requests.saturating_sub(by.requests);
        self.arriving = self.arriving.saturating_sub(by.arriving);
        self.bytes = self.bytes.saturating_sub(by.bytes);
    }
}

impl Held {
    /// Counts further bytes before they are kept.
    pub(super) fn more(&mut self, bytes: usize) -> Answer<()> {
        let most = self.arriving.0.capacity.bodies_bytes;
        let mut all = self.arriving.0.all.lock();
        if all.total.bytes.saturating_add(bytes) > most {
            return Err(Error::Busy("as many bytes of requests in memory as it holds").into());
        }
        let own = all.of.entry(self.vault.clone()).or_default();
        if own.bytes.saturating_add(bytes) > most / limits::BODIES_PARTS {
            return Err(busy(&self.vault));
        }
        own.bytes += bytes;
        all.total.bytes += bytes;
        self.bytes += bytes;
        Ok(())
    }

    /// The body is there.
    pub(super) fn whole(&mut self) {
        if !std::mem::replace(&mut self.is_whole, true) {
            self.arriving.less(&self.vault, Share { arriving: 1, ..Share::default() });
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.whole();
        self.arriving.less(&self.vault, Share { bytes: self.bytes, ..Share::default() });
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.arriving.less(&self.vault, Share { requests: 1, ..Share::default() });
    }
}

/// Where the vault is not known, it is the server that has enough.
fn busy(vault: &str) -> Refusal {
    if vault.is_empty() { Refusal::overloaded() } else { Error::VaultBusy(vault.to_owned()).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arriving() -> Arriving {
        let capacity =
            Capacity { arriving: 3, arriving_of_vault: 2, bodies_bytes: 40, ..Capacity::default() };
        Arriving::new(capacity)
    }

    fn of(vault: &str) -> OfVault {
        OfVault(vault.into())
    }

    #[test]
    fn one_vault_has_a_part_of_what_may_arrive_and_another_the_rest() {
        let arriving = arriving();
        let (one, two) = (of("one"), of("two"));
        let mut held = vec![arriving.begin(Some(&one)).unwrap(), arriving.begin(Some(&one)).unwrap()];
        assert!(arriving.begin(Some(&one)).is_err());
        held.push(arriving.begin(Some(&two)).unwrap());
        assert!(arriving.begin(Some(&two)).is_err(), "all together");
        held[0].whole();
        held[0].whole();
        held.push(arriving.begin(Some(&two)).unwrap());
        assert!(arriving.begin(Some(&two)).is_err());
        drop(held);
        assert!(arriving.0.all.lock().of.is_empty() && arriving.0.all.lock().total == Share::default());
    }

    #[test]
    fn bytes_are_bounded_for_one_vault_and_for_all_until_they_are_let_go() {
        let arriving = arriving();
        let mut one = arriving.begin(Some(&of("one"))).unwrap();
        one.more(10).unwrap();
        one.whole();
        assert!(one.more(1).is_err());
        let mut again = arriving.begin(Some(&of("one"))).unwrap();
        assert!(again.more(1).is_err());
        drop(one);
        again.more(10).unwrap();
        let mut nobodys = arriving.begin(None).unwrap();
        nobodys.more(10).unwrap();
        assert!(nobodys.more(1).is_err());
    }

    #[test]
    fn requests_of_one_vault_leave_places_to_the_others() {
        let arriving = arriving();
        let visits: Vec<_> =
            (0..limits::REQUESTS_PER_VAULT).map(|_| arriving.visit("one").unwrap()).collect();
        assert!(arriving.visit("one").is_err());
        arriving.visit("two").unwrap();
        drop(visits);
        arriving.visit("one").unwrap();
    }
}

//! Renewing the CA while the fleet runs, in three stages with time between them to copy files.
//!
//! `begin` makes the next CA and has everybody trust both; certificates still come from the old one. `switch` makes the next
//! one sign and issues every certificate anew. `finish` ends the trust in the old one. At no moment does a process with the
//! files of one stage meet a peer with those of the stage before or after it and refuse it.

use std::fs;

use rcgen::KeyPair;

use super::ca::Ca;
use super::open::write_key;
use super::{Authority, Done, Held, Request};
use crate::Error;
use crate::files::{self, CA_KEY, NEXT_KEY};

/// How far a renewal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// One CA, and no renewal.
    Steady,
    /// Two are trusted, the old one signs.
    Begun,
    /// Two are trusted, the new one signs.
    Switched,
}

impl Stage {
    /// The stage as it is printed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Begun => "begun",
            Self::Switched => "switched",
        }
    }
}

/// What a stage changed: the certificates, each with what was done. All have a new `ca.crt`.
pub type Turned = Vec<(Done, Held)>;

impl Authority {
    /// How far the renewal of the CA is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match (self.trusted.len(), &self.next) {
            (_, Some(_)) => Stage::Begun,
            (1, None) => Stage::Steady,
            _ => Stage::Switched,
        }
    }

    /// Makes the next CA and has every folder trust both. Again, it sees to it that the folders do.
    ///
    /// # Errors
    /// [`Error::Step`] after `switch`, [`Error::NotOurs`], [`Error::Io`].
    pub fn begin(&mut self, now: u64) -> Result<Turned, Error> {
        if self.stage() == Stage::Switched {
            return Err(Error::Step("the last one is not finished: --renew-ca finish".into()));
        }
        let held = self.held()?;
        if self.next.is_none() {
            let key = KeyPair::generate().map_err(Error::internal)?;
            write_key(&self.folder.join(NEXT_KEY), &key)?;
            self.next = Some(key);
        }
        if let Some(next) = &self.next
            && !self.trusted.iter().any(|ca| ca.has(next))
        {
            let ca = Ca::make(next, now)?;
            self.trusted.push(ca);
            self.write_trusted(&self.folder)?;
        }
        self.spread(held)
    }

    /// Makes the next CA sign, and issues every certificate anew.
    ///
    /// # Errors
    /// [`Error::Step`] before `begin`, [`Error::NotOurs`], [`Error::Io`].
    pub fn switch(&mut self, days: u32, now: u64) -> Result<Turned, Error> {
        let held = self.held()?;
        match (self.stage(), self.next.take()) {
            (Stage::Begun, Some(next)) if self.trusted.iter().any(|ca| ca.has(&next)) => {
                let (from, to) = (self.folder.join(NEXT_KEY), self.folder.join(CA_KEY));
                if let Err(error) = fs::rename(&from, &to) {
                    self.next = Some(next);
                    return Err(Error::io("replace", &to, error));
                }
                self.key = next;
                files::sync(&self.folder)?;
            }
            // A run that was killed after the keys were switched goes on here.
            (Stage::Switched, _) => {}
            (_, next) => {
                self.next = next;
                return Err(Error::Step("it has not begun: --renew-ca begin".into()));
            }
        }
        let requests = held.into_iter().map(|there| there.identity);
        requests
            .map(|identity| self.issue(&Request { identity, dns: vec![], ips: vec![], days }, false, now))
            .collect()
    }

    /// Ends the trust in the old CA.
    ///
    /// # Errors
    /// [`Error::Step`] before `switch`, or while a certificate is still of the old CA. [`Error::NotOurs`], [`Error::Io`].
    pub fn finish(&mut self) -> Result<Turned, Error> {
        let held = self.held()?;
        match self.stage() {
            // Also after a run that was killed before every folder had heard.
            Stage::Steady => return self.spread(held),
            Stage::Begun => return Err(Error::Step("the old CA still signs: --renew-ca switch".into())),
            Stage::Switched => {}
        }
        if let Some(old) = held.iter().find(|there| !there.of_signer) {
            let what = format!("the certificate of {} is of the old CA: --renew-ca switch", old.identity);
            return Err(Error::Step(what));
        }
        let key = &self.key;
        self.trusted.retain(|ca| ca.has(key));
        self.write_trusted(&self.folder)?;
        self.spread(held)
    }

    /// Writes whom to trust into every folder.
    fn spread(&self, held: Vec<Held>) -> Result<Turned, Error> {
        held.iter().try_for_each(|there| self.write_trusted(&there.folder))?;
        Ok(held.into_iter().map(|there| (Done::Kept, there)).collect())
    }
}

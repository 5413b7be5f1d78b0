//! A disk in memory that loses power, fails and writes in part: for the tests of the journal.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::disk::{Disk, DiskFile};

/// Random numbers that a test can repeat: splitmix64.
#[derive(Clone)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Cut(usize),
}

#[derive(Clone, Default)]
struct Inode {
    /// What programs see.
    seen: Vec<u8>,
    /// What a loss of power leaves, but for some of `pending`.
    durable: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Clone)]
enum NameChange {
    Put(PathBuf, usize),
    Gone(PathBuf),
}

/// What the disk does wrong, once or from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The call fails. A flush that fails drops what it should have flushed, and does not try again.
    Eio,
    /// A write takes a part of what it was given and fails.
    Full,
    /// As the first, for flushes alone.
    Flush,
}

#[derive(Clone, Default)]
struct Sim {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    pending_names: Vec<NameChange>,
    /// Programs of earlier lives are dead.
    life: u64,
    /// After how many changing calls a fault comes, and for how many calls it stays.
    fault: Option<(usize, Fault, usize)>,
    calls: usize,
}

/// One life of the disk's machine.
#[derive(Clone)]
pub(super) struct SimDisk {
    sim: Arc<Mutex<Sim>>,
    life: u64,
}

struct SimFile {
    disk: SimDisk,
    inode: usize,
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Cut(length) => to.resize(*length, 0),
            Self::Write(offset, bytes) => {
                if to.len() < offset + bytes.len() {
                    to.resize(offset + bytes.len(), 0);
                }
                to[*offset..offset + bytes.len()].copy_from_slice(bytes);
            }
        }
    }
}

impl Inode {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.pending.push(change);
    }

    fn lose_power(&mut self, dice: &mut Dice) {
        let changes = std::mem::take(&mut self.pending);
        match dice.below(3) {
            // Nothing that was not flushed.
            0 => {}
            // Some of it in its order, the last write torn.
            1 => {
                let whole = dice.below(changes.len() + 1);
                changes[..whole].iter().for_each(|change| change.apply(&mut self.durable));
                if let Some(Change::Write(offset, bytes)) = changes.get(whole) {
                    let torn = bytes[..dice.below(bytes.len() + 1)].to_vec();
                    Change::Write(*offset, torn).apply(&mut self.durable);
                }
            }
            // Any parts of it in any order; lengths as they became.
            _ => {
                for change in changes {
                    let Change::Write(offset, bytes) = &change else {
                        change.apply(&mut self.durable);
                        continue;
                    };
                    let part = 1 + dice.below(40);
                    for (at, piece) in bytes.chunks(part).enumerate().filter(|_| dice.below(2) == 0) {
                        Change::Write(offset + at * part, piece.to_vec()).apply(&mut self.durable);
                    }
                }
            }
        }
        self.seen = self.durable.clone();
    }
}

impl SimDisk {
    pub(super) fn new() -> Self {
        Self { sim: Arc::default(), life: 0 }
    }

    /// The same disk after the program was killed: nothing is lost.
    pub(super) fn killed(&self) -> Self {
        let mut sim = self.sim.lock();
        sim.life += 1;
        sim.fault = None;
        Self { sim: Arc::clone(&self.sim), life: sim.life }
    }

    /// The same disk after a loss of power.
    pub(super) fn lost_power(&self, dice: &mut Dice) -> Self {
        let next = self.killed();
        let mut sim = next.sim.lock();
        sim.inodes.iter_mut().for_each(|inode| inode.lose_power(dice));
        for change in std::mem::take(&mut sim.pending_names) {
            if dice.below(2) == 0 {
                change.apply(&mut sim.durable_names);
            }
        }
        sim.names = sim.durable_names.clone();
        drop(sim);
        next
    }

    /// Another disk with the same content.
    pub(super) fn copy(&self) -> Self {
        let sim = self.sim.lock().clone();
        Self { life: sim.life, sim: Arc::new(Mutex::new(sim)) }
    }

    /// After so many changing calls, so many fail.
    pub(super) fn fail(&self, after: usize, fault: Fault, calls: usize) {
        let mut sim = self.sim.lock();
        (sim.fault, sim.calls) = (Some((after, fault, calls)), 0);
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.sim.lock().names.keys().cloned().collect()
    }

    pub(super) fn content(&self, path: &Path) -> Vec<u8> {
        let sim = self.sim.lock();
        sim.inodes[sim.names[path]].seen.clone()
    }

    /// Changes a file behind the back of everybody.
    pub(super) fn edit(&self, path: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut sim = self.sim.lock();
        let inode = sim.names[path];
        let inode = &mut sim.inodes[inode];
        edit(&mut inode.seen);
        inode.durable = inode.seen.clone();
        inode.pending.clear();
    }

    pub(super) fn lose_file(&self, path: &Path) {
        let mut sim = self.sim.lock();
        sim.names.remove(path);
        sim.durable_names.remove(path);
    }

    fn alive(&self) -> io::Result<parking_lot::MutexGuard<'_, Sim>> {
        let sim = self.sim.lock();
        if sim.life == self.life { Ok(sim) } else { Err(io::Error::other("this program is dead")) }
    }

    /// As [`Self::alive`], for a call that changes something; says which fault comes with it.
    fn change(&self) -> io::Result<(parking_lot::MutexGuard<'_, Sim>, Option<Fault>)> {
        let mut sim = self.alive()?;
        sim.calls += 1;
        let calls = sim.calls;
        let fault = sim.fault.filter(|(after, _, many)| calls > *after && calls <= after + many);
        Ok((sim, fault.map(|(_, fault, _)| fault)))
    }

    fn sound(&self) -> io::Result<parking_lot::MutexGuard<'_, Sim>> {
        match self.change()? {
            (sim, None | Some(Fault::Flush)) => Ok(sim),
            (_, Some(fault)) => Err(error(fault)),
        }
    }

    fn file(&self, inode: usize) -> Arc<dyn DiskFile> {
        Arc::new(SimFile { disk: self.clone(), inode })
    }
}

fn error(fault: Fault) -> io::Error {
    io::Error::from_raw_os_error(if fault == Fault::Full { 28 } else { 5 })
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Self::Put(path, inode) => {
                names.retain(|_, other| other != inode);
                names.insert(path.clone(), *inode);
            }
            Self::Gone(path) => drop(names.remove(path)),
        }
    }
}

impl Sim {
    fn rename(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }
}

impl Disk for SimDisk {
    fn make_folder(&self, _: &Path) -> io::Result<()> {
        self.sound().map(drop)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let sim = self.alive()?;
        let names = sim.names.keys().filter(|path| path.parent() == Some(folder));
        Ok(names.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn take(&self, _: &Path) -> io::Result<Box<dyn Send + Sync>> {
        Ok(Box::new(()))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let mut sim = self.sound()?;
        sim.inodes.push(Inode::default());
        let inode = sim.inodes.len() - 1;
        sim.rename(NameChange::Put(path.to_path_buf(), inode));
        drop(sim);
        Ok(self.file(inode))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let inode = self.alive()?.names.get(path).copied().ok_or(io::ErrorKind::NotFound)?;
        Ok(self.file(inode))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut sim = self.sound()?;
        let inode = sim.names.get(from).copied().ok_or(io::ErrorKind::NotFound)?;
        sim.rename(NameChange::Put(to.to_path_buf(), inode));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut sim = self.sound()?;
        if !sim.names.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        sim.rename(NameChange::Gone(path.to_path_buf()));
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        let mut sim = self.sound()?;
        for change in std::mem::take(&mut sim.pending_names) {
            change.apply(&mut sim.durable_names);
        }
        Ok(())
    }
}

impl DiskFile for SimFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.alive()?.inodes[self.inode].seen.len() as u64)
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let sim = self.disk.alive()?;
        let rest = sim.inodes[self.inode].seen.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let (mut sim, fault) = self.disk.change()?;
        // Writes in part are always allowed; this one makes them usual.
        let whole = if sim.calls.is_multiple_of(3) { bytes.len().div_ceil(2) } else { bytes.len() };
        let (count, result) = match fault {
            None | Some(Fault::Flush) => (whole, Ok(whole)),
            // A disk that becomes full takes a part of what did not fit.
            Some(Fault::Full) => (bytes.len() / 2, Err(error(Fault::Full))),
            Some(Fault::Eio) => (0, Err(error(Fault::Eio))),
        };
        sim.inodes[self.inode].change(Change::Write(offset as usize, bytes[..count].to_vec()));
        result
    }

    fn cut(&self, length: u64) -> io::Result<()> {
        self.disk.sound()?.inodes[self.inode].change(Change::Cut(length as usize));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let (mut sim, fault) = self.disk.change()?;
        let inode = &mut sim.inodes[self.inode];
        let pending = std::mem::take(&mut inode.pending);
        if let Some(fault) = fault {
            return Err(error(fault));
        }
        pending.iter().for_each(|change| change.apply(&mut inode.durable));
        Ok(())
    }
}

//! The file of a folder that says whose it is: the member, its group, and the key that the group has.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use undercroft_proto::MemberId;

use super::{Disk, GroupId, codec, folder};
use crate::Error;
use crate::keys::KeyCheck;

/// The version of the layout.
const VERSION: u32 = 2;

/// Who a folder belongs to.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Identity {
    version: u32,
    pub(super) member: MemberId,
    pub(super) key: KeyCheck,
    pub(super) group: GroupId,
}

impl Identity {
    pub(super) const fn new(member: MemberId, key: KeyCheck, group: GroupId) -> Self {
        Self { version: VERSION, member, key, group }
    }

    pub(super) fn write(&self, folder: &Path, disk: &dyn Disk) -> Result<(), Error> {
        let path = path(folder);
        let kept = codec::encode(self).and_then(|bytes| folder::replace(disk, &path, &bytes));
        kept.map_err(|error| Error::io("write", &path, error))
    }

    /// Whose the folder is; `None` for a folder without a member.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::LogDamaged`] for another version of the layout.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = path(folder);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        if bytes.first().is_some_and(|version| u32::from(*version) != VERSION) {
            let problem = format!("its layout is version {} and this build knows {VERSION}", bytes[0]);
            return Err(Error::LogDamaged { file: path, at: 0, problem });
        }
        let identity = codec::decode(&bytes).map_err(|error| Error::io("read", &path, error))?;
        Ok(Some(identity))
    }
}

/// Where it is kept.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("member")
}

//! The engine on a story's installation, for what would take thousands of processes.

use std::collections::BTreeMap;

use undercroft_palace::{Access, CreateKeys, Home, KeySource, VaultSettings, standard_tools};
use undercroft_vault::Vault;

use super::Palace;

/// The vault `default`, opened for reading.
///
/// # Panics
/// When it does not open.
#[must_use]
pub fn open(palace: &Palace) -> Vault {
    opened(palace, Access::ReadOnly)
}

/// The vault `default`, opened to be changed.
///
/// # Panics
/// When it does not open.
#[must_use]
pub fn open_to_write(palace: &Palace) -> Vault {
    opened(palace, Access::Write)
}

fn opened(palace: &Palace, access: Access) -> Vault {
    let home = Home::at(palace.root());
    let settings = VaultSettings::default();
    let opened = undercroft_palace::Palace::open(
        home,
        &KeySource::KeyFile,
        CreateKeys::Never,
        &settings,
        standard_tools(),
    );
    opened.and_then(|palace| palace.open_vault("default", access)).expect("the vault opens")
}

/// The texts of one source in its order, put together.
///
/// # Panics
/// When a drawer cannot be read.
#[must_use]
pub fn concatenate(palace: &Palace, source: &str) -> String {
    let vault = open(palace);
    let mut texts = BTreeMap::new();
    for offset in (0..).step_by(500) {
        let page = vault.list(None, None, 500, offset).expect("a page");
        if page.is_empty() {
            break;
        }
        for listed in page {
            let drawer = vault.get(listed.id).expect("a drawer");
            if drawer.meta.source_file.as_deref() == Some(source) {
                texts.insert(drawer.meta.chunk_index, drawer.content);
            }
        }
    }
    texts.into_values().collect()
}

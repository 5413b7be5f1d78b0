//! Variables of the installation itself.

use super::{Reader, Variable};
use crate::env::parse;

pub(super) const TABLE: &[Variable] = &[
    Variable::opaque("UNDERCROFT_HOME", Reader::Engine)
        .values("directory")
        .default("`~/.undercroft`; `/data` in the image")
        .means("Where the installation lives; `--data-dir` goes before it."),
    Variable::protects("UNDERCROFT_PASSPHRASE", Reader::Engine, parse::any)
        .secret()
        .values("any text that is not blank")
        .default("unset: the key file `master.key`")
        .means("Derives the master key (Argon2id); only `kdf.salt` is written."),
    Variable::tunes("UNDERCROFT_LANG", Reader::Cli, parse::interface_language)
        .values("en, de, es, fr, it, pt, ru, zh, ko, hi")
        .default("`LANG`, else en")
        .means("The language of result lines."),
];

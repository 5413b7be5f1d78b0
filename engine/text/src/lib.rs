//! Pure text functions: characters in, structure out.
//!
//! This crate knows nothing of files, keys, clocks or SQL, keeps no state between calls beyond scratch
//! buffers that the caller owns, and never changes a text that is to be stored.

pub mod chunk;
pub mod code;
pub mod dates;
pub mod entities;
pub mod error;
pub mod fold;
pub mod morphology;
pub mod names;
pub mod normalize;
pub mod script;
pub mod shown;
pub mod snippet;
pub mod stopwords;
pub mod token;
pub mod transcript;
pub mod typo;

pub use chunk::{Chunk, chunk};
pub use code::is_code_file;
pub use dates::{DateError, check_content_date, day_of};
pub use entities::entities;
pub use error::{Error, ErrorClass};
pub use fold::fold;
pub use morphology::{Language, PairRules};
pub use names::{NameError, check_name, room_from_file, wing_name_from_file};
pub use normalize::duplicate_form;
pub use script::{Script, ScriptSet, scripts};
pub use shown::{escape_controls, escape_json};
pub use snippet::snippet;
pub use stopwords::is_function_word;
pub use token::{OwnedToken, Token, TokenKind, Tokenizer, document_length, tokens};
pub use typo::{near, one_edit};

//! What the arguments of a handler add to its operation. An extractor of this crate says so beside itself; here are the
//! ones of the library, which ask a client for nothing.

use axum::Extension;
use axum::extract::{MatchedPath, State};
use axum::http::{HeaderMap, Method};

use super::draft::Draft;
use crate::http::app::App;

/// An argument of a handler.
pub(in crate::http) trait Asks {
    /// Adds the parameters, the body and the refusals that come with it.
    fn ask(draft: &mut Draft);
}

macro_rules! asks_for_nothing {
    ($($extractor:ty),*) => {
        $(impl Asks for $extractor {
            fn ask(_draft: &mut Draft) {}
        })*
    };
}

asks_for_nothing!(State<App>, HeaderMap, Method, MatchedPath);

impl<T> Asks for Extension<T> {
    fn ask(_draft: &mut Draft) {}
}

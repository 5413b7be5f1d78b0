//! Handlers that document themselves: any function of what asks that answers something.

use axum::handler::Handler;

use super::answers::Answers;
use super::asks::Asks;
use super::draft::Draft;
use crate::http::app::App;

/// A handler whose operation follows from its signature. Implemented for every handler whose arguments are [`Asks`] and
/// whose answer is [`Answers`].
pub(in crate::http) trait Documented<T>: Handler<T, App> {
    /// Adds everything that the signature says.
    fn describe(draft: &mut Draft);
}

/// Arguments first, because what is answered depends on what they are about.
macro_rules! documented {
    ($marker:ty; $($via:ident)?; $($argument:ident),*) => {
        impl<F, Fut, R, $($via,)? $($argument),*> Documented<($marker, $($argument,)*)> for F
        where
            F: Handler<($marker, $($argument,)*), App> + Fn($($argument),*) -> Fut,
            Fut: Future<Output = R>,
            R: Answers,
            $($argument: Asks,)*
        {
            fn describe(draft: &mut Draft) {
                $($argument::ask(draft);)*
                R::answer(draft);
            }
        }
    };
}

documented!((); ; );
documented!(M; M; A);
documented!(M; M; A, B);
documented!(M; M; A, B, C);
documented!(M; M; A, B, C, D);

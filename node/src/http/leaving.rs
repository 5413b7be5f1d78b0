//! Answers on their way: given away in pieces, so that it is seen whether anybody takes them, and counted while they are
//! held. Makes no answer.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use super::connections::{AtWork, Leaving};
use super::errors::{Answer, Refusal};
use super::readonly;
use crate::error::Error;
use crate::limits;

/// Bytes of all answers that are held until their clients take them.
pub(super) struct AnswerBytes {
    held: Arc<AtomicUsize>,
    bound: usize,
}

/// The bytes of one answer, counted until it is dropped.
#[derive(Clone)]
struct Held {
    _count: Arc<Count>,
}

struct Count {
    held: Arc<AtomicUsize>,
    bytes: usize,
}

impl Drop for Count {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl AnswerBytes {
    pub(super) fn new(bound: usize) -> Self {
        Self { held: Arc::default(), bound }
    }

    /// Refuses what would only make more of them.
    pub(super) fn check_room(&self) -> Answer<()> {
        if self.held.load(Ordering::Relaxed) >= self.bound { Err(unread()) } else { Ok(()) }
    }

    /// Counts an answer. A large one to a request that changed nothing is given up when there is no room for it: it can be
    /// asked for again.
    pub(super) fn hold(&self, mut response: Response, may_give_up: bool) -> Answer {
        let bytes = usize::try_from(response.body().size_hint().lower()).unwrap_or(usize::MAX);
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        let count = Count { held: self.held.clone(), bytes };
        if may_give_up && bytes > limits::SMALL_ANSWER_BYTES && before.saturating_add(bytes) > self.bound {
            return Err(unread());
        }
        response.extensions_mut().insert(Held { _count: Arc::new(count) });
        Ok(response)
    }
}

/// Whether a request can be asked again when its answer is given up.
pub(super) fn can_be_repeated(method: &Method, path: &str) -> bool {
    readonly::reads(method, path)
}

fn unread() -> Refusal {
    Error::Busy("as many answers waiting for their clients as it holds").into()
}

/// An answer that gives itself away in pieces.
pub(super) struct InPieces {
    body: Body,
    rest: Bytes,
    leaving: Leaving,
    _held: Option<Held>,
}

/// Whether nothing was done for an answer: who sent for it was not let in, or turned away.
fn is_refusal(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::SERVICE_UNAVAILABLE
    )
}

/// Lets an answer leave over the connection of its request.
pub(super) fn leave(mut response: Response, at_work: &AtWork) -> axum::http::Response<InPieces> {
    let held = response.extensions_mut().remove::<Held>();
    let leaving = at_work.answered(is_refusal(response.status()));
    response.map(|body| InPieces { body, rest: Bytes::new(), leaving, _held: held })
}

impl HttpBody for InPieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                end => return Poll::Ready(end),
            }
        }
        self.leaving.taken();
        let piece = limits::ANSWER_PIECE_BYTES.min(self.rest.len());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (rest, inner) = (self.rest.len() as u64, self.body.size_hint());
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

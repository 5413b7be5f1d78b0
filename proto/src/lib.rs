//! What two processes of a fleet must agree on: ids, epochs, positions, tokens, assertions, and the messages between them.
//!
//! The types are plain and pure: they parse, print and compare, and reach no disk, clock or network. The messages and
//! services lie behind the feature `wire`, so that who needs only the types compiles no gRPC.

pub mod assertion;
pub mod class;
pub mod epoch;
pub mod error;
pub mod ids;
pub mod join;
pub mod position;
mod text;
pub mod token;
#[cfg(feature = "wire")]
pub mod wire;

pub use assertion::{Assertion, AssertionKey, Claim};
pub use class::ErrorClass;
pub use epoch::{Epoch, Height, Incarnation};
pub use error::Error;
pub use ids::{JobId, MemberId, MoveId, NodeId, ShardId, TenantId, VaultId};
pub use join::{JoinKey, Joining};
pub use position::Position;
pub use token::{Token, TokenKey, TokenMac};

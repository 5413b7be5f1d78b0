//! Three numbers that only grow, as three types: which shard owns a vault, which life of it this is, how long its chain is.

use crate::text::counting;

counting!(
    /// Which ownership of a vault this is. Each move of the vault, and each move given up, gives a fresh one.
    Epoch, u64, "an epoch"
);
counting!(
    /// Which life of a vault this is: 0 outside a cluster, 1 when it is created in one, one more after a forced restore.
    Incarnation, u64, "an incarnation"
);
counting!(
    /// Number of records in a vault's audit chain.
    Height, u64, "a height"
);

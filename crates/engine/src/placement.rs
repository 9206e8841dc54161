//! Which worker a flow belongs to, what that costs each worker, and when it ought to change.
//!
//! A hash names a bucket ([`Indirection`]), a bucket has one worker at a time, and state of flows
//! is sharded by bucket. [`BucketLoads`] counts what each bucket brought; [`Balancer`] finds the
//! fewest buckets to move when one worker has too much and another has room, as RSS++ does
//! (Barbette et al., "RSS++: load and state-aware receive side scaling", CoNEXT 2019). It only
//! decides: who moves a bucket must let the old worker drain it first, or flows are reordered.
//!
//! [`Verifier`] holds what a NIC does against what it says of itself.

mod balancer;
mod even;
mod excuse;
mod indirection;
mod loads;
mod observe;
mod verify;

pub use balancer::{Balancer, Elephant, Outcome, Pressure, Proposal, Thresholds};
pub use even::Move;
pub use excuse::Excuse;
pub use indirection::{BUCKETS_MAX, BUCKETS_MIN, Indirection, Owners};
pub use loads::{BucketLoad, BucketLoads, BucketReader};
pub use observe::{Enough, observe};
pub use verify::{Check, Claims, Instead, Misplaced, Sighting, Verification, Verifier};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod verify_tests;

//! Rules of packets: which of an ordered list match a packet, found without trying each.
//!
//! A rule is a list of [`Condition`]s on [`Field`]s of a [`Key`]. [`Classifier`] cuts the values
//! of each field into classes, in each of which the same rules can match, and keeps a bitmap a
//! class: a lookup finds one class a field and intersects their bitmaps. [`matches()`] is the same,
//! slow and obvious.

mod bitmap;
mod build;
mod key;
mod lookup;
mod oracle;
mod ranges;
mod shadow;
// No unsafe code, and thousands of rules: Miri would take hours.
#[cfg(all(test, not(miri)))]
mod tests;

pub use build::TooLarge;
pub use key::{Condition, Entry, Field, Key, Then, Values};
pub use lookup::Classifier;
pub use oracle::matches;
pub use shadow::{Shadow, shadows};

/// Rules in one classifier, at most.
pub const ENTRIES_MAX: usize = 65_536;

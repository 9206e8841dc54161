//! Captures of every kind: what is read is what was written, whole or cut anywhere, and any bytes
//! do no harm.

pub(super) mod captures;
mod damage;
mod links;
mod numbers;
mod reading;
mod writing;

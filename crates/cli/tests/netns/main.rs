//! The bridge between kernel interfaces, in network namespaces that each test makes and removes.
//!
//! They need root and `ip`; elsewhere every test says why it is skipped.

mod bench;
mod laboratory;
mod states;
mod traffic;
mod xdp;

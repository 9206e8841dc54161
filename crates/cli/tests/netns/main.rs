//! The bridge between kernel interfaces, in network namespaces that each test makes and removes.
//!
//! They need root and `ip`; elsewhere every test says why it is skipped.

mod bench;
mod jumbo;
mod laboratory;
mod merged;
mod sockets;
mod traffic;
mod xdp;

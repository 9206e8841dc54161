//! The router, held against tables of what is right, and against a model.

mod bench;
mod captures;
mod checks;
mod draw;
mod follow;
mod hops;
mod lab;
mod model;
mod nat;
mod packets;
mod pages;
mod punt;
mod random;
mod rfc;
mod vrf;
mod waiting;

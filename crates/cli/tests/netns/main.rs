//! The bridge between kernel interfaces, in network namespaces that each test makes and removes.
//!
//! They need root, `ip`, `ethtool`, `ping` and `python3`; elsewhere every test says why it is
//! skipped.

mod accounts;
mod bench;
mod bypass;
mod copied;
mod daemon;
mod daemon_changes;
mod departure;
mod drive;
mod drivers;
mod examples;
mod first_week;
mod followed;
mod hostile;
mod jumbo;
mod keep_local;
mod kills;
mod laboratory;
mod laboratory_over;
mod ledger;
mod ledger_drive;
mod ledger_open;
mod left_as_found;
mod lengths;
mod merged;
mod names;
mod ndr;
mod ndr_repeat;
mod ndr_ways;
mod neighbours;
mod odd;
mod packet;
mod pass;
mod random;
mod redirect;
mod redirect_losses;
mod rss;
mod rss_killed;
mod running;
#[path = "../screens/mod.rs"]
mod screens;
mod short_peer;
mod shortcut;
mod soak;
mod sockets;
mod stack;
mod states;
mod tap;
mod tap_drive;
mod timestamps;
mod traffic;
mod verdicts;
mod vlan;
mod xdp;

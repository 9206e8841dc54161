//! Numbers that strangers cannot foresee: initial sequence numbers (RFC 6528), clocks of
//! timestamps, source ports (RFC 6056).

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use frame::Nanos;

use super::ends::Ends;
use super::{Pair, Seq};

/// Nanoseconds that a sequence number takes (RFC 6528 section 3).
const TICK: u64 = 4_000;

/// The key of one host. The hash is SipHash, which takes the key first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Secret(pub(super) [u64; 2]);

impl Secret {
    /// A number for a purpose and what belongs to it.
    pub(super) fn hash(&self, purpose: u8, what: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.0, purpose, what).hash(&mut hasher);
        hasher.finish()
    }

    /// The initial sequence number of a connection.
    pub(super) fn initial(&self, pair: &Pair, now: Nanos) -> Seq {
        Seq(self.hash(0, Ends::from(pair)) as u32).after((now.0 / TICK) as u32)
    }

    /// Where the clock of a connection's timestamps begins: the same for all of the same two
    /// hosts, so that a later connection has a later clock (RFC 7323 section 7.1).
    pub(super) fn clock_offset(&self, pair: &Pair) -> u32 {
        let mut hosts = *pair;
        hosts.local.set_port(0);
        hosts.remote.set_port(0);
        self.hash(1, Ends::from(&hosts)) as u32
    }
}

//! The outside address and port that a new flow gets.

use std::hash::BuildHasher;

use stack::KeyedHash;

use super::config::NatRange;
use super::tuple::{NatProtocol, Tuple};

/// Ports that are tried at most, of an address.
const TRIES: u32 = 128;
/// Addresses of a pool that are tried at most.
const ADDRESSES: u32 = 4;
/// Ports below belong to services.
const SERVICES: u16 = 1024;

/// Chooses outside addresses and ports.
#[derive(Debug)]
pub(super) struct Chooser {
    key: KeyedHash,
    /// Choices so far.
    count: u64,
}

/// What is chosen for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// The packet as it would leave with its own source.
    pub(super) inner: &'a Tuple,
    /// Where the rule, or the settings, name some.
    pub(super) ports: Option<NatRange<u16>>,
    /// The address, or the first of several, and how many there are.
    pub(super) addresses: NatRange<u32>,
}

impl Chooser {
    pub(super) fn new(key: [u64; 2]) -> Self {
        Self {
            key: KeyedHash(key),
            count: 0,
        }
    }

    /// An address and port that `is_free`: the port that the flow has already, where that is free
    /// and belongs to the pool, else one at random (RFC 6056). An inside address gets the same
    /// outside address as long as that has ports (RFC 4787, "paired").
    pub(super) fn choose(
        &mut self,
        wanted: &Wanted<'_>,
        mut is_free: impl FnMut(u32, u16) -> bool,
    ) -> Option<(u32, u16)> {
        let NatRange { first, last } = wanted.addresses;
        let count = u64::from(last - first) + 1;
        let own = mixed(self.key.hash_one(u64::from(wanted.inner.src)));
        let tried = (0..u64::from(ADDRESSES).min(count)).map(|more| (own + more) % count);
        for offset in tried {
            let address = first + offset as u32;
            if let Some(port) = self.port(wanted, |port| is_free(address, port)) {
                return Some((address, port));
            }
        }
        None
    }

    fn port(&mut self, wanted: &Wanted<'_>, mut is_free: impl FnMut(u16) -> bool) -> Option<u16> {
        let own = wanted.inner.src_port;
        // Replies have no port of their own at their source.
        if wanted.inner.protocol == NatProtocol::EchoReply {
            return is_free(own).then_some(own);
        }
        let range = wanted.ports.unwrap_or_else(|| usual(wanted.inner));
        if range.has(own) && is_free(own) {
            return Some(own);
        }
        let span = u32::from(range.last - range.first) + 1;
        let mut drawn = self.draw();
        for tried in 0..TRIES.min(span) {
            let offset = match span <= TRIES {
                true => (drawn as u32 % span + tried) % span,
                false => {
                    drawn = self.draw();
                    (drawn as u32) % span
                }
            };
            let port = range.first + offset as u16;
            if is_free(port) {
                return Some(port);
            }
        }
        None
    }

    fn draw(&mut self) -> u64 {
        self.count += 1;
        mixed(self.key.hash_one([self.count, 1]))
    }
}

/// A number of which each bit depends on all bits of another one (SplitMix64).
fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The ports of a pool that names none.
fn usual(inner: &Tuple) -> NatRange<u16> {
    let (first, last) = match inner.protocol {
        NatProtocol::EchoRequest | NatProtocol::EchoReply => (0, u16::MAX),
        _ if inner.src_port < SERVICES => (1, SERVICES - 1),
        _ => (SERVICES, u16::MAX),
    };
    NatRange { first, last }
}

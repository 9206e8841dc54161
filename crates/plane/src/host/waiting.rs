//! Packets that wait for the Ethernet address of their next hop.

use std::collections::VecDeque;
use std::net::IpAddr;

use stack::neighbours::Key;

/// Packets that wait at most, to all next hops together.
const WAITING_MAX: usize = 256;

/// A packet without its IP header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) protocol: u8,
    pub(super) payload: &'a [u8],
}

/// One that waits.
#[derive(Debug)]
pub(super) struct Waiter {
    key: Key,
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    payload: Box<[u8]>,
}

/// All that wait, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Waiting(VecDeque<Waiter>);

impl Waiting {
    /// Has a packet wait; false where there is no room.
    pub(super) fn add(&mut self, key: Key, packet: &Packet<'_>) -> bool {
        if self.0.len() >= WAITING_MAX {
            return false;
        }
        self.0.push_back(Waiter {
            key,
            source: packet.source,
            destination: packet.destination,
            protocol: packet.protocol,
            payload: packet.payload.into(),
        });
        true
    }

    /// Takes the first out that waits for a next hop.
    pub(super) fn take(&mut self, key: &Key) -> Option<Waiter> {
        let at = self.0.iter().position(|waiter| waiter.key == *key)?;
        self.0.remove(at)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Waiter {
    pub(super) fn packet(&self) -> Packet<'_> {
        Packet {
            source: self.source,
            destination: self.destination,
            protocol: self.protocol,
            payload: &self.payload,
        }
    }
}

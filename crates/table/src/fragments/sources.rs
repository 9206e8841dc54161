//! How much of a table each source has, by a keyed hash: an IPv4 address, or 64 bits of IPv6, which
//! are one site's.

use wire::{DatagramKey, Family};

use super::{DatagramHash, FragmentLimits};

/// Sources that can be told apart.
const SOURCES: usize = 4096;

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    datagrams: u32,
    held: u32,
}

/// Shares, and what they may be.
#[derive(Debug)]
pub(super) struct Sources {
    shares: Box<[Share]>,
    datagrams_max: u32,
    held_max: u32,
}

impl Sources {
    pub(super) fn new(limits: &FragmentLimits) -> Self {
        let part = |of: u32| (of / limits.source_part.max(1)).max(1);
        Self {
            shares: vec![Share::default(); SOURCES].into(),
            datagrams_max: part(limits.datagrams),
            held_max: part(limits.held),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.shares)
    }

    #[inline]
    pub(super) fn of(&self, key: &DatagramKey, hash: &DatagramHash) -> u16 {
        let site = match key.family {
            Family::V6 => (key.src >> 64) as u64,
            _ => key.src as u64,
        };
        (hash.of_site(site) % SOURCES as u64) as u16
    }

    #[inline]
    fn share(&mut self, source: u16) -> &mut Share {
        &mut self.shares[usize::from(source) % SOURCES]
    }

    #[inline]
    pub(super) fn weight(&self, source: u16) -> u32 {
        self.shares[usize::from(source) % SOURCES].datagrams
    }

    #[inline]
    pub(super) fn waiting(&self, source: u16) -> u32 {
        self.shares[usize::from(source) % SOURCES].held
    }

    #[inline]
    pub(super) fn is_full(&self, source: u16) -> bool {
        self.weight(source) >= self.datagrams_max
    }

    #[inline]
    pub(super) fn holds_too_much(&self, source: u16) -> bool {
        self.waiting(source) >= self.held_max
    }

    #[inline]
    pub(super) fn add(&mut self, source: u16) {
        self.share(source).datagrams += 1;
    }

    #[inline]
    pub(super) fn remove(&mut self, source: u16) {
        self.share(source).datagrams -= 1;
    }

    #[inline]
    pub(super) fn hold(&mut self, source: u16) {
        self.share(source).held += 1;
    }

    #[inline]
    pub(super) fn release(&mut self, source: u16, count: usize) {
        if count != 0 {
            self.share(source).held -= count as u32;
        }
    }
}

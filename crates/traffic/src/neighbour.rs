//! A test port as the neighbour of the device that is tested: which addresses it answers for, and
//! what came about the link.
//!
//! A router forwards nothing to an address whose Ethernet address it does not know, and a switch
//! floods what is for one that it never saw send. So a port of a test has an Ethernet address,
//! answers requests for the IP addresses of its end (ARP, RFC 826; neighbour discovery, RFC 4861),
//! and announces itself. Requests of hosts that only look if an address is in use are not answered:
//! a test must not take an address away from the device.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wire::neighbour::{NeighbourRequest, announce};
use wire::{Control, IcmpError, IcmpErrorKind, MacAddress};

use crate::Choice;

/// Room for every frame that is written here, bytes.
pub const ANSWER_BYTES_MAX: usize = 96;
/// The largest range of test addresses that is answered for unasked, less one: 2^16 of IPv4.
const RANGE_V4_MAX: u32 = 0xFFFF;
/// The same of IPv6: a /64.
const RANGE_V6_MAX: u128 = u64::MAX as u128;
/// Addresses asked for in vain that are told apart.
const UNANSWERED_MAX: usize = 8;
/// ICMP errors that are told apart by kind and sender.
const ERRORS_MAX: usize = 16;

/// The addresses that a port answers for, and with which Ethernet address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its Ethernet address.
    pub mac: MacAddress,
    /// Whether it announces that address, and again every minute.
    pub announces: bool,
    /// It answers nobody, and only knows what is at its end of the link.
    pub silent: bool,
    /// First and last, of one family each.
    ranges: Vec<(IpAddr, IpAddr)>,
    left_out: Vec<IpAddr>,
}

impl Neighbour {
    /// One that answers for no address yet.
    #[must_use]
    pub const fn new(mac: MacAddress) -> Self {
        Self {
            mac,
            announces: false,
            silent: false,
            ranges: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Answers for all addresses from `first` to `last`, too.
    pub fn add(&mut self, first: IpAddr, last: IpAddr) {
        self.ranges.push((first, last));
    }

    /// Answers for the addresses of test frames: one, or no more than 2^16 of IPv4 and a /64 of
    /// IPv6. Of random ones and of lists it does not.
    pub fn add_choices(&mut self, v4: &Choice<u32>, v6: &Choice<u128>) {
        let of_v4 = |bits| IpAddr::V4(Ipv4Addr::from_bits(bits));
        let of_v6 = |bits| IpAddr::V6(Ipv6Addr::from_bits(bits));
        match *v4 {
            Choice::Fixed(only) => self.add(of_v4(only), of_v4(only)),
            Choice::Range(first, last) if last.saturating_sub(first) <= RANGE_V4_MAX => {
                self.add(of_v4(first), of_v4(last));
            }
            _ => {}
        }
        match *v6 {
            Choice::Fixed(only) => self.add(of_v6(only), of_v6(only)),
            Choice::Range(first, last) if last.saturating_sub(first) <= RANGE_V6_MAX => {
                self.add(of_v6(first), of_v6(last));
            }
            _ => {}
        }
    }

    /// Leaves one address to the host, which answers for it.
    pub fn leave_out(&mut self, address: IpAddr) {
        self.left_out.push(address);
    }

    /// Whether there is any address that it answers for.
    #[must_use]
    pub fn has_addresses(&self) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|(first, last)| first != last || !self.left_out.contains(first))
    }

    /// Whether test frames may come from addresses that it, or the host, answers for.
    #[must_use]
    pub fn has_sources(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Whether an address is at this end of the link: its own, or one that is left to the host.
    #[must_use]
    pub fn is_at(&self, address: IpAddr) -> bool {
        self.is_within(address) || self.is_left_out(address)
    }

    /// Whether it answers for an address.
    #[must_use]
    pub fn answers_for(&self, address: IpAddr) -> bool {
        !self.silent && self.is_within(address) && !self.is_left_out(address)
    }

    /// Whether the host answers for an address.
    fn is_left_out(&self, address: IpAddr) -> bool {
        self.left_out.contains(&address)
    }

    fn is_within(&self, address: IpAddr) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|(first, last)| *first <= address && address <= *last)
    }

    /// Writes the announcement; its length.
    #[must_use]
    pub fn announcement(&self, out: &mut [u8]) -> Option<usize> {
        announce(self.mac, out).ok()
    }
}

/// What came to a port about the link, and what was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    kinds: [u64; Control::ALL.len()],
    answered: u64,
    announced: u64,
    unanswered: Vec<(IpAddr, u64)>,
    unanswered_others: u64,
    errors: Vec<(IcmpErrorKind, IpAddr, u64)>,
    errors_others: u64,
}

impl Controls {
    /// Takes note of a frame; where `neighbour` has an answer to it, that is written to `out`, and
    /// its length returned.
    pub fn take(
        &mut self,
        frame: &[u8],
        neighbour: Option<&Neighbour>,
        out: &mut [u8],
    ) -> Option<usize> {
        let Some(kind) = Control::read(frame) else {
            let error = IcmpError::read(frame)?;
            if neighbour.is_some_and(|own| own.is_at(error.about)) {
                self.take_error(error.kind, error.from, 1);
            }
            return None;
        };
        if let Some(count) = self.kinds.get_mut(kind as usize) {
            *count += 1;
        }
        if !matches!(kind, Control::ArpRequest | Control::NeighbourSolicitation) {
            return None;
        }
        let request = NeighbourRequest::read(frame).filter(|request| !request.is_probe())?;
        let own = neighbour.filter(|own| own.answers_for(request.target));
        let answer = own.and_then(|own| request.answer(own.mac, out).ok());
        let of_host = neighbour.is_some_and(|own| own.is_left_out(request.target));
        if answer.is_none() && !of_host {
            self.leave_unanswered(request.target, 1);
        }
        answer
    }

    /// Counts answers that left.
    pub fn answer(&mut self, frames: u64) {
        self.answered += frames;
    }

    /// Counts announcements that left.
    pub fn announce(&mut self, frames: u64) {
        self.announced += frames;
    }

    /// Whoever asks chooses the address: what is kept of it is bounded.
    fn leave_unanswered(&mut self, target: IpAddr, frames: u64) {
        let has_room = self.unanswered.len() < UNANSWERED_MAX;
        let mut known = self.unanswered.iter_mut();
        match known.find(|(address, _)| *address == target) {
            Some((_, count)) => *count += frames,
            None if has_room => self.unanswered.push((target, frames)),
            None => self.unanswered_others += frames,
        }
    }

    /// Whoever sends an error chooses the address that it comes from.
    fn take_error(&mut self, kind: IcmpErrorKind, from: IpAddr, frames: u64) {
        let has_room = self.errors.len() < ERRORS_MAX;
        let mut known = self.errors.iter_mut();
        match known.find(|own| (own.0, own.1) == (kind, from)) {
            Some((.., count)) => *count += frames,
            None if has_room => self.errors.push((kind, from, frames)),
            None => self.errors_others += frames,
        }
    }

    /// Adds what came to another worker.
    pub fn merge(&mut self, other: &Self) {
        let kinds = self.kinds.iter_mut().zip(&other.kinds);
        kinds.for_each(|(sum, more)| *sum += more);
        self.answered += other.answered;
        self.announced += other.announced;
        self.unanswered_others += other.unanswered_others;
        for &(target, frames) in &other.unanswered {
            self.leave_unanswered(target, frames);
        }
        self.errors_others += other.errors_others;
        for &(kind, from, frames) in &other.errors {
            self.take_error(kind, from, frames);
        }
    }

    /// Frames by kind, only those of which some came.
    pub fn kinds(&self) -> impl Iterator<Item = (Control, u64)> {
        let kinds = Control::ALL.iter().copied().zip(self.kinds);
        kinds.filter(|&(_, frames)| frames != 0)
    }

    /// Requests that were answered.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// Frames that left for the link's sake: answers and announcements.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.answered + self.announced
    }

    /// Addresses that were asked for in vain and how often, the first eight.
    #[must_use]
    pub fn unanswered(&self) -> &[(IpAddr, u64)] {
        &self.unanswered
    }

    /// ICMP errors about frames of this end, by kind and who sent them, the first sixteen.
    #[must_use]
    pub fn errors(&self) -> &[(IcmpErrorKind, IpAddr, u64)] {
        &self.errors
    }

    /// Such errors of further kinds and senders.
    #[must_use]
    pub fn errors_others(&self) -> u64 {
        self.errors_others
    }

    /// Requests for further addresses, unanswered.
    #[must_use]
    pub fn unanswered_others(&self) -> u64 {
        self.unanswered_others
    }
}

#[cfg(test)]
mod tests;

//! Connections in TIME_WAIT (RFC 9293 section 3.6.1): what is left of them.

use std::collections::{HashMap, VecDeque};

use frame::Nanos;

use super::connection::Connection;
use super::ends::Ends;
use super::options::{Options, Timestamps};
use super::segment::{Header, Segment, flag};
use super::{Pair, Seq, connection};
use crate::KeyedHash;

/// What is known of a closed connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed {
    pub(super) send_next: Seq,
    receive_next: Seq,
    until: Nanos,
    /// Tells it from another one of the same ends.
    serial: u64,
    /// The other end's clock, and the offset of ours.
    clock: Option<u32>,
    clock_offset: u32,
    window: u16,
}

/// What a segment to a closed connection leads to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Old {
    /// Nothing.
    Ignored,
    /// An acknowledgment.
    Answer(Header),
    /// A new connection may take its place, and begins behind this number (RFC 6191).
    Reuse(Seq),
}

/// Where one stands in the order; it may be gone.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: Nanos,
    ends: Ends,
    serial: u64,
}

/// Closed connections, up to a number.
#[derive(Debug)]
pub(super) struct TimeWaits {
    entries: HashMap<Ends, Closed, KeyedHash>,
    /// In the order of their ends, as they were when they came in.
    order: VecDeque<Place>,
    serial: u64,
    max: usize,
    length: u64,
}

impl TimeWaits {
    pub(super) fn new(max: usize, length: u64, key: [u64; 2]) -> Self {
        Self {
            entries: HashMap::with_hasher(KeyedHash(key)),
            order: VecDeque::new(),
            serial: 0,
            max,
            length,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn contains(&self, pair: &Pair) -> bool {
        self.entries.contains_key(&Ends::from(pair))
    }

    pub(super) fn due(&self) -> Option<Nanos> {
        self.order.front().map(|place| place.at)
    }

    /// Remembers a connection; the oldest makes room.
    pub(super) fn add(&mut self, connection: &Connection, now: Nanos) {
        if self.max == 0 {
            return;
        }
        while self.order.len() >= self.max {
            self.drop_first();
        }
        self.serial += 1;
        let ends = Ends::from(&connection.pair);
        let closed = Closed {
            send_next: connection.snd.next,
            receive_next: connection.rcv.next,
            until: now.after(self.length),
            serial: self.serial,
            clock: connection.rcv.clock.map(|(value, _)| value),
            clock_offset: connection.clock_offset,
            window: connection.header(Seq(0), 0, now).window,
        };
        self.entries.insert(ends, closed);
        self.order.push_back(Place {
            at: closed.until,
            ends,
            serial: self.serial,
        });
    }

    fn drop_first(&mut self) {
        if let Some(place) = self.order.pop_front()
            && self.end_of(&place).is_some()
        {
            self.entries.remove(&place.ends);
        }
    }

    /// When the one in this place ends, where it is still there.
    fn end_of(&self, place: &Place) -> Option<Nanos> {
        let closed = self.entries.get(&place.ends)?;
        (closed.serial == place.serial).then_some(closed.until)
    }

    /// Forgets those whose time is over, some of them.
    pub(super) fn run(&mut self, now: Nanos) {
        const AT_ONCE: usize = 64;
        for _ in 0..AT_ONCE {
            let first = self.order.front().filter(|place| place.at <= now);
            let Some(place) = first.copied() else {
                return;
            };
            self.order.pop_front();
            match self.end_of(&place) {
                // A FIN that came again made it longer.
                Some(at) if at > now => self.order.push_back(Place { at, ..place }),
                Some(_) => drop(self.entries.remove(&place.ends)),
                None => {}
            }
        }
    }

    /// A segment arrived for one of them.
    pub(super) fn arrive(&mut self, pair: &Pair, segment: &Segment<'_>, now: Nanos) -> Option<Old> {
        let closed = self.entries.get_mut(&Ends::from(pair))?;
        let header = &segment.header;
        // A reset does not end it (RFC 1337).
        if segment.has(flag::RST) {
            return Some(Old::Ignored);
        }
        if segment.has(flag::SYN) && !segment.has(flag::ACK) && closed.is_followed_by(segment) {
            return Some(Old::Reuse(closed.send_next));
        }
        let is_end_again =
            segment.has(flag::FIN) && header.seq.after(segment.len()) == closed.receive_next;
        if is_end_again {
            closed.until = now.after(self.length);
        }
        let answers = segment.len() != 0 || header.seq != closed.receive_next;
        Some(match answers {
            true => Old::Answer(closed.answer(now)),
            false => Old::Ignored,
        })
    }

    /// Forgets one, since a new connection takes its place.
    pub(super) fn remove(&mut self, pair: &Pair) {
        self.entries.remove(&Ends::from(pair));
    }
}

impl Closed {
    /// Whether a SYN is later than all segments of the old connection (RFC 6191 section 2).
    fn is_followed_by(&self, syn: &Segment<'_>) -> bool {
        let is_later = !syn.header.seq.is_before(self.receive_next.after(1));
        match (self.clock, syn.header.options.timestamps) {
            (Some(known), Some(clocks)) if clocks.value != known => {
                Seq(known).is_before(Seq(clocks.value))
            }
            _ => is_later,
        }
    }

    fn answer(&self, now: Nanos) -> Header {
        let timestamps = self.clock.map(|echo| Timestamps {
            value: connection::clock(now, self.clock_offset),
            echo,
        });
        Header {
            seq: self.send_next,
            ack: self.receive_next,
            flags: flag::ACK,
            window: self.window,
            options: Options {
                timestamps,
                ..Options::default()
            },
        }
    }
}

//! What the frames of a burst are, and which lists their addresses are in.
//!
//! Three passes, so that no frame waits for memory alone: ask for every header; parse each frame
//! and gather its addresses into one column a family; look a whole column up at once, which keeps
//! many table lines in flight.
//!
//! Frames that may carry another packet are rare in most traffic: they are found while the third
//! pass waits for memory, opened behind it, and what they carry is looked up then.

mod column;
mod odd;

use column::Column;
use frame::{BURST_MAX, Burst, Frame};
use odd::Odd;
use table::{CompiledLists, ListMask};
use wire::{Family, Fragment, Malformed, Parsed, PlainV4, Readable, TunnelPorts};

use crate::ruleset::Matched;
use crate::tunnelled::{Header, Tunnelled};

/// The columns of a burst, reused from burst to burst; owned by one worker.
#[derive(Debug)]
pub struct Classifier {
    parsed: [Parsed; BURST_MAX],
    len: usize,
    /// The frames' destination ports; 0 where there is none and where the frame is odd.
    dst_ports: [u16; BURST_MAX],
    /// Frames that are not sound IP with both addresses.
    odd: Odd,
    v4: Column<u32>,
    v6: Column<u128>,
    tunnel_ports: TunnelPorts,
    tunnelled: Tunnelled,
}

impl Classifier {
    /// Empty columns.
    #[must_use]
    pub fn new() -> Self {
        Self {
            parsed: [wire::parse(&[], 0); BURST_MAX],
            len: 0,
            dst_ports: [0; BURST_MAX],
            odd: Odd::new(),
            v4: Column::new(0),
            v6: Column::new(0),
            tunnel_ports: TunnelPorts::default(),
            tunnelled: Tunnelled::new(),
        }
    }

    /// The same with other ports that UDP tunnels are known by.
    #[must_use]
    pub fn with_tunnel_ports(self, tunnel_ports: TunnelPorts) -> Self {
        Self {
            tunnel_ports,
            ..self
        }
    }

    /// Parses every frame of the burst and looks up all its addresses.
    #[inline]
    pub fn classify(&mut self, burst: &Burst, lists: &CompiledLists) {
        Self::prefetch_headers(burst);
        self.read(burst, lists, &mut || {});
    }

    /// The second pass and the third. `meanwhile` is called once: while lines of single IPv4
    /// addresses are on their way, where there are any.
    ///
    /// Which frames are odd is found out then, too: it costs nothing there with 6 million
    /// addresses, 0.4 to 0.5 ns a frame between the two passes (Zen 5), and as much in either
    /// place with a table in a near cache.
    #[inline]
    pub fn read(&mut self, burst: &Burst, lists: &CompiledLists, overlap: &mut dyn FnMut()) {
        self.gather(burst);
        let (odd, ports, len) = (&mut self.odd, &self.tunnel_ports, self.len);
        let (dst_ports, parsed) = (&self.dst_ports[..len], &self.parsed[..len]);
        let (keys, masks) = self.v4.questions();
        lists.lookup_burst_v4_overlapped(keys, masks, &mut || {
            odd.find(ports, dst_ports, parsed);
            overlap();
        });
        self.look_inside(burst.frames());
        let (keys, masks) = self.v4.questions_inside();
        if !keys.is_empty() {
            lists.lookup_burst_v4(keys, masks);
        }
        self.look_up_v6(lists);
    }

    /// The first pass: asks for every header.
    #[inline]
    pub fn prefetch_headers(burst: &Burst) {
        for frame in burst.frames() {
            frame::prefetch::read(frame.header_ptr());
        }
    }

    /// The second pass: parses every frame and gathers its addresses.
    #[inline]
    pub fn parse(&mut self, burst: &Burst) {
        self.gather(burst);
        self.find_odd();
        self.look_inside(burst.frames());
    }

    /// The second pass without a look at what frames carry.
    ///
    /// Never inline, so that there is one loop and the parser is inlined into it: with two, it was
    /// called once a frame.
    #[inline(never)]
    fn gather(&mut self, burst: &Burst) {
        self.gather_with(burst, parse_frame);
    }

    /// The second pass with another parser. It is given the place's record as an earlier burst
    /// left it, and returns what of a plain IPv4 frame is in the record by then.
    #[inline(always)]
    pub fn parse_with(
        &mut self,
        burst: &Burst,
        parse: impl FnMut(&Frame, &mut Parsed) -> Option<PlainV4>,
    ) {
        self.gather_with(burst, parse);
        self.find_odd();
        self.look_inside(burst.frames());
    }

    #[inline(always)]
    fn gather_with(
        &mut self,
        burst: &Burst,
        mut parse: impl FnMut(&Frame, &mut Parsed) -> Option<PlainV4>,
    ) {
        let frames = burst.frames();
        self.len = frames.len();
        let (mut v4, mut v6) = (self.v4.gather(), self.v6.gather());
        let records = self.parsed.iter_mut().zip(&mut self.dst_ports);
        for (place, (frame, (parsed, dst_port))) in frames.iter().zip(records).enumerate() {
            if let Some(plain) = parse(frame, parsed) {
                v4.push(place, plain.src, plain.dst);
                *dst_port = plain.dst_port;
                continue;
            }
            match parsed.family {
                Family::V4 => v4.push(place, parsed.src as u32, parsed.dst as u32),
                Family::V6 => v6.push(place, parsed.src, parsed.dst),
                Family::None => {}
            }
            *dst_port = if is_sound_ip(parsed) {
                parsed.dst_port
            } else {
                0
            };
        }
    }

    #[inline(always)]
    fn find_odd(&mut self) {
        let (dst_ports, parsed) = (&self.dst_ports[..self.len], &self.parsed[..self.len]);
        self.odd.find(&self.tunnel_ports, dst_ports, parsed);
    }

    /// Opens those of the odd frames that carry other packets.
    #[inline(always)]
    fn look_inside(&mut self, frames: &[Frame]) {
        self.tunnelled.clear();
        if !self.odd.places().is_empty() {
            self.open_tunnels(frames);
        }
    }

    /// Opens the tunnels among the odd frames: those that are one are odd no longer.
    #[inline(never)]
    fn open_tunnels(&mut self, frames: &[Frame]) {
        let Self {
            parsed,
            odd,
            v4,
            v6,
            tunnel_ports,
            tunnelled,
            ..
        } = self;
        odd.retain(|place| {
            let outer = &parsed[place];
            if !is_sound_ip(outer) || !tunnel_ports.may_carry(outer) {
                return true;
            }
            let pair = match outer.family {
                Family::V4 => v4.pair_of(place),
                _ => v6.pair_of(place),
            };
            let (outer, bytes) = (Header::new(outer, pair), frames[place].bytes());
            !tunnelled.open(place, outer, tunnel_ports, bytes, |inner| {
                match inner.family {
                    Family::V4 => v4.push_inner(inner.src as u32, inner.dst as u32),
                    Family::V6 => v6.push_inner(inner.src, inner.dst),
                    Family::None => None,
                }
            })
        });
    }

    /// The third pass: looks the columns up, and calls `meanwhile` once while it waits.
    #[inline]
    pub fn look_up(&mut self, lists: &CompiledLists, overlap: &mut dyn FnMut()) {
        let (keys, masks) = self.v4.questions();
        lists.lookup_burst_v4_overlapped(keys, masks, overlap);
        self.look_up_v6(lists);
    }

    #[inline(always)]
    fn look_up_v6(&mut self, lists: &CompiledLists) {
        if !self.v6.is_empty() {
            let (keys, masks) = self.v6.questions();
            lists.lookup_burst_v6(keys, masks);
        }
    }

    /// What the parser saw, one place a frame of the last burst.
    #[must_use]
    #[inline]
    pub fn parsed(&self) -> &[Parsed] {
        &self.parsed[..self.len]
    }

    /// Tells the frames with an address in a list of `any`, by place, in no order. An address that
    /// could not be read is in none.
    #[inline(always)]
    pub(crate) fn each_match(&self, any: Matched, mut each: impl FnMut(usize, &Parsed, Matched)) {
        let mut readable = |place: usize, mut matched: Matched| {
            let Some(parsed) = self.parsed.get(place) else {
                return;
            };
            if self.tunnelled.has(place) {
                return;
            }
            matched = readable_of(parsed, matched);
            if !(matched.src | matched.dst).is_empty() {
                each(place, parsed, matched);
            }
        };
        self.v4.each_match(any, &mut readable);
        self.v6.each_match(any, &mut readable);
    }

    /// Tells the frames that carry other packets: their places, the headers from the outside in,
    /// each with the lists that its addresses are in, and what is wrong inside.
    #[inline]
    pub(crate) fn each_tunnelled(&self, mut each: impl FnMut(usize, &FrameHeaders<'_>)) {
        for frame in self.tunnelled.frames() {
            let headers = FrameHeaders {
                classifier: self,
                headers: self.tunnelled.headers(frame),
                fault: frame.fault,
            };
            each(usize::from(frame.place), &headers);
        }
    }

    /// What the parser saw, of frames that carry other packets the innermost that has addresses.
    /// Holds until the next burst.
    pub(crate) fn parsed_inside(&mut self) -> &[Parsed] {
        for frame in self.tunnelled.frames() {
            let place = usize::from(frame.place);
            // Of a packet in pieces the others are known by the outer header alone.
            if self.parsed[place].fragment != Fragment::Whole {
                continue;
            }
            let mut inner = self.tunnelled.headers(frame).iter().rev();
            let found = inner.find(|header| header.parsed.readable.has(Readable::ADDRESSES));
            if let Some(header) = found {
                self.parsed[place] = header.parsed;
            }
        }
        self.parsed()
    }

    /// Whether the frame at `place` carries other packets.
    #[inline]
    pub(crate) fn is_tunnel(&self, place: usize) -> bool {
        self.tunnelled.has(place)
    }

    /// Places and records of the frames that are not sound IP with both addresses.
    #[inline]
    pub(crate) fn odd(&self) -> impl Iterator<Item = (usize, &Parsed)> {
        let places = self.odd.places().iter().copied().map(usize::from);
        places.map(|place| (place, &self.parsed[place]))
    }
}

#[inline(always)]
fn parse_frame(frame: &Frame, parsed: &mut Parsed) -> Option<PlainV4> {
    wire::parse_into(frame.bytes(), original_len(frame), parsed)
}

/// The headers of one frame that carries other packets.
pub(crate) struct FrameHeaders<'a> {
    classifier: &'a Classifier,
    headers: &'a [Header],
    /// The first fault inside.
    pub(crate) fault: Option<Malformed>,
}

impl FrameHeaders<'_> {
    /// From the outside in, each with the lists that its addresses are in.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Parsed, Matched)> {
        self.headers.iter().map(|Header { parsed, pair }| {
            let matched = match (pair, parsed.family) {
                (Some(pair), Family::V4) => self.classifier.v4.matched(usize::from(*pair)),
                (Some(pair), _) => self.classifier.v6.matched(usize::from(*pair)),
                (None, _) => Matched::default(),
            };
            (parsed, readable_of(parsed, matched))
        })
    }
}

/// An address that could not be read is in no list.
#[inline(always)]
fn readable_of(parsed: &Parsed, mut matched: Matched) -> Matched {
    if !parsed.readable.src() {
        matched.src = ListMask(0);
    }
    if !parsed.readable.dst() {
        matched.dst = ListMask(0);
    }
    matched
}

#[inline(always)]
fn is_sound_ip(parsed: &Parsed) -> bool {
    let readable = parsed.readable.has(Readable::ADDRESSES);
    parsed.is_ip() & parsed.fault.is_none() & readable
}

impl Default for Classifier {
    fn default() -> Self {
        Self::new()
    }
}

/// The frame's length on the wire, which a capture may have cut, in bytes without FCS.
#[must_use]
#[inline]
pub fn original_len(frame: &Frame) -> usize {
    match frame.meta() {
        Some(meta) => (meta.original_len as usize).max(frame.len()),
        None => frame.len(),
    }
}

//! The frames of a burst that carry other packets, and the headers of each from the outside in.
//!
//! Room for the greatest burst of the deepest frames is made once: a worker allocates nothing.

use std::ops::ControlFlow;

use frame::BURST_MAX;
use wire::parse::TUNNELS_MAX;
use wire::{Malformed, Parsed, TunnelPorts};

const HEADERS_MAX: usize = BURST_MAX * (1 + TUNNELS_MAX);
const WORD_BITS: usize = u64::BITS as usize;

/// One header of a frame, and where its addresses are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) parsed: Parsed,
    /// The place of the pair in its family's column.
    pub(crate) pair: Option<u16>,
}

impl Header {
    pub(crate) fn new(parsed: &Parsed, pair: Option<usize>) -> Self {
        Self {
            parsed: *parsed,
            pair: pair.and_then(|pair| u16::try_from(pair).ok()),
        }
    }
}

/// One frame that carries others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TunnelledFrame {
    /// Its place in the burst.
    pub(crate) place: u8,
    /// The first fault inside.
    pub(crate) fault: Option<Malformed>,
    /// Its headers: where they begin and end among all.
    from: u16,
    to: u16,
}

/// All of a burst.
#[derive(Debug)]
pub(crate) struct Tunnelled {
    frames: Vec<TunnelledFrame>,
    headers: Vec<Header>,
    /// A bit a place.
    places: [u64; BURST_MAX / WORD_BITS],
}

impl Tunnelled {
    pub(crate) fn new() -> Self {
        Self {
            frames: Vec::with_capacity(BURST_MAX),
            headers: Vec::with_capacity(HEADERS_MAX),
            places: [0; BURST_MAX / WORD_BITS],
        }
    }

    /// Forgets the last burst's.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        if !self.frames.is_empty() {
            self.frames.clear();
            self.headers.clear();
            self.places = [0; BURST_MAX / WORD_BITS];
        }
    }

    /// Reads what the frame at `place` carries, and has `pair` find a place for the addresses of
    /// each packet. False where it carries nothing that can be read and nothing is wrong.
    pub(crate) fn open(
        &mut self,
        place: usize,
        outer: Header,
        ports: &TunnelPorts,
        bytes: &[u8],
        mut pair: impl FnMut(&Parsed) -> Option<usize>,
    ) -> bool {
        let from = self.headers.len();
        self.headers.push(outer);
        let fault = ports.each(bytes, &outer.parsed, |tunnel| {
            let place = pair(&tunnel.inner);
            self.headers.push(Header::new(&tunnel.inner, place));
            ControlFlow::Continue(())
        });
        if self.headers.len() == from + 1 && fault.is_none() {
            self.headers.truncate(from);
            return false;
        }
        self.frames.push(TunnelledFrame {
            place: place as u8,
            fault,
            from: from as u16,
            to: self.headers.len() as u16,
        });
        self.places[place / WORD_BITS % self.places.len()] |= 1 << (place % WORD_BITS);
        true
    }

    /// Whether the frame at this place is among them.
    #[inline]
    pub(crate) fn has(&self, place: usize) -> bool {
        self.places[place / WORD_BITS % self.places.len()] >> (place % WORD_BITS) & 1 != 0
    }

    pub(crate) fn frames(&self) -> &[TunnelledFrame] {
        &self.frames
    }

    /// From the outside in.
    pub(crate) fn headers(&self, frame: &TunnelledFrame) -> &[Header] {
        &self.headers[usize::from(frame.from)..usize::from(frame.to)]
    }
}

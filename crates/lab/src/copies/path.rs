//! Rings of buffers that frames are copied between, and the work of a router on the last of them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use wire::emit::{Ipv4, Network, Recipe, Transport};
use wire::view::Ipv4View;

/// Bytes of a buffer.
const BUFFER: usize = 2048;
/// Bytes of a line of the cache: rings begin with one.
const LINE: usize = 64;
/// Bytes of the Ethernet header.
const ETHERNET: usize = 14;
/// Where a frame starts in its buffer so that the IPv4 header is at a multiple of four bytes.
pub(super) const HEADER_ALIGNED: usize = 2;
/// Where it starts so that the header is two bytes beside such a place.
pub(super) const HEADER_ASTRIDE: usize = 0;
const TTL: u8 = 64;

/// Buffers of one length, one behind the other, from the start of a line on.
struct Ring {
    memory: Vec<u8>,
    first: usize,
}

/// Three rings: a frame arrives in the first, and is copied into the others in turn.
pub(super) struct Path {
    rings: [Ring; 3],
    buffers: usize,
    start: usize,
    length: usize,
}

impl Ring {
    fn new(buffers: usize) -> Self {
        let memory = vec![0; buffers * BUFFER + LINE];
        let first = memory.as_ptr().align_offset(LINE);
        Self { memory, first }
    }

    /// A buffer's bytes from `start` on.
    fn frame(&mut self, buffer: usize, start: usize, length: usize) -> &mut [u8] {
        let from = self.first + buffer * BUFFER + start;
        &mut self.memory[from..from + length]
    }
}

impl Path {
    /// Rings of at most so many buffers.
    pub(super) fn new(buffers: usize) -> Self {
        Self {
            rings: [(); 3].map(|()| Ring::new(buffers)),
            buffers,
            start: 0,
            length: 0,
        }
    }

    /// Puts a frame into each of the first buffers of the first ring.
    ///
    /// # Panics
    ///
    /// The ring has fewer buffers, or a frame of this length has no room for its headers.
    pub(super) fn fill(&mut self, buffers: usize, start: usize, length: usize) {
        (self.buffers, self.start, self.length) = (buffers, start, length);
        let payload = vec![0; length - ETHERNET - 28];
        for buffer in 0..buffers {
            let header = Ipv4 {
                src: 0x0A00_0001,
                dst: 0x0A01_0000 + buffer as u32,
                ttl: TTL,
                ..Ipv4::default()
            };
            let transport = Transport::Udp {
                src_port: 4000,
                dst_port: 9,
            };
            let recipe = Recipe {
                network: Network::Ipv4(header, transport),
                payload: &payload,
                ..Recipe::default()
            };
            let frame = self.rings[0].frame(buffer, start, length);
            recipe.emit(frame).expect("a frame has room");
        }
    }

    /// The rate at which frames are copied so often and worked on; one walk more is not timed.
    pub(super) fn frames_per_second(&mut self, copies: usize, wanted: Duration) -> f64 {
        self.walk(copies);
        let begun = Instant::now();
        let mut frames = 0;
        loop {
            self.walk(copies);
            frames += self.buffers;
            let taken = begun.elapsed();
            if taken >= wanted {
                return frames as f64 / taken.as_secs_f64();
            }
        }
    }

    fn walk(&mut self, copies: usize) {
        for buffer in 0..self.buffers {
            for copy in 0..copies {
                self.copy(buffer, copy);
            }
            forward(self.rings[copies].frame(buffer, self.start, self.length));
        }
    }

    /// Copies a frame from a ring into the next.
    fn copy(&mut self, buffer: usize, ring: usize) {
        let (before, after) = self.rings.split_at_mut(ring + 1);
        let from = before[ring].frame(buffer, self.start, self.length);
        let to = after[0].frame(buffer, self.start, self.length);
        to.copy_from_slice(from);
    }
}

/// What a router does to a frame, but for its lookup.
fn forward(frame: &mut [u8]) {
    let Ok(mut packet) = Ipv4View::new_checked(&mut frame[ETHERNET..]) else {
        return;
    };
    black_box(packet.dst());
    match packet.ttl() {
        0 => packet.set_ttl(TTL),
        _ => packet.decrement_ttl(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_done_on_the_last_copy_alone() {
        for copies in 0..3 {
            let mut path = Path::new(4);
            path.fill(4, HEADER_ALIGNED, 60);
            path.walk(copies);
            for ring in 0..3 {
                for buffer in 0..4 {
                    let frame = path.rings[ring].frame(buffer, HEADER_ALIGNED, 60);
                    let packet = Ipv4View::new_checked(&mut frame[ETHERNET..]).ok();
                    let expected = (ring <= copies).then_some(TTL - u8::from(ring == copies));
                    assert_eq!(packet.map(|packet| packet.ttl()), expected);
                }
            }
        }
    }

    #[test]
    fn headers_lie_where_their_name_says() {
        let mut path = Path::new(2);
        for (start, rest) in [(HEADER_ALIGNED, 0), (HEADER_ASTRIDE, 2)] {
            let frame = path.rings[0].frame(1, start, 60);
            assert_eq!(frame[ETHERNET..].as_ptr().addr() % 4, rest);
        }
    }
}

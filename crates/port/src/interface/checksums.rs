//! Checksums that a sender left to the receiver's hardware, where no hardware is: veth and virtio
//! hand such frames on as they are, and AF_XDP has no word for it.
//!
//! The kernel leaves the sum of the pseudo header in the field, for hardware to go on from. A frame
//! whose field holds that sum and whose checksum is wrong is finished here. A corrupted frame looks
//! like that once in 65,536: it would be given a right checksum, which is why frames of NICs that
//! finish checksums are looked at one by one only after several of them proved unfinished.

use std::ops::Range;

use frame::Frame;
use wire::checksum;

/// Receptions between two samples: a sample takes some 50 ns, and a burst is rarely one frame.
const SAMPLE_EVERY: u32 = 16;
/// A finished checksum looks like an unfinished one in one frame of 65,536; so many samples do not.
const HITS_MIN: u32 = 2;

const ADDRESSES_BYTES: usize = 12;
const TAG_BYTES: usize = 4;
/// A customer's and a provider's tag, or two of either.
const TAGS_MAX: usize = 2;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Finishes the checksums of received frames: of every frame where the driver is known to hand on
/// unfinished ones, elsewhere from the moment that samples prove it.
#[derive(Debug, Default)]
pub(crate) struct Finisher {
    every_frame: bool,
    receptions: u32,
    hits: u32,
    /// Frames whose checksum was finished.
    finished: u64,
}

impl Finisher {
    /// `every_frame`: unfinished frames can come from the first on.
    pub(crate) fn new(every_frame: bool) -> Self {
        Self {
            every_frame,
            ..Self::default()
        }
    }

    /// Frames whose checksum was finished so far.
    pub(crate) fn finished(&self) -> u64 {
        self.finished
    }

    /// Looks at the frames of one reception. Returns whether any was finished.
    #[inline]
    pub(crate) fn finish(&mut self, frames: &mut [Frame]) -> bool {
        if !self.every_frame {
            self.sample(frames);
            if !self.every_frame {
                return false;
            }
        }
        let mut finished = 0;
        for frame in frames {
            finished += u64::from(finish(frame.bytes_mut()));
        }
        self.finished += finished;
        finished != 0
    }

    fn sample(&mut self, frames: &[Frame]) {
        self.receptions = self.receptions.wrapping_add(1);
        if self.receptions.is_multiple_of(SAMPLE_EVERY)
            && let Some(frame) = frames.first()
        {
            self.hits += u32::from(unfinished(frame.bytes()).is_some());
            self.every_frame = self.hits >= HITS_MIN;
        }
    }
}

/// What is left to be summed up in a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unfinished {
    /// The TCP or UDP header and what it carries.
    segment: Range<usize>,
    /// Where the checksum lies in the frame.
    field: usize,
    protocol: u8,
}

/// Finishes a checksum that was left. Returns whether it did.
#[inline]
fn finish(frame: &mut [u8]) -> bool {
    let Some(left) = unfinished(frame) else {
        return false;
    };
    let mut sum = checksum::checksum(&frame[left.segment.clone()]);
    // With the pseudo header's sum once more the field is the whole checksum: a frame in which that
    // is right was finished, and its checksum happens to be that sum.
    let field = &frame[left.field..left.field + 2];
    let pseudo = u16::from_be_bytes([field[0], field[1]]);
    if checksum::combine(!sum, pseudo) == 0xffff {
        return false;
    }
    if left.protocol == UDP {
        sum = checksum::udp_nonzero(sum);
    }
    frame[left.field..left.field + 2].copy_from_slice(&sum.to_be_bytes());
    true
}

/// The segment of a TCP or UDP frame over plain IP whose checksum field holds the sum of its pseudo
/// header alone.
fn unfinished(frame: &[u8]) -> Option<Unfinished> {
    let (network, is_v4) = network(frame)?;
    let packet = frame.get(network..)?;
    let (pseudo, protocol, segment) = if is_v4 {
        datagram_v4(packet)?
    } else {
        datagram_v6(packet)?
    };
    let field = segment.start
        + match protocol {
            TCP => 16,
            UDP => 6,
            _ => return None,
        };
    let value = u16_at(packet, field)?;
    let is_whole = field + 2 <= segment.end && segment.end <= packet.len();
    (is_whole && value != 0 && value == pseudo).then(|| Unfinished {
        segment: network + segment.start..network + segment.end,
        field: network + field,
        protocol,
    })
}

/// Where the IP header begins, behind at most two VLAN tags, and whether it is IPv4's.
fn network(frame: &[u8]) -> Option<(usize, bool)> {
    let tags = (0..=TAGS_MAX).map(|count| ADDRESSES_BYTES + count * TAG_BYTES);
    for at in tags {
        match frame.get(at..at + 2)? {
            [0x08, 0x00] => return Some((at + 2, true)),
            [0x86, 0xdd] => return Some((at + 2, false)),
            [0x81, 0x00] | [0x88, 0xa8] => {}
            _ => return None,
        }
    }
    None
}

/// Sum of the pseudo header, protocol, and the range of the segment in the packet.
type Datagram = (u16, u8, Range<usize>);

fn datagram_v4(packet: &[u8]) -> Option<Datagram> {
    let header: &[u8; 20] = packet.first_chunk()?;
    let fragment = u16_at(packet, 6)? & 0x3fff;
    let start = usize::from(header[0] & 0xf) * 4;
    let end = usize::from(u16_at(packet, 2)?);
    let len = end.checked_sub(start)? as u16;
    if header[0] >> 4 != 4 || start < header.len() || fragment != 0 {
        return None;
    }
    let sum = checksum::ones_complement(&header[12..]);
    let rest = checksum::pseudo_v4(0, 0, header[9], len);
    Some((checksum::combine(sum, rest), header[9], start..end))
}

fn datagram_v6(packet: &[u8]) -> Option<Datagram> {
    let header: &[u8; 40] = packet.first_chunk()?;
    let len = u16_at(packet, 4)?;
    if header[0] >> 4 != 6 {
        return None;
    }
    let sum = checksum::ones_complement(&header[8..]);
    let rest = checksum::pseudo_v4(0, 0, header[6], len);
    let segment = header.len()..header.len() + usize::from(len);
    Some((checksum::combine(sum, rest), header[6], segment))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests_support::pool;

    /// A frame of `kind` with `tags` VLAN tags: its transport field holds the pseudo header's sum.
    fn made(is_v4: bool, protocol: u8, tags: usize, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; ADDRESSES_BYTES];
        for _ in 0..tags {
            frame.extend([0x81, 0, 0, 5]);
        }
        let header = if protocol == TCP { 20 } else { 8 };
        let len = (header + payload.len()) as u16;
        let addresses: Vec<u8> = (1..=if is_v4 { 8 } else { 32 }).collect();
        if is_v4 {
            frame.extend([0x08, 0x00, 0x45, 0]);
            frame.extend((len + 20).to_be_bytes());
            frame.extend([0, 1, 0x40, 0, 64, protocol, 0, 0]);
        } else {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            frame.extend(len.to_be_bytes());
            frame.extend([protocol, 64]);
        }
        frame.extend(&addresses);
        let pseudo = checksum::combine(
            checksum::ones_complement(&addresses),
            checksum::pseudo_v4(0, 0, protocol, len),
        );
        let at = frame.len() + if protocol == TCP { 16 } else { 6 };
        frame.extend(vec![7; header]);
        frame[at..at + 2].copy_from_slice(&pseudo.to_be_bytes());
        frame.extend(payload);
        frame
    }

    /// Whether the checksum is right, by the pseudo header and all of the segment.
    fn is_right(frame: &[u8], pseudo: u16, segment: Range<usize>) -> bool {
        checksum::combine(checksum::ones_complement(&frame[segment]), pseudo) == 0xffff
    }

    #[test]
    fn what_was_left_is_finished_in_every_kind_of_frame_and_padding_is_not_summed() {
        for is_v4 in [true, false] {
            for protocol in [TCP, UDP] {
                for tags in 0..=TAGS_MAX {
                    for payload in [&b""[..], b"x", b"odd", b"even"] {
                        let mut frame = made(is_v4, protocol, tags, payload);
                        let left = unfinished(&frame).expect("unfinished");
                        let field = left.field..left.field + 2;
                        let pseudo = u16_at(&frame, field.start).expect("a field");
                        frame.extend([0xee; 9]);
                        assert!(finish(&mut frame), "{is_v4} {protocol} {tags} {payload:?}");
                        assert!(is_right(&frame, pseudo, left.segment.clone()));
                        assert!(!finish(&mut frame), "once is enough");
                        assert_eq!(frame[frame.len() - 9..], [0xee; 9]);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_cut_fragmented_or_of_another_protocol_stays_as_it_is() {
        let whole = made(true, TCP, 0, b"payload");
        for end in 0..whole.len() {
            let mut cut = whole[..end].to_vec();
            assert!(!finish(&mut cut) && cut == whole[..end], "{end}");
        }
        let changed = |at: usize, value: u8| {
            let mut frame = whole.clone();
            frame[at] = value;
            frame
        };
        let (version, header_length, fragment, protocol, sum) = (14, 14, 21, 23, 51);
        for (at, value) in [
            (version, 0x65),
            (header_length, 0x44),
            (header_length, 0x4f),
            (fragment, 1),
            (protocol, 47),
            (sum, 0),
        ] {
            assert!(!finish(&mut changed(at, value)), "{at} {value:#x}");
        }
        assert!(!finish(&mut made(true, TCP, TAGS_MAX + 1, b"")));
    }

    #[test]
    fn a_finished_checksum_that_is_the_pseudo_headers_sum_by_chance_is_left() {
        let mut frame = made(true, UDP, 0, &[0, 0]);
        let left = unfinished(&frame).expect("unfinished");
        // Two bytes of payload make up for all the rest: the sum of the segment with the pseudo
        // header is all ones then.
        let pseudo = u16_at(&frame, left.field).expect("a field");
        let sum = checksum::ones_complement(&frame[left.segment.clone()]);
        let missing = !checksum::combine(sum, pseudo);
        frame[left.segment.end - 2..left.segment.end].copy_from_slice(&missing.to_be_bytes());
        assert!(is_right(&frame, pseudo, left.segment));
        assert!(!finish(&mut frame));
    }

    #[test]
    fn a_nic_that_finishes_checksums_is_sampled_until_several_frames_prove_it_does_not() {
        let mut pool = pool(1);
        let mut frame = pool.alloc().unwrap();
        let bytes = made(true, TCP, 0, b"x");
        let finishes = |finisher: &mut Finisher, frame: &mut Frame| {
            frame.copy_from(&bytes).unwrap();
            finisher.finish(std::slice::from_mut(frame))
        };
        let mut sampled = Finisher::new(false);
        for _ in 1..2 * SAMPLE_EVERY {
            assert!(!finishes(&mut sampled, &mut frame));
        }
        assert!(finishes(&mut sampled, &mut frame));
        assert!(finishes(&mut sampled, &mut frame));
        assert_eq!(sampled.finished(), 2);
        assert!(finishes(&mut Finisher::new(true), &mut frame));
        pool.free(frame);
    }
}

//! Checksums that a sender left to the receiver's hardware, where no hardware is: veth and virtio
//! hand such frames on as they are, and AF_XDP has no word for it.

use wire::checksum;

/// Receptions between two samples: a sample takes some 50 ns, and a burst is rarely one frame.
const SAMPLE_EVERY: u32 = 16;
/// A finished checksum looks like an unfinished one in one frame of 65,536; so many samples do not.
const HITS_MIN: u32 = 2;

const ETHERNET_BYTES: usize = 14;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Looks at some of the received frames until it is sure.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    receptions: u32,
    hits: u32,
}

impl Sampler {
    /// One of the frames of a reception; whether it is sure from now on, which it says once.
    #[inline]
    pub(crate) fn is_sure(&mut self, frame: &[u8]) -> bool {
        self.receptions = self.receptions.wrapping_add(1);
        if self.hits >= HITS_MIN || !self.receptions.is_multiple_of(SAMPLE_EVERY) {
            return false;
        }
        self.hits += u32::from(is_left(frame));
        self.hits == HITS_MIN
    }
}

/// Whether the checksum of a TCP or UDP frame over plain IP is the sum of its pseudo header alone,
/// which is what the kernel leaves there for hardware to go on from.
pub(crate) fn is_left(frame: &[u8]) -> bool {
    left(frame).unwrap_or(false)
}

fn left(frame: &[u8]) -> Option<bool> {
    let kind = frame.get(12..ETHERNET_BYTES)?;
    let packet = frame.get(ETHERNET_BYTES..)?;
    let (addresses, protocol, header) = match kind {
        [0x08, 0x00] => {
            let fragment = u16_at(packet, 6)? & 0x3fff;
            if fragment != 0 {
                return None;
            }
            let header = usize::from(*packet.first()? & 0xf) * 4;
            (packet.get(12..20)?, *packet.get(9)?, header)
        }
        [0x86, 0xdd] => (packet.get(8..40)?, *packet.get(6)?, 40),
        _ => return None,
    };
    let length = match kind {
        [0x08, 0x00] => usize::from(u16_at(packet, 2)?).checked_sub(header)?,
        _ => usize::from(u16_at(packet, 4)?),
    };
    let offset = match protocol {
        TCP => 16,
        UDP => 6,
        _ => return None,
    };
    let field = u16_at(packet, header + offset)?;
    let length = u32::try_from(length).ok()?.to_be_bytes();
    let mut pseudo = [0; 40];
    pseudo[..addresses.len()].copy_from_slice(addresses);
    pseudo[32..36].copy_from_slice(&length);
    pseudo[39] = protocol;
    // Zeros between the parts add nothing.
    Some(field != 0 && field == checksum::ones_complement(&pseudo))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A TCP segment from 10.9.0.1 to 10.9.0.2 as veth hands it on: its field holds the folded sum
    /// of 0a09 + 0001 + 0a09 + 0002 + 0006 + 0014 = 142f.
    fn unfinished() -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([0x08, 0x00]);
        frame.extend([0x45, 0, 0, 40, 0, 1, 0x40, 0, 64, TCP, 0, 0]);
        frame.extend([10, 9, 0, 1, 10, 9, 0, 2]);
        frame.extend([0x13, 0x88, 0xc0, 0x01, 0, 0, 0, 1, 0, 0, 0, 2]);
        frame.extend([0x50, 0x10, 0xff, 0xff, 0x14, 0x2f, 0, 0]);
        frame
    }

    #[test]
    fn the_sum_of_the_pseudo_header_gives_it_away() {
        let frame = unfinished();
        assert!(is_left(&frame));
        let mut finished = frame.clone();
        let sum = {
            let segment = &frame[34..];
            checksum::checksum(segment)
        };
        finished[50..52].copy_from_slice(&sum.to_be_bytes());
        assert!(!is_left(&finished));
        for end in 0..frame.len() {
            let _no_panic = is_left(&frame[..end]);
        }
        let mut fragment = frame;
        fragment[21] = 1;
        assert!(!is_left(&fragment));
    }

    #[test]
    fn it_takes_more_than_one_frame_to_be_sure_and_is_said_once() {
        let (mut sampler, frame) = (Sampler::default(), unfinished());
        let told =
            |sampler: &mut Sampler, times| (0..times).filter(|_| sampler.is_sure(&frame)).count();
        assert_eq!(told(&mut sampler, SAMPLE_EVERY), 0);
        assert_eq!(told(&mut sampler, SAMPLE_EVERY), 1);
        assert_eq!(told(&mut sampler, 10 * SAMPLE_EVERY), 0);
    }
}

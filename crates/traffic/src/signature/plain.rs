//! The straight path: what most test frames are, UDP in IPv4 without options, tags or fragments,
//! with nothing but zeros between header and signature. `None` says nothing about a frame but that
//! [`read_any`](super::read::read_any) must read it.
//!
//! It reads fields as words at constant places, by one check of the length. The sums of IPv4 header
//! and segment are those of wider words (RFC 1071 section 2), and share that of the addresses.

use wire::protocol;

use super::read::Sound;
use super::{Addresses, Covered, Encoded, SIGNATURE_BYTES, add, fold};

/// Where things are.
const IPV4: usize = 14;
const UDP: usize = IPV4 + 20;
const PAYLOAD: usize = UDP + 8;
/// Bytes of the shortest frame with a signature.
const FRAME_BYTES_MIN: usize = PAYLOAD + SIGNATURE_BYTES;

/// Ether type, version and header length, as they are in the word at 12; type of service, total
/// length and identification may be any.
const PLAIN: u64 = 0x0800_4500 << 32;
const PLAIN_MASK: u64 = 0xffff_ff00 << 32;
/// Offset and more fragments, and the protocol, in the word at 20.
const WHOLE_UDP: u64 = (protocol::UDP as u64) << 32;
const WHOLE_UDP_MASK: u64 = 0x3fff_00ff << 32;

/// The signature of a plain frame in which everything agrees.
#[inline(always)]
pub(super) fn sound(frame: &[u8]) -> Option<Sound> {
    let head = frame.first_chunk::<FRAME_BYTES_MIN>()?;
    let (first, second) = (word(head, IPV4 - 2), word(head, IPV4 + 6));
    let (addresses, udp) = (word(head, IPV4 + 12), word(head, UDP));
    let len = udp >> 16 & 0xffff;
    let is_plain = first & PLAIN_MASK == PLAIN && second & WHOLE_UDP_MASK == WHOLE_UDP;
    // 0 as a checksum says that there is none, which we never do.
    if !is_plain || first >> 16 & 0xffff != len + 20 || udp & 0xffff == 0 {
        return None;
    }
    let (front, segment) = frame.split_at(UDP);
    let segment = segment.get(..len as usize)?;
    let (front_of_it, end) = segment.split_last_chunk::<SIGNATURE_BYTES>()?;
    let payload = front_of_it.get(PAYLOAD - UDP..)?;
    if payload.iter().fold(0, |all, byte| all | byte) != 0 {
        return None;
    }
    let encoded = Encoded::read(end);
    let (check, signature) = encoded.decode();
    let covered = Covered {
        addresses: Addresses::V4((addresses >> 32) as u32, addresses as u32),
        ports: (udp >> 32) as u32,
        protocol: protocol::UDP,
        kind: 0,
        payload,
    };
    if check != covered.check(&signature, true)
        && check != covered.check_link(&signature, true, front)
    {
        return None;
    }
    let addresses = (addresses >> 32) + (addresses & 0xffff_ffff);
    let header = (first & 0xffff_ffff_ffff) + (second >> 16) + addresses;
    let pseudo = addresses + u64::from(protocol::UDP) + len;
    let transport = add(add(pseudo, udp), encoded.sum_in(len as usize));
    let flow = covered.flow();
    (fold(header) == 0xffff && fold(transport) == 0xffff).then_some(Sound { signature, flow })
}

/// The big-endian word at a place known when compiled.
#[inline(always)]
fn word(head: &[u8; FRAME_BYTES_MIN], at: usize) -> u64 {
    head.get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use frame::{Burst, Nanos, PoolRequest, Region};

    use super::super::Reading;
    use super::super::read::read_any;
    use super::*;
    use crate::{Random, Recipe, Source};

    fn frames(recipe: &str) -> Vec<Vec<u8>> {
        let request = PoolRequest {
            frames: 32,
            stride_bytes: 1920,
            headroom_bytes: 128,
            node: None,
        };
        let (_, mut pools) = Region::with_pools(&[request]).unwrap();
        let (mut asked, mut burst) = (Recipe::default(), Burst::new());
        for part in recipe.split(' ') {
            let (key, value) = part.split_once('=').unwrap();
            asked.set(key, value).unwrap();
        }
        let mut source = Source::new(&asked, 0, 1).unwrap();
        source.fill(&mut pools[0], &mut burst, 20, Nanos(0x1234_5678_9abc));
        let frames = burst.frames().iter();
        let frames = frames.map(|frame| frame.bytes().to_vec()).collect();
        pools[0].free_burst(&mut burst);
        frames
    }

    #[test]
    fn takes_what_it_is_for_and_nothing_else() {
        for (recipe, plain) in [
            ("size=64 sign=yes", true),
            ("size=65 sign=yes", true),
            ("size=1518 sign=yes cover=link", true),
            ("size=imix sign=yes", true),
            ("size=64", false),
            ("size=90 sign=yes vlan=7", false),
            ("size=90 sign=yes protocol=tcp", false),
            ("size=90 sign=yes ipv6=1", false),
        ] {
            for bytes in frames(recipe) {
                assert_eq!(sound(&bytes).is_some(), plain, "{recipe}");
            }
        }
    }

    /// Whatever is changed in a frame: what is sound here is so by the general reading, the same.
    #[test]
    fn agrees_with_the_general_reading() {
        let seed = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_nanos() as u64;
        println!("seed {seed}");
        let mut random = Random::new(seed, 9);
        let mut sounds = 0;
        for recipe in [
            "size=64 sign=yes",
            "size=71 sign=yes",
            "size=90 sign=yes cover=link",
        ] {
            for mut bytes in frames(recipe) {
                for bit in 0..bytes.len() * 8 {
                    let len = bytes.len();
                    bytes[bit / 8] ^= 1 << (bit % 8);
                    let cut = &bytes[..len - usize::from(random.below(9) == 0)];
                    let general = match read_any(cut) {
                        Reading::Sound(sound) => Some(sound),
                        Reading::Unsound(_) => None,
                    };
                    assert_eq!(sound(cut), general, "{recipe}, bit {bit}");
                    sounds += usize::from(general.is_some());
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
            }
        }
        assert!(sounds > 0, "MACs may change in some");
    }
}

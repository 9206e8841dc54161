//! Messages of the control channel: 128 bytes each, packed, in the byte order of the machine
//! (memif specification 2.0; the layouts are those of the public `memif.h` of libmemif and DPDK).

use std::fmt;

use crate::sys::memif_socket::MESSAGE_BYTES;

/// Version 2.0, the only one there is.
pub(super) const VERSION: u16 = 2 << 8;
/// Frames with an Ethernet header, as opposed to bare IP packets.
pub(super) const MODE_ETHERNET: u8 = 0;
pub(super) const SECRET_BYTES: usize = 24;
const NAME_BYTES: usize = 32;
const REASON_BYTES: usize = 96;
/// The ring carries frames from follower to leader.
const TO_LEADER: u16 = 1;

/// What a leader offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) name: Text<NAME_BYTES>,
    pub(super) version_min: u16,
    pub(super) version_max: u16,
    /// The highest index of a region, and of rings each way.
    pub(super) region_max: u16,
    pub(super) ring_to_follower_max: u16,
    pub(super) ring_to_leader_max: u16,
    pub(super) log2_entries_max: u8,
}

/// What a follower wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Init {
    pub(super) version: u16,
    pub(super) id: u32,
    pub(super) mode: u8,
    pub(super) secret: Text<SECRET_BYTES>,
    pub(super) name: Text<NAME_BYTES>,
}

/// A ring in a region of the follower's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AddRing {
    pub(super) to_leader: bool,
    pub(super) index: u16,
    pub(super) region: u16,
    pub(super) offset: u32,
    pub(super) log2_entries: u8,
    /// Bytes of metadata before each buffer: nobody uses any.
    pub(super) private_bytes: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Ack,
    Hello(Hello),
    Init(Init),
    AddRegion {
        index: u16,
        bytes: u64,
    },
    AddRing(AddRing),
    Connect {
        name: Text<NAME_BYTES>,
    },
    Connected {
        name: Text<NAME_BYTES>,
    },
    Disconnect {
        code: u32,
        reason: Text<REASON_BYTES>,
    },
}

/// A string that ends with a 0 or with its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Text<const N: usize>([u8; N]);

impl<const N: usize> Text<N> {
    /// As much of `text` as fits, a 0 behind it.
    pub(super) fn new(text: &[u8]) -> Self {
        let mut bytes = [0; N];
        let len = text.len().min(N - 1);
        bytes[..len].copy_from_slice(&text[..len]);
        Self(bytes)
    }

    /// All of it up to the first 0.
    pub(super) fn bytes(&self) -> &[u8] {
        let len = self.0.iter().position(|byte| *byte == 0).unwrap_or(N);
        &self.0[..len]
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    /// What a peer wrote is shown without anything that a terminal would obey.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().escape_ascii().fmt(f)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// Reads fields one behind the other.
struct Fields<'a>(&'a [u8; MESSAGE_BYTES], usize);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut field = [0; N];
        field.copy_from_slice(&self.0[self.1..self.1 + N]);
        self.1 += N;
        field
    }

    fn half(&mut self) -> u16 {
        u16::from_ne_bytes(self.take())
    }

    fn word(&mut self) -> u32 {
        u32::from_ne_bytes(self.take())
    }

    fn byte(&mut self) -> u8 {
        let [byte] = self.take();
        byte
    }

    fn text<const N: usize>(&mut self) -> Text<N> {
        Text(self.take())
    }
}

/// Writes them.
struct Writing([u8; MESSAGE_BYTES], usize);

impl Writing {
    fn put<const N: usize>(mut self, field: [u8; N]) -> Self {
        self.0[self.1..self.1 + N].copy_from_slice(&field);
        self.1 += N;
        self
    }

    fn half(self, value: u16) -> Self {
        self.put(value.to_ne_bytes())
    }

    fn word(self, value: u32) -> Self {
        self.put(value.to_ne_bytes())
    }
}

impl Message {
    /// `None` where the type is none of the eight.
    pub(super) fn parse(bytes: &[u8; MESSAGE_BYTES]) -> Option<Self> {
        let mut fields = Fields(bytes, 0);
        Some(match fields.half() {
            1 => Self::Ack,
            2 => Self::Hello(Hello {
                name: fields.text(),
                version_min: fields.half(),
                version_max: fields.half(),
                region_max: fields.half(),
                ring_to_follower_max: fields.half(),
                ring_to_leader_max: fields.half(),
                log2_entries_max: fields.byte(),
            }),
            3 => Self::Init(Init {
                version: fields.half(),
                id: fields.word(),
                mode: fields.byte(),
                secret: fields.text(),
                name: fields.text(),
            }),
            4 => Self::AddRegion {
                index: fields.half(),
                bytes: u64::from_ne_bytes(fields.take()),
            },
            5 => Self::AddRing(AddRing {
                to_leader: fields.half() & TO_LEADER != 0,
                index: fields.half(),
                region: fields.half(),
                offset: fields.word(),
                log2_entries: fields.byte(),
                private_bytes: fields.half(),
            }),
            6 => Self::Connect {
                name: fields.text(),
            },
            7 => Self::Connected {
                name: fields.text(),
            },
            8 => Self::Disconnect {
                code: fields.word(),
                reason: fields.text(),
            },
            _ => return None,
        })
    }

    pub(super) fn emit(&self) -> [u8; MESSAGE_BYTES] {
        let of = |kind: u16| Writing([0; MESSAGE_BYTES], 0).half(kind);
        match *self {
            Self::Ack => of(1),
            Self::Hello(hello) => of(2)
                .put(hello.name.0)
                .half(hello.version_min)
                .half(hello.version_max)
                .half(hello.region_max)
                .half(hello.ring_to_follower_max)
                .half(hello.ring_to_leader_max)
                .put([hello.log2_entries_max]),
            Self::Init(init) => of(3)
                .half(init.version)
                .word(init.id)
                .put([init.mode])
                .put(init.secret.0)
                .put(init.name.0),
            Self::AddRegion { index, bytes } => of(4).half(index).put(bytes.to_ne_bytes()),
            Self::AddRing(ring) => of(5)
                .half(if ring.to_leader { TO_LEADER } else { 0 })
                .half(ring.index)
                .half(ring.region)
                .word(ring.offset)
                .put([ring.log2_entries])
                .half(ring.private_bytes),
            Self::Connect { name } => of(6).put(name.0),
            Self::Connected { name } => of(7).put(name.0),
            Self::Disconnect { code, reason } => of(8).word(code).put(reason.0),
        }
        .0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_lie_where_the_public_header_has_them() {
        let ring = AddRing {
            to_leader: true,
            index: 0x0203,
            region: 0x0405,
            offset: 0x0607_0809,
            log2_entries: 10,
            private_bytes: 0,
        };
        let bytes = Message::AddRing(ring).emit();
        assert_eq!(u16::from_ne_bytes([bytes[0], bytes[1]]), 5);
        assert_eq!(bytes[8..12], 0x0607_0809_u32.to_ne_bytes());
        assert_eq!(bytes[12], 10);
        let init = Init {
            version: VERSION,
            id: 7,
            mode: MODE_ETHERNET,
            secret: Text::new(b"hidden"),
            name: Text::new(b"linerate"),
        };
        let bytes = Message::Init(init).emit();
        assert_eq!(&bytes[9..15], b"hidden");
        assert_eq!(&bytes[33..41], b"linerate");
    }

    #[test]
    fn texts_are_cut_and_harmless() {
        assert_eq!(Text::<4>::new(b"abcdef").bytes(), b"abc");
        assert_eq!(Text([b'x'; 4]).bytes(), b"xxxx");
        assert_eq!(Text::<8>::new(b"\x1b[2Jy").to_string(), "\\x1b[2Jy");
    }

    proptest! {
        #[test]
        fn whatever_comes_is_a_message_or_none(bytes in prop::collection::vec(any::<u8>(), 128)) {
            let mut bytes: [u8; MESSAGE_BYTES] = bytes.try_into().unwrap();
            // Mostly the types there are.
            let kind = u16::from(bytes[0] % 10);
            bytes[..2].copy_from_slice(&kind.to_ne_bytes());
            if let Some(message) = Message::parse(&bytes) {
                // Emitted again it is the same message.
                prop_assert_eq!(Message::parse(&message.emit()), Some(message));
            }
        }
    }
}

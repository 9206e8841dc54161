//! Fields to bytes: whole frames with right lengths and checksums.
//!
//! A [`Recipe`] says what a frame holds, from the link header to the payload; [`Recipe::emit`]
//! writes it into a slice. Total: a buffer that is too short and fields that no frame can hold are
//! errors, found before the first byte is written. Frames that lie are made by changing the bytes
//! of a sound one, through the setters of [`crate::view`].
//!
//! ```
//! use wire::emit::{Ipv4, Network, Recipe, Transport};
//! let mut frame = [0; 64];
//! let recipe = Recipe {
//!     network: Network::Ipv4(
//!         Ipv4 { src: 0x0A00_0001, dst: 0x0A00_0002, ..Ipv4::default() },
//!         Transport::Udp { src_port: 4000, dst_port: 53 },
//!     ),
//!     payload: b"hello",
//!     ..Recipe::default()
//! };
//! let len = recipe.emit(&mut frame)?;
//! assert_eq!(len, 14 + 20 + 8 + 5);
//! assert_eq!(wire::parse(&frame[..len], len).dst_port, 53);
//! # Ok::<(), wire::emit::EmitError>(())
//! ```

mod arp;
mod fragment;
mod ipv4;
mod ipv6;
mod link;
mod transport;
mod writer;

use core::fmt;

pub use crate::Tag;
pub use arp::Arp;
pub use fragment::fragment;
pub use ipv4::Ipv4;
pub use ipv6::{Extension, Ipv6};
pub use link::Framing;
pub use transport::{Icmp, Tcp, Transport};

use crate::{MacAddress, ether_type};
use writer::Writer;

/// A frame as fields; what is not given is the plainest there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recipe<'a> {
    /// Destination address.
    pub dst_mac: MacAddress,
    /// Source address.
    pub src_mac: MacAddress,
    /// VLAN tags in front of the type or length, outermost first.
    pub tags: &'a [Tag],
    /// How the link header names what it carries.
    pub framing: Framing<'a>,
    /// What the frame carries.
    pub network: Network<'a>,
    /// What the innermost header carries.
    pub payload: &'a [u8],
    /// Zero bytes follow until the frame has this many bytes; 60 is what Ethernet wants.
    pub len_min: usize,
}

/// What a frame carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Network<'a> {
    /// An IPv4 packet.
    Ipv4(Ipv4<'a>, Transport<'a>),
    /// An IPv6 packet.
    Ipv6(Ipv6<'a>, Transport<'a>),
    /// An ARP message.
    Arp(Arp),
    /// The payload alone, behind this ether type.
    Other(u16),
}

impl Default for Recipe<'_> {
    fn default() -> Self {
        Self {
            dst_mac: MacAddress([2, 0, 0, 0, 0, 2]),
            src_mac: MacAddress([2, 0, 0, 0, 0, 1]),
            tags: &[],
            framing: Framing::Ethernet2,
            // The first of the two ether types kept for experiments (IEEE 802).
            network: Network::Other(0x88B5),
            payload: &[],
            len_min: 0,
        }
    }
}

/// Why a frame was not written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmitError {
    /// The buffer holds fewer bytes than the frame needs.
    BufferTooShort {
        /// Bytes of the frame.
        needed: usize,
        /// Bytes of the buffer.
        room: usize,
    },
    /// Payload and headers exceed a length field; the field's name.
    TooLong(&'static str),
    /// Options or an extension body of a length their header cannot say; the header's name.
    Unaligned(&'static str),
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferTooShort { needed, room } => {
                write!(f, "the frame has {needed} bytes, the buffer {room}")
            }
            Self::TooLong(field) => write!(f, "the frame is too long for the {field}"),
            Self::Unaligned(header) => write!(f, "the {header} cannot have this length"),
        }
    }
}

impl core::error::Error for EmitError {}

impl Network<'_> {
    fn ether_type(&self) -> u16 {
        match self {
            Self::Ipv4(..) => ether_type::IPV4,
            Self::Ipv6(..) => ether_type::IPV6,
            Self::Arp(_) => ether_type::ARP,
            Self::Other(ether_type) => *ether_type,
        }
    }

    fn len(&self, payload: usize) -> usize {
        payload
            + match self {
                Self::Ipv4(header, transport) => header.len() + transport.len(),
                Self::Ipv6(header, transport) => header.len() + transport.len(),
                Self::Arp(_) => Arp::BYTES,
                Self::Other(_) => 0,
            }
    }

    fn check(&self, payload: usize) -> Result<(), EmitError> {
        match self {
            Self::Ipv4(header, transport) => {
                transport.check()?;
                header.check(transport.len() + payload)
            }
            Self::Ipv6(header, transport) => {
                transport.check()?;
                header.check(transport.len() + payload)
            }
            Self::Arp(_) | Self::Other(_) => Ok(()),
        }
    }

    fn write(&self, out: &mut Writer<'_>, payload: &[u8]) {
        match self {
            Self::Ipv4(header, transport) => header.write(out, transport, payload),
            Self::Ipv6(header, transport) => header.write(out, transport, payload),
            Self::Arp(message) => {
                message.write(out);
                out.put(payload);
            }
            Self::Other(_) => out.put(payload),
        }
    }
}

impl Recipe<'_> {
    /// Bytes of the frame, padding included.
    #[must_use]
    pub fn frame_len(&self) -> usize {
        let inner = self.network.len(self.payload.len());
        (link::len(self.tags, &self.framing) + inner).max(self.len_min)
    }

    /// Writes the frame to the front of `out` and returns its length in bytes.
    ///
    /// # Errors
    /// See [`EmitError`]; `out` is untouched then.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let inner = self.network.len(self.payload.len());
        self.network.check(self.payload.len())?;
        link::check(&self.framing, inner)?;
        let (needed, room) = (self.frame_len(), out.len());
        let Some(out) = out.get_mut(..needed) else {
            return Err(EmitError::BufferTooShort { needed, room });
        };
        let mut out = Writer::new(out);
        link::write(&mut out, self, inner);
        self.network.write(&mut out, self.payload);
        out.zero_rest();
        Ok(needed)
    }
}

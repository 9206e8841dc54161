//! Capture records as bytes and fields: pcap and pcapng, both directions.
//!
//! Contract: no I/O, no allocation, no state. A caller brings the bytes, these functions read
//! fields out of them or write fields into them. Every length that a file states is checked against
//! the bytes that are there before it is used, and what would make a reader wait for or hold an
//! absurd amount ([`CAPTURED_BYTES_MAX`]) is a [`CaptureFault`].
//!
//! Times are nanoseconds since 1970-01-01 00:00 UTC in a `u64` (until the year 2554). All the
//! resolutions that occur in practice (micro- and nanoseconds) are exact in it.
//!
//! Sources: draft-ietf-opsawg-pcap (pcap), draft-ietf-opsawg-pcapng (pcapng), and the registry of
//! link types both share.

mod fault;
mod link_header;
mod link_type;
mod order;
pub mod pcap;
pub mod pcapng;

pub use fault::CaptureFault;
pub use link_header::{ETHERNET_BYTES, LinkHeader};
pub use link_type::LinkType;
pub use order::ByteOrder;

/// Most bytes one record may hold: libpcap's own bound (`MAXIMUM_SNAPLEN`), which every tool that
/// writes captures of a network keeps. A length above it is damage or malice.
pub const CAPTURED_BYTES_MAX: u32 = 262_144;

/// Which kind of capture file some bytes begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// A pcap file: one header, then records.
    Pcap,
    /// A pcapng file: a sequence of blocks.
    Pcapng,
}

impl Container {
    /// Tells a capture by its first four bytes.
    ///
    /// # Errors
    /// [`CaptureFault::TooShort`] below four bytes, [`CaptureFault::ModifiedPcap`] for the variant
    /// with longer record headers that nobody writes any more, [`CaptureFault::UnknownMagic`] else.
    pub fn detect(bytes: &[u8]) -> Result<Self, CaptureFault> {
        let magic = bytes.first_chunk::<4>().ok_or(CaptureFault::TooShort)?;
        if u32::from_be_bytes(*magic) == pcapng::SECTION_HEADER {
            return Ok(Self::Pcapng);
        }
        pcap::magic(*magic).map(|_| Self::Pcap)
    }
}

#[cfg(test)]
mod tests;

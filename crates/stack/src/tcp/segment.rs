//! A segment: header, options and data (RFC 9293 section 3.1).

use std::net::{IpAddr, SocketAddr};

use wire::view::TcpView;
use wire::{Malformed, checksum, protocol};

use super::options::{OPTIONS_MAX, Options};
use super::{Pair, Seq};

const HEADER: usize = 20;

/// Bits of the flags.
pub(super) mod flag {
    pub(crate) const FIN: u8 = 1;
    pub(crate) const SYN: u8 = 2;
    pub(crate) const RST: u8 = 4;
    pub(crate) const PSH: u8 = 8;
    pub(crate) const ACK: u8 = 16;
}

/// Why a segment is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadSegment {
    /// Its header is malformed.
    Header(Malformed),
    /// A length of an option is wrong.
    Options,
    /// The checksum is wrong.
    Checksum,
    /// An address is that of a group or of nobody, a port is 0, or families differ.
    Address,
}

/// The header of a segment, without ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) seq: Seq,
    pub(super) ack: Seq,
    pub(super) flags: u8,
    /// As it stands there: not scaled.
    pub(super) window: u16,
    pub(super) options: Options,
}

impl Header {
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Writes a segment of a connection behind no IP header; none where it does not fit.
    pub(super) fn write(
        &self,
        pair: &Pair,
        payload: (&[u8], &[u8]),
        out: &mut [u8],
    ) -> Option<usize> {
        let mut options = [0; OPTIONS_MAX];
        let header_len = HEADER + self.options.write(&mut options);
        let middle = header_len + payload.0.len();
        let len = middle + payload.1.len();
        let out = out.get_mut(..len)?;
        out[..2].copy_from_slice(&pair.local.port().to_be_bytes());
        out[2..4].copy_from_slice(&pair.remote.port().to_be_bytes());
        out[4..8].copy_from_slice(&self.seq.0.to_be_bytes());
        out[8..12].copy_from_slice(&self.ack.0.to_be_bytes());
        out[12] = (header_len as u8 / 4) << 4;
        out[13] = self.flags;
        out[14..16].copy_from_slice(&self.window.to_be_bytes());
        out[16..20].fill(0);
        out[HEADER..header_len].copy_from_slice(&options[..header_len - HEADER]);
        out[header_len..middle].copy_from_slice(payload.0);
        out[middle..].copy_from_slice(payload.1);
        let sum = checksum::transport(pseudo(pair.local.ip(), pair.remote.ip(), len)?, out);
        out[16..18].copy_from_slice(&sum.to_be_bytes());
        Some(len)
    }
}

/// A segment that arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    pub(super) header: Header,
    pub(super) payload: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Reads the transport part of a packet; the pair is the receiver's.
    pub(super) fn read(
        source: IpAddr,
        destination: IpAddr,
        bytes: &'a [u8],
    ) -> Result<(Pair, Self), BadSegment> {
        let view = TcpView::new_checked(bytes).map_err(BadSegment::Header)?;
        let pair = Pair {
            local: SocketAddr::new(destination, view.dst_port()),
            remote: SocketAddr::new(source, view.src_port()),
        };
        if !pair.is_usable() {
            return Err(BadSegment::Address);
        }
        let pseudo = pseudo(source, destination, bytes.len()).ok_or(BadSegment::Address)?;
        if checksum::transport(pseudo, bytes) != 0 {
            return Err(BadSegment::Checksum);
        }
        let header = Header {
            seq: Seq(view.sequence()),
            ack: Seq(view.acknowledgment()),
            flags: view.flags(),
            window: view.window(),
            options: Options::read(view.options()).ok_or(BadSegment::Options)?,
        };
        let payload = &bytes[view.header_len()..];
        Ok((pair, Self { header, payload }))
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.header.has(flag)
    }

    /// Sequence numbers that it takes.
    pub(super) fn len(&self) -> u32 {
        let ends = u32::from(self.has(flag::SYN)) + u32::from(self.has(flag::FIN));
        self.payload.len() as u32 + ends
    }

    /// The reset that answers it, where nobody knows it (RFC 9293 section 3.10.7.1).
    pub(super) fn reset(&self) -> Header {
        if self.has(flag::ACK) {
            return Header {
                seq: self.header.ack,
                flags: flag::RST,
                ..Header::default()
            };
        }
        Header {
            ack: self.header.seq.after(self.len()),
            flags: flag::RST | flag::ACK,
            ..Header::default()
        }
    }
}

/// The sum of the pseudo header; none between families.
fn pseudo(source: IpAddr, destination: IpAddr, len: usize) -> Option<u16> {
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let len = u16::try_from(len).ok()?;
            let (source, destination) = (source.to_bits(), destination.to_bits());
            Some(checksum::pseudo_v4(source, destination, protocol::TCP, len))
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let (source, destination) = (source.to_bits(), destination.to_bits());
            Some(checksum::pseudo_v6(
                source,
                destination,
                protocol::TCP,
                len as u32,
            ))
        }
        _ => None,
    }
}

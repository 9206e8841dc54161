//! Where frames to be explained come from: typed, or out of a capture.
//!
//! Frames of a capture have the numbers that Wireshark and tshark give them: a record that cannot
//! be read has one, too.

use std::time::Duration;

use port::pcap::{CapturePath, CaptureReader, LeftOut, Step};
use serde::Serialize;
use wire::capture::{LinkHeader, LinkType};

use crate::args::FrameSource;
use crate::error::Error;

/// A frame, and where it was.
pub(super) struct FoundFrame {
    /// As in `frame 3 of a.pcap`.
    pub(super) name: String,
    /// Its number in the capture, the first being 1.
    pub(super) number: u64,
    pub(super) bytes: Vec<u8>,
    /// Bytes it had on the wire.
    pub(super) original_len: usize,
}

/// A record of a capture that cannot be explained.
#[derive(Debug, Serialize)]
pub(super) struct Unread {
    /// As in `frame 3 of a.pcap`.
    #[serde(skip)]
    pub(super) name: String,
    pub(super) number: u64,
    /// Why, as the end of a sentence about it.
    pub(super) reason: String,
}

/// What was asked for.
pub(super) enum Found {
    Frame(FoundFrame),
    Unread(Unread),
}

/// Bytes of the longest frame that a port takes from a capture.
const FRAME_BYTES_MAX: usize = frame::STRIDE_BYTES_MAX as usize - 1_024;

/// Frames, one after the other.
pub(super) enum FrameReader {
    Typed(Option<Vec<u8>>),
    Capture(Capture),
}

/// A capture, and which of its frames are asked for.
pub(super) struct Capture {
    reader: Box<CaptureReader>,
    file: String,
    only: Option<u64>,
}

impl FrameReader {
    pub(super) fn open(source: &FrameSource) -> Result<Self, Error> {
        let (path, only) = match source {
            FrameSource::Bytes(bytes) => return Ok(Self::Typed(Some(bytes.clone()))),
            FrameSource::Capture(path, only) => (path, only.map(u64::from)),
        };
        let reader = CaptureReader::open(path).map_err(Error::refused)?;
        Ok(Self::Capture(Capture {
            reader: Box::new(reader),
            file: match path {
                CapturePath::Stdio => "standard input".to_owned(),
                CapturePath::File(file) => file.display().to_string(),
            },
            only,
        }))
    }

    /// The next frame that was asked for.
    pub(super) fn next(&mut self) -> Result<Option<Found>, Error> {
        match self {
            Self::Typed(bytes) => Ok(bytes.take().map(|bytes| Found::Frame(typed(bytes)))),
            Self::Capture(capture) => capture.next(),
        }
    }

    /// What the user should know of the capture, a sentence each.
    pub(super) fn warnings(&self) -> Vec<String> {
        match self {
            Self::Typed(_) => Vec::new(),
            Self::Capture(capture) => capture.reader.warnings(),
        }
    }

    /// Whether the capture could be read, and had the frame that was asked for.
    pub(super) fn finish(&self) -> Result<(), Error> {
        match self {
            Self::Typed(_) => Ok(()),
            Self::Capture(capture) => capture.finish(),
        }
    }
}

impl Capture {
    fn next(&mut self) -> Result<Option<Found>, Error> {
        if self.only.is_some_and(|only| self.reader.number() >= only) {
            return Ok(None);
        }
        loop {
            let found = match self.reader.next() {
                Step::Record(record) => Ok((record.original_len, record.bytes.to_vec())),
                Step::LeftOut(why) => Err(why),
                Step::Waiting => {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Step::Ended => return Ok(None),
            };
            let number = self.reader.number();
            if self.only.is_none_or(|only| only == number) {
                let name = format!("frame {number} of {}", self.file);
                return self.found(name, found).map(Some);
            }
        }
    }

    fn found(&self, name: String, found: Result<(u32, Vec<u8>), LeftOut>) -> Result<Found, Error> {
        let number = self.reader.number();
        let reason = match found {
            Ok((original_len, bytes)) if bytes.len() <= FRAME_BYTES_MAX => {
                return Ok(Found::Frame(FoundFrame {
                    name,
                    number,
                    bytes,
                    original_len: original_len as usize,
                }));
            }
            Ok((_, bytes)) => format!(
                "has {} bytes, more than the {FRAME_BYTES_MAX} of which ports take frames",
                bytes.len()
            ),
            Err(why) => why.to_string(),
        };
        match self.only {
            Some(_) => Err(Error::refused(format!("{name} {reason}"))),
            None => Ok(Found::Unread(Unread {
                name,
                number,
                reason,
            })),
        }
    }

    fn finish(&self) -> Result<(), Error> {
        let (reader, frames) = (&self.reader, self.reader.number());
        let wanting = self.only.filter(|&only| frames < only);
        if let Some(failure) = reader.failure()
            && (self.only.is_none() || wanting.is_some())
        {
            return Err(Error::refused(failure));
        }
        match (wanting, reader.emptiness()) {
            (Some(_), Some(empty)) if frames == 0 => Err(Error::refused(empty)),
            (Some(only), _) => Err(Error::refused(format!(
                "{} has {frames} frames and number {only} is asked for: choose one of them",
                self.file
            ))),
            (None, Some(empty)) if self.only.is_none() => Err(Error::refused(empty)),
            _ => Ok(()),
        }
    }
}

/// A frame that was typed; an IP packet gets an Ethernet header.
fn typed(bytes: Vec<u8>) -> FoundFrame {
    let (name, bytes) = match LinkHeader::read(LinkType::RAW, &bytes, bytes.len()) {
        Some(header) if is_packet(&bytes) => (
            "packet behind an Ethernet header of zeros",
            [&header.ethernet[..], &bytes].concat(),
        ),
        _ => ("frame", bytes),
    };
    FoundFrame {
        name: name.to_owned(),
        number: 1,
        original_len: bytes.len(),
        bytes,
    }
}

/// Whether bytes are an IP packet without a link header, as `tcpdump -x` prints it, and no frame:
/// its length is theirs and no EtherType stands where a frame has one, or its checksum agrees.
fn is_packet(bytes: &[u8]) -> bool {
    const ETHER_TYPES: [u16; 7] = [0x0800, 0x0806, 0x86dd, 0x8100, 0x88a8, 0x8847, 0x8864];
    let word = |at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let has_ether_type = word(12).is_some_and(|word| ETHER_TYPES.contains(&word));
    let Some(first) = bytes.first() else {
        return false;
    };
    let len = |at: usize, header: usize| word(at).map(|len| usize::from(len) + header);
    match first >> 4 {
        4 => {
            let header_len = usize::from(first & 15) * 4;
            let header = bytes.get(..header_len).filter(|_| header_len >= 20);
            let agrees = |header| wire::checksum::ones_complement(header) == 0xffff;
            let fits = len(2, 0).is_some_and(|len| len <= bytes.len());
            let is_whole = len(2, 0) == Some(bytes.len()) && !has_ether_type;
            header.is_some_and(|header| is_whole || fits && agrees(header))
        }
        6 => len(4, 40) == Some(bytes.len()) && !has_ether_type,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 packet of 24 bytes from 192.0.2.1, its checksum right.
    const PACKET: [u8; 24] = [
        0x45, 0, 0, 24, 0, 1, 0, 0, 64, 1, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2, 8, 0, 0xf7, 0xff,
    ];

    fn with_checksum(mut packet: Vec<u8>) -> Vec<u8> {
        packet[10..12].fill(0);
        let sum = !wire::checksum::ones_complement(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    #[test]
    fn packets_without_a_link_header_are_told_from_frames() {
        let v6 = [&[0x60, 0, 0, 0, 0, 8, 58, 64][..], &[0x20; 32], &[0; 8]].concat();
        let from_8_0 = with_checksum([&PACKET[..12], &[8, 0], &PACKET[14..]].concat());
        let mut padded = with_checksum(PACKET.to_vec());
        padded.resize(40, 0);
        let mut frame = vec![0; 12];
        frame.extend([8, 0]);
        frame.extend(PACKET);
        // A frame to the MAC 45:00:00:26:.., whose length would be right.
        let mut like = frame.clone();
        let len = like.len() as u8;
        like[..4].copy_from_slice(&[0x45, 0, 0, len]);
        for (bytes, packet) in [
            (PACKET.to_vec(), true),
            (from_8_0, true),
            (padded, true),
            (v6, true),
            (frame, false),
            (like, false),
            (vec![0x45; 60], false),
            (vec![0x45], false),
            (vec![0x60; 60], false),
            (vec![0; 60], false),
        ] {
            let found = typed(bytes.clone());
            assert_eq!(
                found.bytes.len() - bytes.len(),
                14 * usize::from(packet),
                "{bytes:x?}"
            );
            assert!(found.bytes.ends_with(&bytes));
        }
    }
}

//! Frames that are not Ethernet, made so.

use wire::capture::{ETHERNET_BYTES, LinkHeader, LinkType};

use super::Record;

/// The place where an Ethernet header is put in front of a packet.
#[derive(Debug, Default)]
pub(super) struct Linked {
    time_ns: u64,
    original_len: u32,
    bytes: Vec<u8>,
}

impl Linked {
    /// Makes a frame of what was captured; `false` where its link header has no Ethernet's.
    pub(super) fn make(&mut self, link_type: LinkType, record: &Record<'_>) -> bool {
        let original_len = record.original_len as usize;
        let Some(header) = LinkHeader::read(link_type, record.bytes, original_len) else {
            return false;
        };
        let Some(packet) = record.bytes.get(header.bytes..) else {
            return false;
        };
        let longer = ETHERNET_BYTES as i64 - header.bytes as i64;
        let original_len = i64::from(record.original_len) + longer;
        self.original_len = u32::try_from(original_len.max(0)).unwrap_or(u32::MAX);
        self.time_ns = record.time_ns;
        self.bytes.clear();
        self.bytes.extend_from_slice(&header.ethernet);
        self.bytes.extend_from_slice(packet);
        true
    }

    /// The frame made last.
    pub(super) fn record(&self) -> Record<'_> {
        Record {
            time_ns: self.time_ns,
            original_len: self.original_len,
            bytes: &self.bytes,
        }
    }
}

/// What a mode says of a link type.
pub(super) fn link_word(link_type: Option<LinkType>) -> String {
    match link_type {
        None | Some(LinkType::ETHERNET) => "Ethernet".to_owned(),
        Some(link_type) => format!("{link_type}, made Ethernet"),
    }
}

/// Why frames of a link type are not read, as the end of a sentence, with what to do.
pub(super) const fn link_type_remedy(link_type: LinkType) -> &'static str {
    match link_type.is_known() {
        true => "they hold no packet of an EtherType",
        false => "capture on an Ethernet interface",
    }
}

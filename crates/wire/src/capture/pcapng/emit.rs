//! Blocks with options: an interface with its name, a frame with a comment.

use super::{ENHANCED_PACKET, INTERFACE_DESCRIPTION, InterfaceDescription, PacketRecord, padding};
use crate::capture::{ByteOrder, CAPTURED_BYTES_MAX, CaptureFault};

/// Longest text of an option that is written; longer ones are cut at a character.
pub const TEXT_BYTES_MAX: usize = 4096;

const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;

/// Writes an interface description with the interface's name (if_name) and time unit, and returns
/// its length.
///
/// # Errors
/// [`CaptureFault::NoRoom`]; what was written then is no block.
pub fn emit_named_interface(
    place: &mut [u8],
    order: ByteOrder,
    interface: &InterfaceDescription,
    name: &str,
) -> Result<usize, CaptureFault> {
    let mut block = Block::begin(place, order, INTERFACE_DESCRIPTION)?;
    block.put(&order.bytes_u16(interface.link_type.0))?;
    block.put(&order.bytes_u16(0))?;
    block.put(&order.bytes_u32(interface.snaplen))?;
    block.text(IF_NAME, name)?;
    block.option(IF_TSRESOL, &[interface.resolution.to_byte()])?;
    block.option(END_OF_OPTIONS, &[])?;
    block.end()
}

/// Writes an enhanced packet block with a comment (opt_comment) and returns its length.
///
/// # Errors
/// [`CaptureFault::NoRoom`]; what was written then is no block. [`CaptureFault::CapturedLength`].
pub fn emit_commented(
    place: &mut [u8],
    order: ByteOrder,
    packet: &PacketRecord<'_>,
    comment: &str,
) -> Result<usize, CaptureFault> {
    let captured_len = u32::try_from(packet.bytes.len()).unwrap_or(u32::MAX);
    if captured_len > CAPTURED_BYTES_MAX {
        return Err(CaptureFault::CapturedLength);
    }
    let ticks = packet.ticks.unwrap_or(0);
    let mut block = Block::begin(place, order, ENHANCED_PACKET)?;
    for word in [
        packet.interface,
        (ticks >> 32) as u32,
        ticks as u32,
        captured_len,
        packet.original_len,
    ] {
        block.put(&order.bytes_u32(word))?;
    }
    block.padded(packet.bytes)?;
    block.text(COMMENT, comment)?;
    block.option(END_OF_OPTIONS, &[])?;
    block.end()
}

/// A block in the making: its lengths are written when all else is.
struct Block<'a> {
    place: &'a mut [u8],
    order: ByteOrder,
    len: usize,
}

impl<'a> Block<'a> {
    fn begin(place: &'a mut [u8], order: ByteOrder, kind: u32) -> Result<Self, CaptureFault> {
        let mut block = Self {
            place,
            order,
            len: 0,
        };
        block.put(&order.bytes_u32(kind))?;
        block.put(&[0; 4])?;
        Ok(block)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), CaptureFault> {
        let end = self.len + bytes.len();
        let place = self.place.get_mut(self.len..end);
        place.ok_or(CaptureFault::NoRoom)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    fn padded(&mut self, bytes: &[u8]) -> Result<(), CaptureFault> {
        self.put(bytes)?;
        self.put(&[0; 3][..padding(bytes.len())])
    }

    fn option(&mut self, code: u16, value: &[u8]) -> Result<(), CaptureFault> {
        let len = u16::try_from(value.len()).map_err(|_| CaptureFault::OptionLength)?;
        self.put(&self.order.bytes_u16(code))?;
        self.put(&self.order.bytes_u16(len))?;
        self.padded(value)
    }

    /// An option of text; empty text is no option.
    fn text(&mut self, code: u16, text: &str) -> Result<(), CaptureFault> {
        let mut end = text.len().min(TEXT_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        if text.is_empty() {
            return Ok(());
        }
        self.option(code, text.as_bytes())
    }

    fn end(mut self) -> Result<usize, CaptureFault> {
        let total_len = u32::try_from(self.len + 4).map_err(|_| CaptureFault::BlockLength)?;
        let total_len = self.order.bytes_u32(total_len);
        self.put(&total_len)?;
        if let Some(place) = self.place.get_mut(4..8) {
            place.copy_from_slice(&total_len);
        }
        Ok(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BlockHead, Options, RawOption, TimeResolution, body, parse_enhanced};
    use super::*;
    use crate::capture::LinkType;

    fn packet(bytes: &[u8]) -> PacketRecord<'_> {
        PacketRecord {
            interface: 3,
            ticks: Some(0x0102_0304_0506_0708),
            original_len: 99,
            bytes,
        }
    }

    #[test]
    fn a_comment_of_any_length_comes_back() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for len in 0..9 {
                let Some(comment) = "dröpped".get(..len.clamp(1, 7)) else {
                    continue;
                };
                let bytes = &[7; 9][..len];
                let mut place = [0xaa; 256];
                let written = emit_commented(&mut place, order, &packet(bytes), comment);
                let block = &place[..written.expect("room")];
                let head = BlockHead::parse(block, order).expect("a head");
                let body = body(block, head).expect("a block");
                assert_eq!(parse_enhanced(body, order), Ok(packet(bytes)));
                let options = &body[20 + len + padding(len)..];
                let options: Vec<_> = Options::new(options, order).collect();
                let value = comment.as_bytes();
                assert_eq!(options, [Ok(RawOption { code: 1, value })]);
            }
        }
    }

    #[test]
    fn an_interface_has_its_name_and_unit() {
        let interface = InterfaceDescription {
            link_type: LinkType::ETHERNET,
            snaplen: 1536,
            resolution: TimeResolution::NANO,
            offset_s: 0,
            fcs_bytes: None,
        };
        let order = ByteOrder::NATIVE;
        let mut place = [0; 128];
        let written = emit_named_interface(&mut place, order, &interface, "left");
        let block = &place[..written.expect("room")];
        let head = BlockHead::parse(block, order).expect("a head");
        let body = body(block, head).expect("a block");
        assert_eq!(InterfaceDescription::parse(body, order), Ok(interface));
        let first = Options::new(&body[8..], order).next();
        let value = b"left";
        assert_eq!(first, Some(Ok(RawOption { code: 2, value })));
    }

    #[test]
    fn without_room_there_is_an_error_and_long_text_is_cut() {
        let mut place = [0; 8192];
        let long = "ü".repeat(TEXT_BYTES_MAX);
        let whole = emit_commented(&mut place, ByteOrder::Big, &packet(b"x"), &long);
        assert!(whole.is_ok_and(|len| len < 4200));
        for room in 0..60 {
            let short = emit_commented(
                &mut place[..room],
                ByteOrder::Big,
                &packet(b"x"),
                "abcdefgh",
            );
            assert_eq!(short.is_err(), room < 52, "{room}: {short:?}");
        }
    }
}

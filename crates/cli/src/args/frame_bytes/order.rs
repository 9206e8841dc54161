//! In which order the bytes of words stand: that of the frame, or that of a little-endian machine.

/// EtherTypes that frames have in practice: what tells a frame from its words turned round.
const ETHER_TYPES: [u16; 18] = [
    0x0800, 0x0806, 0x8035, 0x8100, 0x86dd, 0x8808, 0x8809, 0x8847, 0x8848, 0x8863, 0x8864, 0x888e,
    0x88a8, 0x88cc, 0x88e5, 0x88f7, 0x9000, 0x9100,
];

/// Whether words read as they stand are no frame and no packet, and turned round are one.
pub(super) fn is_little(bytes: &[u8], lens: &[usize]) -> bool {
    let turns = lens.iter().all(|&len| len <= 8) && lens.iter().any(|&len| len > 1);
    turns && !is_plausible(bytes) && is_plausible(&turned(bytes, lens))
}

/// The bytes with those of each word turned round.
pub(super) fn turned(bytes: &[u8], lens: &[usize]) -> Vec<u8> {
    let (mut turned, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    for &len in lens {
        let (word, behind) = rest.split_at(len.min(rest.len()));
        turned.extend(word.iter().rev());
        rest = behind;
    }
    turned
}

/// Whether text may be what a dump shows of bytes: each character its byte, or a dot. Blanks at its
/// ends may be missing.
pub(super) fn shows(text: &str, bytes: &[u8]) -> bool {
    text.is_empty() || covered(text, bytes).any(|shown| agrees(text, shown))
}

/// Whether text is as long as what a dump shows of bytes.
pub(super) fn covers(text: &str, bytes: &[u8]) -> bool {
    text.is_empty() || covered(text, bytes).next().is_some()
}

/// The bytes that text may stand for: all but blanks at the ends.
fn covered<'a>(text: &str, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let len = text.chars().count();
    let missing = bytes.len().checked_sub(len);
    let starts = missing.map_or(0..0, |missing| 0..missing + 1);
    let is_blank = |bytes: &[u8]| bytes.iter().all(|byte| *byte == b' ');
    starts.filter_map(move |at| {
        let (shown, behind) = bytes[at..].split_at(len);
        (is_blank(&bytes[..at]) && is_blank(behind)).then_some(shown)
    })
}

fn agrees(text: &str, shown: &[u8]) -> bool {
    let mut pairs = text.chars().zip(shown);
    pairs.all(|(char, byte)| char == '.' || char == char::from(*byte))
}

/// Whether text is what a dump shows of bytes, and some character of it says so.
pub(super) fn proves(text: &str, bytes: &[u8]) -> bool {
    shows(text, bytes)
        && text
            .chars()
            .any(|char| char.is_ascii_graphic() && char != '.')
}

fn is_plausible(bytes: &[u8]) -> bool {
    is_frame(bytes) || is_packet(bytes)
}

fn is_frame(bytes: &[u8]) -> bool {
    let word = |at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let version = bytes.get(14).map(|byte| byte >> 4);
    match word(12) {
        Some(0x0800) => version == Some(4),
        Some(0x86dd) => version == Some(6),
        Some(ether_type) => ETHER_TYPES.contains(&ether_type),
        None => false,
    }
}

/// An IPv4 header whose checksum agrees, or an IPv6 packet whose length does.
fn is_packet(bytes: &[u8]) -> bool {
    match bytes.first().map(|byte| byte >> 4) {
        Some(4) => {
            let len = usize::from(bytes[0] & 15) * 4;
            let header = bytes.get(..len).filter(|_| len >= 20);
            header.is_some_and(|header| wire::checksum::ones_complement(header) == 0xffff)
        }
        Some(6) => bytes.get(4..6).is_some_and(|len| {
            usize::from(u16::from_be_bytes([len[0], len[1]])) + 40 == bytes.len()
        }),
        _ => false,
    }
}

//! A frame that is typed: pairs of hexadecimal digits, or what programs print of frames.
//!
//! What is printed is read only where nothing is left to guess: offsets agree with the bytes, words
//! of several bytes are in the order of the frame. All else is refused by what it is.

mod dump;
mod order;
#[cfg(test)]
mod tests;

/// Most bytes of a frame that is typed: more than any frame has.
pub(super) const HEX_BYTES_MAX: usize = 1 << 16;

const WRONG: &str = "no frame: write its bytes as pairs of hexadecimal digits, or pcap:FILE:N";
const UNLIKE: &str = "no frame: its lines begin with offsets that are not those of the bytes in \
                      front; give one frame whole, its first offset 0";
const JOINED: &str = "no frame: a dump of several lines in one; keep the ends of its lines (in a \
                      shell: \"$(...)\" in quotes)";
const WORDS: &str = "no frame: words of two bytes or more in the order of a machine; print single \
                     bytes (xxd, hexdump -C)";
const LITTLE: &str = "no frame: words in little-endian order (xxd -e); print single bytes (xxd, \
                      hexdump -C)";
const NUMBERS: &str = "no frame: its numbers are no pairs of hexadecimal digits; print bytes so \
                       (xxd, hexdump -C, od -A x -t x1)";
const LEFT_OUT: &str = "no frame: lines of it are left out (*), and nothing says how many; print \
                        all (od -v, hexdump -v)";
const TOO_LONG: &str = "no frame: it has more than 65,536 bytes; leave out what is not of it";

/// Reads pairs of digits, with blanks, colons or dashes between them or not; or lines with an
/// offset in front and perhaps text behind, as `tshark -x`, `tcpdump -xx`, `xxd`, `hexdump -C` and
/// `od -t x1` print them.
pub(super) fn frame_bytes(text: &str) -> Result<Vec<u8>, &'static str> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let bytes = match dump::rows(&lines)? {
        Some(rows) => dump::bytes(&rows)?,
        None => pairs(&lines)?,
    };
    match bytes.len() {
        0 => Err(WRONG),
        1..=HEX_BYTES_MAX => Ok(bytes),
        _ => Err(TOO_LONG),
    }
}

/// Pairs of digits in lines without offsets.
fn pairs(lines: &[&str]) -> Result<Vec<u8>, &'static str> {
    let words = || lines.iter().flat_map(|line| line.split_whitespace());
    if words().any(|word| dump::offset(word).is_some_and(|offset| offset.marked)) {
        return Err(JOINED);
    }
    if lines.contains(&"*") {
        return Err(LEFT_OUT);
    }
    if lines.iter().any(|line| has_offset(line)) {
        return Err(WORDS);
    }
    if are_octal(&lines.join(" ")) {
        return Err(NUMBERS);
    }
    let (mut bytes, mut lens) = (Vec::new(), Vec::new());
    for word in words() {
        let before = bytes.len();
        for part in word.split([':', '-']) {
            bytes.extend(pairs_of(part).ok_or(WRONG)?);
        }
        if bytes.len() > HEX_BYTES_MAX {
            return Err(TOO_LONG);
        }
        lens.push(bytes.len() - before);
    }
    match order::is_little(&bytes, &lens) {
        true => Err(WORDS),
        false => Ok(bytes),
    }
}

/// Whether a line begins with a word of another length than those behind, which are of one length:
/// the offset that `od` prints in front of words.
fn has_offset(line: &str) -> bool {
    let lens: Vec<usize> = line.split_whitespace().map(str::len).collect();
    let [first @ 4..=8, words @ ..] = lens.as_slice() else {
        return false;
    };
    let is_zero = line.starts_with("0000 ") || line.starts_with("00000");
    match words {
        [len, ..] if is_zero && *len >= 4 && len != first => true,
        [len, .., last] => {
            let alike = words[..words.len() - 1].iter().all(|word| word == len);
            alike && *len >= 4 && len != first && last <= len
        }
        [len] => *len >= 8 && len > first,
        [] => false,
    }
}

/// Words of two bytes as `od` prints them unless told otherwise: six octal digits.
fn are_octal(text: &str) -> bool {
    let is_word = |word: &str| {
        word.len() == 6
            && word.starts_with(['0', '1'])
            && word.bytes().all(|digit| matches!(digit, b'0'..=b'7'))
    };
    text.split_whitespace().count() > 1 && text.split_whitespace().all(is_word)
}

/// The bytes of a word of digits; `None` where it is none.
fn pairs_of(word: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    word.as_bytes().chunks(2).map(byte).collect()
}

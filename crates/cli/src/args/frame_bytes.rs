//! A frame that is typed: pairs of hexadecimal digits, or what programs print of frames.

/// Most bytes of a frame that is typed: more than any frame has.
pub(super) const HEX_BYTES_MAX: usize = 1 << 16;

const WRONG: &str = "no frame: write its bytes as pairs of hexadecimal digits, or pcap:FILE:N";
const UNLIKE: &str = "no frame: its lines begin with offsets that are not those of the bytes in \
                      front; give one frame whole, with offsets in hexadecimal";
const WORDS: &str = "no frame: words of two bytes in the order of a machine; print single bytes \
                     (xxd, hexdump -C)";
const TOO_LONG: &str = "no frame: it has more than 65,536 bytes; leave out what is not of it";

/// Reads pairs of digits, with blanks, colons or dashes between them or not; or lines with an
/// offset in front and perhaps text behind, as `tshark -x`, `tcpdump -xx`, `xxd` and `hexdump -C`
/// print them.
pub(super) fn frame_bytes(text: &str) -> Result<Vec<u8>, &'static str> {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let bytes = match dump(&lines) {
        Some(rows) => dumped(&rows)?,
        None => pairs(text)?,
    };
    match bytes.len() {
        0 => Err(WRONG),
        1..=HEX_BYTES_MAX => Ok(bytes),
        _ => Err(TOO_LONG),
    }
}

fn pairs(text: &str) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::new();
    for part in text.split([' ', ':', '-', '\n', '\r', '\t']) {
        bytes.extend(pairs_of(part).ok_or(WRONG)?);
        if bytes.len() > HEX_BYTES_MAX {
            return Err(TOO_LONG);
        }
    }
    Ok(bytes)
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

/// A line of a dump.
struct Row<'a> {
    offset: usize,
    /// A colon stands behind it.
    marked: bool,
    rest: &'a str,
}

impl<'a> Row<'a> {
    /// Four digits or more at the beginning, with or without `0x` in front and a colon behind.
    fn read(line: &'a str) -> Option<Self> {
        let (first, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let digits = first.strip_suffix(':');
        let marked = digits.is_some();
        let digits = digits.unwrap_or(first);
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        let is_offset = (4..=8).contains(&digits.len());
        let offset = usize::from_str_radix(digits, 16)
            .ok()
            .filter(|_| is_offset)?;
        Some(Self {
            offset,
            marked,
            rest: rest.trim_start(),
        })
    }

    fn words(&self) -> impl Iterator<Item = &'a str> {
        self.rest.split([' ', '\t']).filter(|word| !word.is_empty())
    }
}

/// The lines of a dump, if the text is one: each begins with an offset, the first with 0 and those
/// behind with more. Before the first, `tcpdump` says what the packet is.
fn dump<'a>(lines: &[&'a str]) -> Option<Vec<Row<'a>>> {
    let is_tcpdump = |line: &&str| line.starts_with("0x");
    let from = lines.iter().position(is_tcpdump).unwrap_or(0);
    let rows: Vec<Row<'_>> = lines[from..]
        .iter()
        .map(|line| Row::read(line))
        .collect::<Option<_>>()?;
    let first = rows.first()?;
    if first.offset != 0 {
        return None;
    }
    // In front of single bytes four digits are no bytes; in front of words they may be.
    let alone = first.words().next().is_some_and(|word| word.len() == 2);
    let steps = rows
        .get(1)
        .is_some_and(|second| second.offset != 0 && second.offset <= 64);
    (first.marked || alone || steps).then_some(rows)
}

fn dumped(rows: &[Row<'_>]) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        if row.offset != bytes.len() {
            return Err(UNLIKE);
        }
        if !row.marked && row.words().next().is_some_and(|word| word.len() > 2) {
            return Err(WORDS);
        }
        match rows.get(number + 1) {
            Some(next) => {
                let wanted = next.offset.checked_sub(row.offset);
                let wanted = wanted.filter(|&wanted| wanted > 0).ok_or(UNLIKE)?;
                bytes.extend(row_of(row, wanted).ok_or(UNLIKE)?);
            }
            None => bytes.extend(last_row(row).ok_or(WRONG)?),
        }
        if bytes.len() > HEX_BYTES_MAX {
            return Err(TOO_LONG);
        }
    }
    Ok(bytes)
}

/// As many bytes as the offset of the next line says; what is behind them, and behind more than one
/// blank, is text.
fn row_of(row: &Row<'_>, wanted: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = row.rest;
    while bytes.len() < wanted {
        rest = rest.trim_start();
        let end = rest.find([' ', '\t']).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        bytes.extend(pairs_of(word).filter(|word| !word.is_empty())?);
        rest = behind;
    }
    let is_text = rest.trim_start().is_empty() || rest.starts_with("  ");
    (bytes.len() == wanted && is_text).then_some(bytes)
}

/// The bytes of the last line, up to a bar or to more than one blank: text is behind it.
fn last_row(row: &Row<'_>) -> Option<Vec<u8>> {
    let bytes = match row.rest.split_once('|') {
        Some((bytes, _)) => bytes,
        None => row.rest.split("  ").next()?,
    };
    let words = bytes.split([' ', '\t']).map(pairs_of);
    Some(words.collect::<Option<Vec<_>>>()?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 35 bytes, of which 0x61 to 0x66 are letters that are digits, too.
    fn frame() -> Vec<u8> {
        let head = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
        let text = *b"abcdefabcdefabcd";
        [&head[..], &text, b"abc"].concat()
    }

    #[test]
    fn dumps_of_programs_are_the_bytes_in_them() {
        for (program, text) in [
            (
                "tshark -x",
                "0000  02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00   ..............E.\n\
                 0010  61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64   abcdefabcdefabcd\n\
                 0020  61 62 63                                          abc\n",
            ),
            (
                "Wireshark",
                "0000   02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00\r\n\
                 0010   61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64\r\n\
                 0020   61 62 63\r\n",
            ),
            (
                "tcpdump -xx",
                "12:00:00.000000 IP 192.0.2.1.1 > 198.51.100.2.2: UDP, length 20\n\
                 \t0x0000:  0200 0000 0001 0200 0000 0002 0800 4500\n\
                 \t0x0010:  6162 6364 6566 6162 6364 6566 6162 6364\n\
                 \t0x0020:  6162 63",
            ),
            (
                "tcpdump -XX",
                "\t0x0000:  0200 0000 0001 0200 0000 0002 0800 4500  ..............E.\n\
                 \t0x0010:  6162 6364 6566 6162 6364 6566 6162 6364  abcdefabcdefabcd\n\
                 \t0x0020:  6162 63                                  abc",
            ),
            (
                "xxd",
                "00000000: 0200 0000 0001 0200 0000 0002 0800 4500  ..............E.\n\
                 00000010: 6162 6364 6566 6162 6364 6566 6162 6364  abcdefabcdefabcd\n\
                 00000020: 6162 63                                  abc\n",
            ),
            (
                "hexdump -C",
                "00000000  02 00 00 00 00 01 02 00  00 00 00 02 08 00 45 00  |..............E.|\n\
                 00000010  61 62 63 64 65 66 61 62  63 64 65 66 61 62 63 64  |abcdefabcdefabcd|\n\
                 00000020  61 62 63                                          |abc|\n\
                 00000023\n",
            ),
            (
                "od -A x -t x1",
                "000000 02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00\n\
                 000010 61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64\n\
                 000020 61 62 63\n\
                 000023\n",
            ),
            (
                "xxd -p",
                "020000000001020000000002080045006162636465666162636465666162\n6364616263\n",
            ),
            (
                "lines of pairs",
                "02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00\n\
                 61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64 61 62 63",
            ),
        ] {
            assert_eq!(frame_bytes(text), Ok(frame()), "{program}");
        }
        let line = "0000  02 00 00 00 00 01";
        assert_eq!(frame_bytes(line), Ok(frame()[..6].to_vec()));
        let groups = "0000 0000 0001 0200";
        assert_eq!(frame_bytes(groups), Ok(vec![0, 0, 0, 0, 0, 1, 2, 0]));
    }

    #[test]
    fn what_could_be_misread_is_refused() {
        for (text, why) in [
            // hexdump and od -x: the words of a machine with little-endian order.
            (
                "0000000 0002 0000 0100 0002 0000 0200 0008 0045\n0000010 6261 6463",
                WORDS,
            ),
            (
                "000000 0002 0000 0100 0002 0000 0200 0008 0045\n000010 6261 6463",
                WORDS,
            ),
            // od -t x1: offsets in octal.
            (
                "0000000 02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00\n\
                 0000020 61 62 63\n0000023",
                UNLIKE,
            ),
            // Two frames, a line that is missing, one that is short.
            ("0x0000:  0200 0000\n0x0000:  0200 0000", UNLIKE),
            ("0000  02 00 00 00\n0010  02 00", UNLIKE),
            ("0000  02 00 00 00 00 01 02\n0006  02 00", UNLIKE),
            ("02 00 00 00  ....", WRONG),
            ("0x02, 0x00", WRONG),
        ] {
            assert_eq!(frame_bytes(text), Err(why), "{text}");
        }
    }
}

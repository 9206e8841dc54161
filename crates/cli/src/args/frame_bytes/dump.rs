//! A dump: lines of an offset, the bytes there, and perhaps what they are as text.

use super::{HEX_BYTES_MAX, JOINED, LITTLE, NUMBERS, TOO_LONG, UNLIKE, WORDS, order, pairs_of};

/// Digits of an offset: eight at most, four at least where nothing marks it.
const DIGITS: std::ops::RangeInclusive<usize> = 4..=8;
const MARKED_DIGITS: std::ops::RangeInclusive<usize> = 2..=8;

/// What a line begins with.
#[derive(Clone, Copy)]
pub(super) struct Offset<'a> {
    digits: &'a str,
    /// A colon stands behind it.
    pub(super) marked: bool,
    /// `0x` stands in front, as tcpdump prints it: its words are in the order of the frame.
    prefixed: bool,
}

impl Offset<'_> {
    fn value(&self, radix: u32) -> Option<usize> {
        usize::from_str_radix(self.digits, radix).ok()
    }

    fn is_zero(&self) -> bool {
        self.digits.bytes().all(|digit| digit == b'0')
    }
}

/// The offset that a word is, if it may be one.
pub(super) fn offset(word: &str) -> Option<Offset<'_>> {
    let digits = word.strip_suffix(':');
    let marked = digits.is_some();
    let digits = digits.unwrap_or(word);
    let bare = digits.strip_prefix("0x").unwrap_or(digits);
    let lens = if marked { MARKED_DIGITS } else { DIGITS };
    let is_offset = lens.contains(&bare.len()) && bare.bytes().all(|b| b.is_ascii_hexdigit());
    is_offset.then_some(Offset {
        digits: bare,
        marked,
        prefixed: bare.len() < digits.len(),
    })
}

/// A line of a dump.
pub(super) enum Row<'a> {
    /// An offset and what is behind it.
    Bytes(Offset<'a>, &'a str),
    /// `*`: as many lines like the one before as fit.
    Repeat,
}

impl<'a> Row<'a> {
    fn read(line: &'a str) -> Option<Self> {
        if line == "*" {
            return Some(Self::Repeat);
        }
        let (first, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        offset(first).map(|offset| Self::Bytes(offset, rest))
    }
}

/// The lines of a dump, if the text is one: each begins with an offset, the first with 0 and those
/// behind with more. Before the first, `tcpdump` says what the packet is.
pub(super) fn rows<'a>(lines: &[&'a str]) -> Result<Option<Vec<Row<'a>>>, &'static str> {
    let is_tcpdump = |line: &&str| line.starts_with("0x");
    let from = lines.iter().position(is_tcpdump).unwrap_or(0);
    let rows = lines[from..].iter().map(|line| Row::read(line));
    let Some(rows) = rows.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let Some(Row::Bytes(first, rest)) = rows.first() else {
        return Ok(None);
    };
    // In front of single bytes four digits are no bytes; in front of words they may be.
    let alone = rest
        .split_whitespace()
        .next()
        .is_some_and(|word| word.len() == 2)
        && rest
            .split_whitespace()
            .nth(1)
            .is_none_or(|word| word.len() == 2);
    let steps = match rows.get(1) {
        Some(Row::Bytes(second, _)) => matches!(second.value(16), Some(1..=64)),
        Some(Row::Repeat) => true,
        None => false,
    };
    match (first.marked || alone, first.is_zero()) {
        (true, false) => Err(UNLIKE),
        (false, true) if !steps => Ok(None),
        (false, false) => Ok(None),
        _ => Ok(Some(rows)),
    }
}

/// The bytes of a dump. Offsets are hexadecimal, or what `od` prints: octal or decimal.
pub(super) fn bytes(rows: &[Row<'_>]) -> Result<Vec<u8>, &'static str> {
    let read = |radix| {
        let mut dump = Dump::default();
        let whole = dump.read(rows, radix);
        dump.ordered(whole)
    };
    let hexadecimal: Result<Vec<u8>, &'static str> = read(16);
    match hexadecimal {
        Err(UNLIKE) => read(8).or_else(|_| read(10)).or(hexadecimal),
        read => read,
    }
}

/// What was read of a dump.
#[derive(Default)]
struct Dump {
    bytes: Vec<u8>,
    /// Bytes of each word.
    lens: Vec<usize>,
    /// Bytes and words of the line before.
    row: (usize, usize),
    /// Whether a character of the text is not the byte that it should be, and whether it is not
    /// when words are turned round.
    contradicted: bool,
    little_contradicted: bool,
    /// Words are in an order that is not known: neither single bytes nor tcpdump's.
    of_a_machine: bool,
}

/// A line's words, and the text behind.
struct Words<'a> {
    bytes: Vec<u8>,
    lens: Vec<usize>,
    text: &'a str,
}

impl Dump {
    fn read(&mut self, rows: &[Row<'_>], radix: u32) -> Result<(), &'static str> {
        let offset_of = |row: &Row<'_>| match row {
            Row::Bytes(offset, _) => offset.value(radix),
            Row::Repeat => None,
        };
        for (number, row) in rows.iter().enumerate() {
            let next = rows.get(number + 1);
            match row {
                Row::Bytes(offset, rest) => {
                    if offset.value(radix) != Some(self.bytes.len()) {
                        return Err(UNLIKE);
                    }
                    let end = next.and_then(offset_of);
                    let wanted = end.map(|end| end.checked_sub(self.bytes.len()).ok_or(UNLIKE));
                    let words = words(rest, wanted.transpose()?, offset.marked)?;
                    self.add(words, offset);
                }
                Row::Repeat => {
                    let end = next.and_then(offset_of).ok_or(UNLIKE)?;
                    self.repeat(end)?;
                }
            }
            if self.bytes.len() > HEX_BYTES_MAX {
                return Err(TOO_LONG);
            }
        }
        Ok(())
    }

    fn add(&mut self, words: Words<'_>, offset: &Offset<'_>) {
        self.of_a_machine |= !offset.prefixed && words.lens.iter().any(|&len| len > 1);
        self.contradicted |= !order::shows(words.text, &words.bytes);
        let little = order::turned(&words.bytes, &words.lens);
        self.little_contradicted |= !order::shows(words.text, &little);
        self.row = (words.bytes.len(), words.lens.len());
        self.bytes.extend(words.bytes);
        self.lens.extend(words.lens);
    }

    /// Appends lines like the one before, up to `end`.
    fn repeat(&mut self, end: usize) -> Result<(), &'static str> {
        let missing = end.checked_sub(self.bytes.len()).ok_or(UNLIKE)?;
        let (len, words) = self.row;
        if len == 0 || missing % len != 0 || end > HEX_BYTES_MAX {
            return Err(UNLIKE);
        }
        let (bytes, lens) = (self.bytes.len() - len, self.lens.len() - words);
        for _ in 0..missing / len {
            self.bytes.extend_from_within(bytes..bytes + len);
            self.lens.extend_from_within(lens..lens + words);
        }
        Ok(())
    }

    /// The bytes, if the whole could be read, unless their words are turned round.
    fn ordered(self, whole: Result<(), &'static str>) -> Result<Vec<u8>, &'static str> {
        let is_little = match (self.contradicted, self.little_contradicted) {
            (true, false) => true,
            (false, true) => false,
            _ => order::is_little(&self.bytes, &self.lens),
        };
        match self.of_a_machine && is_little {
            true => Err(LITTLE),
            false => whole.map(|()| self.bytes),
        }
    }
}

/// The words of a line, `wanted` bytes where the offset of the next line says so. Behind more than
/// one blank, a bar or a `>` stands text, a character a byte.
fn words(line: &str, wanted: Option<usize>, marked: bool) -> Result<Words<'_>, &'static str> {
    let (mut bytes, mut lens) = (Vec::new(), Vec::new());
    let (mut rest, mut first_len) = (line.trim_start(), 0);
    let mut gap = 1;
    while !rest.is_empty() && !rest.starts_with(['|', '>']) {
        if wanted == Some(bytes.len()) || (gap > 1 && begins_text(rest, &bytes, wanted)) {
            break;
        }
        if gap > 1 && ![0, 8].contains(&bytes.len()) {
            return Err(UNLIKE);
        }
        let (word, behind) = rest.split_at(rest.find([' ', '\t']).unwrap_or(rest.len()));
        let Some(read) = pairs_of(word) else {
            let joined = offset(word).is_some_and(|offset| offset.marked);
            return Err(if joined { JOINED } else { NUMBERS });
        };
        if first_len != 0 && word.len() > first_len {
            return Err(JOINED);
        }
        first_len = word.len();
        lens.push(read.len());
        bytes.extend(read);
        rest = behind.trim_start();
        gap = behind.len() - rest.len();
    }
    if lens.len() > 1 && is_binary(&line[..line.len() - rest.len()], rest) {
        return Err(NUMBERS);
    }
    if !marked && lens.iter().any(|&len| len > 1) {
        return Err(WORDS);
    }
    if wanted.is_some_and(|wanted| wanted != bytes.len()) || (gap < 2 && !is_framed(rest)) {
        return Err(UNLIKE);
    }
    let turned = order::turned(&bytes, &lens);
    let covers = |text: &&str| order::covers(text, &bytes) || order::covers(text, &turned);
    match [framed(rest), Some(rest)]
        .into_iter()
        .flatten()
        .find(covers)
    {
        Some(text) => Ok(Words { bytes, lens, text }),
        None if rest.split_whitespace().any(|word| offset(word).is_some()) => Err(JOINED),
        None => Err(UNLIKE),
    }
}

/// What stands within bars or angle brackets.
fn framed(rest: &str) -> Option<&str> {
    let bars = rest
        .strip_prefix('|')
        .and_then(|rest| rest.strip_suffix('|'));
    bars.or_else(|| rest.strip_prefix('>')?.strip_suffix('<'))
}

/// Words of eight bits each, as `xxd -b` prints bytes, and text with a character a word.
fn is_binary(words: &str, text: &str) -> bool {
    let is_bit = |digit: u8| matches!(digit, b'0' | b'1');
    let is_byte = |word: &str| word.len() == 8 && word.bytes().all(is_bit);
    let shown = match text.chars().count() {
        0 => words.contains('1'),
        count => count <= words.split_whitespace().count(),
    };
    shown && words.split_whitespace().all(is_byte)
}

/// Nothing, or text within bars or angle brackets.
fn is_framed(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['|', '>'])
}

/// Whether text begins here, behind several blanks: not where bytes are still wanted, nor in the
/// middle of a line, where hexdump leaves two.
fn begins_text(rest: &str, bytes: &[u8], wanted: Option<usize>) -> bool {
    if wanted.is_some() || bytes.is_empty() {
        return false;
    }
    let end = rest.find("  ").or(rest.find('|')).unwrap_or(rest.len());
    let is_byte = |word: &str| word.len() == 2 && pairs_of(word).is_some();
    let goes_on = bytes.len() == 8 && rest[..end].split_whitespace().all(is_byte);
    !goes_on || order::proves(&rest[..end], bytes)
}

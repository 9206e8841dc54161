//! One record of columns: its fields, and what stands between them.

use crate::fault::Fault;
use std::borrow::Cow;

/// What stands between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// One byte: a comma, a semicolon, a tab or a bar.
    Byte(u8),
    /// Blanks, however many. Quotes mean nothing.
    Blanks,
}

/// Looked for in this order where two of them are as frequent.
const BYTES: [u8; 4] = [b',', b'\t', b';', b'|'];

/// A field without its quotes.
pub(crate) type Field<'a> = Cow<'a, [u8]>;

/// Why a record, or what is there of it, gives no fields.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Its last field is quoted and does not end.
    Open,
    /// It is a bad line.
    Bad(Fault),
}

impl Separator {
    /// What stands between the fields of `record`: the most frequent outside of quotes. A record
    /// of one field has commas.
    pub(crate) fn of(record: &[u8]) -> Self {
        let mut counts = [0; BYTES.len()];
        let mut quoted = false;
        for byte in record {
            quoted ^= *byte == b'"';
            let place = BYTES.iter().position(|separator| separator == byte);
            if let (false, Some(place)) = (quoted, place) {
                counts[place] += 1;
            }
        }
        let most = counts.iter().max().copied().unwrap_or_default();
        let place = counts.iter().position(|&count| count == most && most > 0);
        match place {
            Some(place) => Self::Byte(BYTES[place]),
            None if has_two_words(record) => Self::Blanks,
            None => Self::Byte(b','),
        }
    }

    /// All fields of `record`.
    pub(crate) fn fields(self, record: &[u8]) -> Result<Vec<Field<'_>>, Broken> {
        let byte = match self {
            Self::Byte(byte) => byte,
            Self::Blanks => {
                let words = record.split(u8::is_ascii_whitespace);
                let words = words.filter(|word| !word.is_empty());
                return Ok(words.map(Cow::Borrowed).collect());
            }
        };
        let mut fields = Vec::new();
        let mut rest = Some(record);
        while let Some(from) = rest {
            let (field, after) = split_field(from, byte)?;
            fields.push(field);
            rest = after;
        }
        Ok(fields)
    }
}

/// Two words with blanks between, and no quotes, which may hold blanks.
fn has_two_words(record: &[u8]) -> bool {
    !record.contains(&b'"') && record.trim_ascii().iter().any(u8::is_ascii_whitespace)
}

/// The first field and what follows its separator.
fn split_field(text: &[u8], separator: u8) -> Result<(Field<'_>, Option<&[u8]>), Broken> {
    let wrong = Broken::Bad(Fault::CsvQuotes);
    // A tab is a blank, too, and may be what stands between.
    let blanks = text.iter().take_while(|&&byte| is_padding(byte, separator));
    if let Some(quoted) = text[blanks.count()..].strip_prefix(b"\"") {
        let (field, rest) = split_quoted(quoted).ok_or(Broken::Open)?;
        let blanks = rest.iter().take_while(|&&byte| is_padding(byte, separator));
        return match &rest[blanks.count()..] {
            [] => Ok((field, None)),
            [byte, rest @ ..] if *byte == separator => Ok((field, Some(rest))),
            _ => Err(wrong),
        };
    }
    let end = text.iter().position(|&byte| byte == separator);
    let field = text[..end.unwrap_or(text.len())].trim_ascii();
    if field.contains(&b'"') {
        return Err(wrong);
    }
    Ok((Cow::Borrowed(field), end.map(|end| &text[end + 1..])))
}

fn is_padding(byte: u8, separator: u8) -> bool {
    byte.is_ascii_whitespace() && byte != separator
}

/// The field up to its closing quote, two quotes being one, and what follows the quote; `None`
/// when it does not close.
fn split_quoted(text: &[u8]) -> Option<(Field<'_>, &[u8])> {
    let mut end = text.iter().position(|&byte| byte == b'"')?;
    if text.get(end + 1) != Some(&b'"') {
        return Some((Cow::Borrowed(text[..end].trim_ascii()), &text[end + 1..]));
    }
    let mut field = Vec::new();
    let mut start = 0;
    while text.get(end + 1) == Some(&b'"') {
        field.extend_from_slice(&text[start..=end]);
        start = end + 2;
        end = start + text[start..].iter().position(|&byte| byte == b'"')?;
    }
    field.extend_from_slice(&text[start..end]);
    Some((Cow::Owned(field), &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields_by(separator: Separator, line: &str) -> Vec<String> {
        match separator.fields(line.as_bytes()) {
            Ok(fields) => fields
                .iter()
                .map(|field| String::from_utf8_lossy(field).into_owned())
                .collect(),
            Err(broken) => vec![format!("{broken:?}")],
        }
    }

    fn fields(line: &str) -> Vec<String> {
        fields_by(Separator::Byte(b','), line)
    }

    #[test]
    fn fields_between_commas() {
        assert_eq!(fields("a,b,c"), ["a", "b", "c"]);
        assert_eq!(fields(" a , b,, "), ["a", "b", "", ""]);
        assert_eq!(fields("\"a,b\",\"c\" , \"d\""), ["a,b", "c", "d"]);
        let quotes = "\"say \"\"hi\"\"\",\"\"\"\",\"\"";
        assert_eq!(fields(quotes), ["say \"hi\"", "\"", ""]);
        assert_eq!(fields("a,"), ["a", ""]);
    }

    #[test]
    fn quotes_that_are_wrong() {
        for line in ["\"a\"b", "a\"b", "x,\"a\" b,c", "a\",\"b"] {
            assert_eq!(fields(line), ["Bad(CsvQuotes)"], "{line}");
        }
        for line in ["\"a", "x,\"a", "\"a\"\"", "\"", "\"a\n,b"] {
            assert_eq!(fields(line), ["Open"], "{line}");
        }
    }

    #[test]
    fn what_stands_between_is_what_most_stand_between() {
        for (line, expected) in [
            ("a,b", &["a", "b"][..]),
            ("a\tb c\t\td", &["a", "b c", "", "d"]),
            ("\ta", &["", "a"]),
            ("\"a\"\t\"b\"\t", &["a", "b", ""]),
            ("a;b, c;d", &["a", "b, c", "d"]),
            ("\"a,b,c\";d", &["a,b,c", "d"]),
            ("a|b|c", &["a", "b", "c"]),
            ("  a  b\u{b}c ", &["a", "b\u{b}c"]),
            ("a", &["a"]),
            ("\"a b\"", &["a b"]),
        ] {
            let separator = Separator::of(line.as_bytes());
            assert_eq!(fields_by(separator, line), expected, "{line:?}");
        }
    }
}

//! Which columns of a text hold entries, and how two of them make one.

use crate::wording::Wording;
use std::fmt;
use std::str::FromStr;

/// The last column that can be asked for.
const COLUMN_MAX: u16 = 4096;

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its place, the first being 1.
    Number(u16),
    /// By its heading in the first line.
    Named(String),
}

/// The columns that hold an entry: as they were asked for (`C` is [`Column`]), or by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns<C = Column> {
    /// An address, a network or a range in one column: `2`, `src_ip`.
    One(C),
    /// The first address of a range in one column, the last in another: `1-2`.
    Range(C, C),
    /// An address in one column, its prefix length or netmask in another: `1/2`.
    Network(C, C),
    /// An entry in every column: `all`.
    All,
}

impl<C> Columns<C> {
    /// The same columns by what `number` makes of each.
    pub(crate) fn map<D, E>(
        &self,
        mut number: impl FnMut(&C) -> Result<D, E>,
    ) -> Result<Columns<D>, E> {
        Ok(match self {
            Self::One(column) => Columns::One(number(column)?),
            Self::Range(a, b) => Columns::Range(number(a)?, number(b)?),
            Self::Network(a, b) => Columns::Network(number(a)?, number(b)?),
            Self::All => Columns::All,
        })
    }
}

impl Columns<u16> {
    /// The option that asks for these columns, and what it reads.
    pub(crate) fn option(self, wording: Wording) -> String {
        match self {
            Self::One(_) => format!("{} reads it", wording.column(self)),
            Self::Range(..) => {
                let (range, each) = (wording.columns(self), wording.columns("all"));
                format!("{range} reads the range, {each} each of them")
            }
            Self::Network(..) => format!("{} reads the network", wording.columns(self)),
            Self::All => format!("{} reads an entry in every column", wording.columns(self)),
        }
    }
}

impl FromStr for Column {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if is_number(text) {
            let number = text.parse().ok();
            let number = number.filter(|number| (1..=COLUMN_MAX).contains(number));
            return number.map(Self::Number).ok_or_else(|| {
                format!("there is no column {text}: columns are counted from 1 to {COLUMN_MAX}")
            });
        }
        match text.split_once(['-', '/']) {
            Some((a, b)) if is_number(a) && is_number(b) => Err(format!(
                "{text} is two columns: write --columns {text} (columns = \"{text}\")"
            )),
            _ if text.trim().is_empty() => Err("a column is a number or a heading".to_owned()),
            _ => Ok(Self::Named(text.trim().to_owned())),
        }
    }
}

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let Some(at) = text.find(['-', '/']) else {
            return text.parse().map(Self::One);
        };
        let (first, second) = (&text[..at], &text[at + 1..]);
        if second.contains(['-', '/']) {
            return Err(format!(
                "{text} is not two columns: write their numbers, as in 1-2 or 1/2"
            ));
        }
        let (first, second) = (first.parse()?, second.parse()?);
        if first == second {
            return Err(format!("{text} is one column twice: write two columns"));
        }
        Ok(match text.as_bytes()[at] {
            b'-' => Self::Range(first, second),
            _ => Self::Network(first, second),
        })
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Named(name) => name.fmt(f),
        }
    }
}

impl<C: fmt::Display> fmt::Display for Columns<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(column) => column.fmt(f),
            Self::Range(first, last) => write!(f, "{first}-{last}"),
            Self::Network(address, length) => write!(f, "{address}/{length}"),
            Self::All => f.write_str("all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "1",
            "4096",
            "src_ip",
            "1-2",
            "2-1",
            "1/2",
            "start_ip-end_ip",
            "all",
        ] {
            let columns: Columns = text.parse().unwrap();
            assert_eq!(columns.to_string(), text);
        }
        assert_eq!(
            "1/3".parse(),
            Ok(Columns::Network(Column::Number(1), Column::Number(3)))
        );
        assert_eq!("src-ip".parse(), Ok(Column::Named("src-ip".to_owned())));
        assert_eq!("all".parse(), Ok(Column::Named("all".to_owned())));
    }

    #[test]
    fn what_is_no_column_is_refused() {
        for text in [
            "",
            "0",
            "4097",
            "-",
            "1-",
            "/2",
            "1-1",
            "1-2-3",
            "a-b-c",
            "99999999999",
        ] {
            assert!(text.parse::<Columns>().is_err(), "{text}");
        }
        for (text, part) in [
            ("0", "counted from 1"),
            ("1-2", "--columns 1-2"),
            ("1/2", "columns = \"1/2\""),
            ("", "a number or a heading"),
        ] {
            let said = text.parse::<Column>().unwrap_err();
            assert!(said.contains(part), "{text}: {said}");
        }
    }
}

//! What the journal speaks of: changes of sets, as bytes.
//!
//! A record's payload is a sequence of operations. Each begins with a byte that says what it is.
//! Numbers are little-endian.
//!
//! | byte | then | means |
//! | --- | --- | --- |
//! | 1 | length (1), name | what follows is about this set |
//! | 2 | giver (1), since (8), expiry (8; 0 none), comment length (1), comment, entry | added |
//! | 3 | giver (1), entry | deleted, for a person from all who gave it |
//! | 4 | configured (1), live (1) | the set's action was changed |
//! | 5 | fingerprint (8; 0 none) | a list was loaded by force, or one that needed none |
//! | 6 | length (2; 0: no more), name, sum (4), bytes (8), at (8) | the list loaded by hand |
//! | 8 | as 6, then length (2), columns, length (2), JSON paths | the same, read by these |
//! | 7 | rule (4), count (1), each: sides (1), action (1), length (1), port | actions by port |
//!
//! An entry is a byte and what it takes: 4 or 6 an address (4 or 16 bytes), 14 or 16 a range (two
//! addresses). Times are milliseconds since 1970.

use crate::sets::SetName;
use list::{Columns, JsonPath};
use table::Range;
use table::live::{COMMENT_BYTES_MAX, Entry};

const SET: u8 = 1;
const ADD: u8 = 2;
const DELETE: u8 = 3;
const ACTION: u8 = 4;
const FORCED: u8 = 5;
const LIST: u8 = 6;
const ON: u8 = 7;
const LIST_READ_BY: u8 = 8;

/// What a list may be called, bytes; more is cut off.
const LIST_NAME_BYTES_MAX: usize = 4096;

const ADDRESS_V4: u8 = 4;
const ADDRESS_V6: u8 = 6;
const RANGE_V4: u8 = 14;
const RANGE_V6: u8 = 16;

/// A change of one set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// An entry was given.
    Add {
        /// Which.
        entry: Entry,
        /// Who gave it, by a number of the keeper's.
        giver: u8,
        /// Since when the set has it, milliseconds since 1970.
        since_ms: u64,
        /// When it goes by itself, milliseconds since 1970.
        expires_ms: Option<u64>,
        /// What was said of it.
        comment: Option<Box<str>>,
    },
    /// An entry was taken out.
    Delete {
        /// Which.
        entry: Entry,
        /// By whom.
        giver: u8,
    },
    /// What a hit does was changed.
    Action {
        /// What the configuration has.
        configured: u8,
        /// What holds.
        live: u8,
    },
    /// A list was loaded by force, which need not be forced again; none: one that needed no force.
    Forced {
        /// What the list is known by.
        fingerprint: Option<u64>,
    },
    /// The file part was replaced: by a list whose text is kept, or, none, by another. What was
    /// deleted from the list before is of no more account.
    List {
        /// Which.
        list: Option<KeptList>,
    },
    /// Actions for a side or a port that were changed live: all of them.
    On {
        /// What the rule of the configuration is known by.
        rule: u32,
        /// At most 255.
        on: Vec<On>,
    },
}

/// An action for a side or a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct On {
    /// 1 source, 2 destination, 3 both.
    pub sides: u8,
    /// The port's name, at most 255 bytes; none for all.
    pub port: Option<Box<str>>,
    /// The action, by its number.
    pub action: u8,
}

/// A list that was loaded by hand, whose text is kept beside the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptList {
    /// What it was called when it was loaded.
    pub name: Box<str>,
    /// CRC-32 of its text.
    pub crc32: u32,
    /// Bytes of its text.
    pub bytes: u64,
    /// When it was loaded, milliseconds since 1970.
    pub at_ms: u64,
    /// The columns that hold its entries, where it has columns.
    pub columns: Option<Columns>,
    /// Where in JSON they are.
    pub json_paths: Vec<JsonPath>,
}

impl KeptList {
    /// The columns and the paths as text; none where it is read as it is.
    fn read_by(&self) -> Option<[String; 2]> {
        // A heading may look like two columns.
        let columns = self.columns.as_ref().map(|columns| match columns {
            Columns::One(column) => format!("={column}"),
            columns => columns.to_string(),
        });
        let paths: Vec<String> = self.json_paths.iter().map(ToString::to_string).collect();
        let is_plain = columns.is_none() && paths.is_empty();
        (!is_plain).then(|| [columns.unwrap_or_default(), paths.join(", ")])
    }
}

/// Operations being put together.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    bytes: Vec<u8>,
    /// The set that the last operation was about.
    set: Option<SetName>,
}

impl Operations {
    /// Appends one. A comment is cut to what an entry may have.
    pub fn push(&mut self, set: &SetName, op: &Op) {
        if self.set.as_ref() != Some(set) {
            self.bytes.push(SET);
            self.bytes.push(set.as_str().len() as u8);
            self.bytes.extend_from_slice(set.as_str().as_bytes());
            self.set = Some(set.clone());
        }
        match op {
            Op::Add {
                entry,
                giver,
                since_ms,
                expires_ms,
                comment,
            } => {
                self.bytes.extend_from_slice(&[ADD, *giver]);
                self.bytes.extend_from_slice(&since_ms.to_le_bytes());
                let expires_ms = expires_ms.map_or(0, |ms| ms.max(1));
                self.bytes.extend_from_slice(&expires_ms.to_le_bytes());
                self.push_comment(comment.as_deref().unwrap_or_default());
                self.push_entry(*entry);
            }
            Op::Delete { entry, giver } => {
                self.bytes.extend_from_slice(&[DELETE, *giver]);
                self.push_entry(*entry);
            }
            Op::Action { configured, live } => {
                self.bytes.extend_from_slice(&[ACTION, *configured, *live]);
            }
            Op::Forced { fingerprint } => {
                self.bytes.push(FORCED);
                let fingerprint = fingerprint.unwrap_or(0).to_le_bytes();
                self.bytes.extend_from_slice(&fingerprint);
            }
            Op::List { list } => self.push_list(list.as_ref()),
            Op::On { rule, on } => self.push_on(*rule, on),
        }
    }

    fn push_on(&mut self, rule: u32, on: &[On]) {
        self.bytes.push(ON);
        self.bytes.extend_from_slice(&rule.to_le_bytes());
        // What cannot be named in full is not kept: half a name is another port's.
        let named = |on: &&On| on.port.as_ref().is_none_or(|port| port.len() <= 255);
        let on: Vec<&On> = on.iter().filter(named).take(255).collect();
        self.bytes.push(on.len() as u8);
        for one in on {
            let port = one.port.as_deref().unwrap_or_default();
            let head = [one.sides, one.action, port.len() as u8];
            self.bytes.extend_from_slice(&head);
            self.bytes.extend_from_slice(port.as_bytes());
        }
    }

    fn push_list(&mut self, list: Option<&KeptList>) {
        let read_by = list.and_then(KeptList::read_by);
        self.bytes.push(if read_by.is_some() {
            LIST_READ_BY
        } else {
            LIST
        });
        let name = list.map_or("", |list| &list.name);
        let most = name.len().min(LIST_NAME_BYTES_MAX);
        let end = (0..=most)
            .rfind(|&end| name.is_char_boundary(end))
            .unwrap_or(0);
        self.bytes.extend_from_slice(&(end as u16).to_le_bytes());
        self.bytes.extend_from_slice(&name.as_bytes()[..end]);
        if let Some(list) = list.filter(|_| end != 0) {
            self.bytes.extend_from_slice(&list.crc32.to_le_bytes());
            self.bytes.extend_from_slice(&list.bytes.to_le_bytes());
            self.bytes.extend_from_slice(&list.at_ms.to_le_bytes());
            for text in read_by.iter().flatten() {
                let length = u16::try_from(text.len()).unwrap_or(0);
                self.bytes.extend_from_slice(&length.to_le_bytes());
                self.bytes
                    .extend_from_slice(&text.as_bytes()[..usize::from(length)]);
            }
        }
    }

    fn push_comment(&mut self, comment: &str) {
        let mut end = comment.len().min(COMMENT_BYTES_MAX);
        while !comment.is_char_boundary(end) {
            end -= 1;
        }
        self.bytes.push(end as u8);
        self.bytes.extend_from_slice(&comment.as_bytes()[..end]);
    }

    fn push_entry(&mut self, entry: Entry) {
        match entry {
            Entry::V4(range) => {
                let is_single = range.first() == range.last();
                self.bytes
                    .push(if is_single { ADDRESS_V4 } else { RANGE_V4 });
                self.bytes.extend_from_slice(&range.first().to_le_bytes());
                if !is_single {
                    self.bytes.extend_from_slice(&range.last().to_le_bytes());
                }
            }
            Entry::V6(range) => {
                let is_single = range.first() == range.last();
                self.bytes
                    .push(if is_single { ADDRESS_V6 } else { RANGE_V6 });
                self.bytes.extend_from_slice(&range.first().to_le_bytes());
                if !is_single {
                    self.bytes.extend_from_slice(&range.last().to_le_bytes());
                }
            }
        }
    }

    /// The bytes so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.set = None;
    }

    /// True when nothing was put in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Reads operations back. Any bytes give operations or none: `None` where they mean nothing.
pub fn read(bytes: &[u8], tell: &mut dyn FnMut(&SetName, Op)) -> Option<()> {
    let mut rest = Rest(bytes);
    let mut set: Option<SetName> = None;
    while !rest.0.is_empty() {
        match rest.byte()? {
            SET => {
                let length = usize::from(rest.byte()?);
                let name = std::str::from_utf8(rest.take(length)?).ok()?;
                set = Some(SetName::new(name).ok()?);
            }
            kind => tell(set.as_ref()?, rest.op(kind)?),
        }
    }
    Some(())
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn op(&mut self, kind: u8) -> Option<Op> {
        match kind {
            ADD => {
                let (giver, since_ms, expires_ms) = (self.byte()?, self.number()?, self.number()?);
                let length = usize::from(self.byte()?);
                let comment = std::str::from_utf8(self.take(length)?).ok()?;
                Some(Op::Add {
                    giver,
                    since_ms,
                    expires_ms: (expires_ms != 0).then_some(expires_ms),
                    comment: (!comment.is_empty()).then(|| comment.into()),
                    entry: self.entry()?,
                })
            }
            DELETE => {
                let giver = self.byte()?;
                let entry = self.entry()?;
                Some(Op::Delete { entry, giver })
            }
            ACTION => {
                let (configured, live) = (self.byte()?, self.byte()?);
                Some(Op::Action { configured, live })
            }
            FORCED => {
                let fingerprint = Some(self.number()?).filter(|&number| number != 0);
                Some(Op::Forced { fingerprint })
            }
            LIST => {
                let list = self.list()?;
                Some(Op::List { list })
            }
            LIST_READ_BY => {
                let mut list = self.list()?;
                if let Some(list) = &mut list {
                    let columns = self.text()?;
                    list.columns = match columns {
                        "" => None,
                        columns => Some(match columns.strip_prefix('=') {
                            Some(column) => Columns::One(column.parse().ok()?),
                            None => columns.parse().ok()?,
                        }),
                    };
                    list.json_paths = match self.text()? {
                        "" => Vec::new(),
                        paths => JsonPath::parse_all(paths).ok()?,
                    };
                }
                Some(Op::List { list })
            }
            ON => {
                let rule = self.array().map(u32::from_le_bytes)?;
                let count = self.byte()?;
                let on = (0..count).map(|_| self.on());
                let on = on.collect::<Option<_>>()?;
                Some(Op::On { rule, on })
            }
            _ => None,
        }
    }

    fn on(&mut self) -> Option<On> {
        let [sides, action, length] = self.array()?;
        let port = std::str::from_utf8(self.take(length.into())?).ok()?;
        Some(On {
            sides,
            port: (!port.is_empty()).then(|| port.into()),
            action,
        })
    }

    /// A text with its length before it.
    fn text(&mut self) -> Option<&'a str> {
        let length = usize::from(self.array().map(u16::from_le_bytes)?);
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// None for bytes that mean nothing.
    fn list(&mut self) -> Option<Option<KeptList>> {
        let name = self.text()?;
        if name.is_empty() {
            return Some(None);
        }
        Some(Some(KeptList {
            name: name.into(),
            crc32: self.array().map(u32::from_le_bytes)?,
            bytes: self.number()?,
            at_ms: self.number()?,
            columns: None,
            json_paths: Vec::new(),
        }))
    }

    fn entry(&mut self) -> Option<Entry> {
        let v4 = |rest: &mut Self| rest.array().map(u32::from_le_bytes);
        let v6 = |rest: &mut Self| rest.array().map(u128::from_le_bytes);
        match self.byte()? {
            ADDRESS_V4 => v4(self).map(Entry::address_v4),
            ADDRESS_V6 => v6(self).map(Entry::address_v6),
            RANGE_V4 => Range::new(v4(self)?, v4(self)?).ok().map(Entry::V4),
            RANGE_V6 => Range::new(v6(self)?, v6(self)?).ok().map(Entry::V6),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(columns: Option<&str>, column: Option<&str>, paths: &str) -> KeptList {
        let columns = columns.map(|text| text.parse().expect("columns"));
        let column = column.map(|text| text.parse().expect("a column"));
        KeptList {
            name: "a list".into(),
            crc32: 7,
            bytes: 8,
            at_ms: 9,
            columns: columns.or(column.map(Columns::One)),
            json_paths: match paths {
                "" => Vec::new(),
                paths => JsonPath::parse_all(paths).expect("paths"),
            },
        }
    }

    #[test]
    fn how_a_list_is_read_is_kept() {
        let set = SetName::new("a").expect("a name");
        for list in [
            kept(None, None, ""),
            kept(Some("1-2"), None, ""),
            kept(Some("all"), None, ""),
            kept(None, Some("2"), ""),
            // As a text it looks like two columns.
            kept(None, Some("src-ip"), ""),
            kept(None, None, "a[].b, \"c.d\"[]"),
        ] {
            let op = Op::List { list: Some(list) };
            let mut operations = Operations::default();
            operations.push(&set, &op);
            let mut came = Vec::new();
            let mut tell = |_: &SetName, op: Op| came.push(op);
            assert_eq!(read(operations.bytes(), &mut tell), Some(()));
            assert_eq!(came, [op]);
            let cut = &operations.bytes()[..operations.bytes().len() - 1];
            assert_eq!(read(cut, &mut |_, _| {}), None);
        }
    }
}

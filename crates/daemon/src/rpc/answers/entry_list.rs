//! Entries of a request, read while the line is parsed: nothing is kept of their text.

use crate::rpc::limits::ENTRIES_MAX;
use list::{Span, Wording};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use table::live::Entry;
use table::{Address, Range};

/// Entries as a client writes them: `192.0.2.1`, `10.0.0.0/8`, `192.0.2.1-192.0.2.9`, and the same
/// of IPv6; at most [`ENTRIES_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryList(pub Vec<Entry>);

/// Reads one entry; an IPv4-mapped IPv6 address is the IPv4 address it stands for.
///
/// # Errors
/// What is wrong with the text, as one sentence that shows it.
pub fn parse_entry(text: &str) -> Result<Entry, String> {
    let parsed = list::Entry::parse(text.as_bytes());
    let wrong = |fault: list::Fault| fault.about(&excerpt(text), Wording::Entry).to_string();
    let entry = parsed.map_err(wrong)?;
    match entry.unmapped() {
        entry if entry.is_everything() => Err(format!(
            "\"{}\" is every address there is: load a file with --force, or set the default to \
             drop",
            excerpt(text)
        )),
        list::Entry::V4(span) => range(span).map(Entry::V4),
        list::Entry::V6(span) => range(span).map(Entry::V6),
    }
}

/// The beginning, made printable.
fn excerpt(text: &str) -> String {
    let shown = text.chars().take(60);
    shown.flat_map(char::escape_default).collect()
}

fn range<A: Address>(span: Span<A>) -> Result<Range<A>, String> {
    Range::new(span.first(), span.last()).map_err(|error| error.to_string())
}

impl Serialize for EntryList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(ToString::to_string))
    }
}

impl<'de> Deserialize<'de> for EntryList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Entries).map(Self)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<Entry>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of addresses, networks and ranges")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Entry>, A::Error> {
        let mut entries = Vec::new();
        while let Some(Read(entry)) = seq.next_element()? {
            let place = entries.len();
            if place == ENTRIES_MAX {
                let message = format!("more than {ENTRIES_MAX} entries: send several requests");
                return Err(A::Error::custom(message));
            }
            // The number is for programs too: see `place_of`.
            let named = |fault| A::Error::custom(format!("entries[{place}]: {fault}"));
            entries.push(entry.map_err(named)?);
        }
        Ok(entries)
    }
}

/// The place of the bad entry in a message made above.
pub(in crate::rpc) fn place_of(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("entries[")?;
    rest.split_once("]: ")?.0.parse().ok()
}

/// One entry, or what is wrong with it.
struct Read(Result<Entry, String>);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(OneEntry)
    }
}

struct OneEntry;

impl Visitor<'_> for OneEntry {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an address, a network or a range in quotes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Read, E> {
        Ok(Read(parse_entry(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<EntryList, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn entries_are_known_by_what_they_cover() {
        let list =
            read(r#"["192.0.2.1","10.0.0.0/8","::ffff:192.0.2.1","2001:db8::-2001:db8::3"]"#);
        let list = list.unwrap();
        assert_eq!(list.0[0], list.0[2]);
        let shown = serde_json::to_string(&list).unwrap();
        assert_eq!(
            shown,
            r#"["192.0.2.1","10.0.0.0/8","192.0.2.1","2001:db8::/126"]"#
        );
    }

    #[test]
    fn a_bad_entry_is_named_by_its_place() {
        for bad in [
            r#""x""#,
            r#""10.0.0.1/8""#,
            r#""0.0.0.0/0""#,
            r#""""#,
            r#""\n""#,
        ] {
            let message = read(&format!(r#"["192.0.2.1",{bad}]"#)).unwrap_err();
            assert_eq!(place_of(&message), Some(1), "{bad}: {message}");
        }
        assert!(read("[1]").is_err() && read("[[]]").is_err() && read("{}").is_err());
        let many = format!("[{}]", vec!["\"1.1.1.1\""; ENTRIES_MAX + 1].join(","));
        assert!(read(&many).unwrap_err().contains("send several"));
    }
}

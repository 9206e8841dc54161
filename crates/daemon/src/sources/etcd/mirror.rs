//! What etcd holds of a list, as of a revision: a value that snapshots and events change.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use table::live;

use super::message::{EventKind, Header, KeyValue, Watched};
use crate::config::Held;
use crate::sets::live_entry;

/// Bytes of a comment that are kept, as of any entry.
const COMMENT_BYTES_MAX: usize = live::COMMENT_BYTES_MAX;

/// Longest key behind the prefix: a range of IPv6 has 79 characters.
const ENTRY_BYTES_MAX: usize = 100;

/// The keys of a list and their values.
#[derive(Debug)]
pub(super) struct Mirror {
    held: Held,
    keys: BTreeMap<Vec<u8>, Vec<u8>>,
    /// How many keys there are of an entry beside the one that says it as we do: `192.0.2.1/32`.
    aliases: HashMap<live::Entry, u32>,
    /// Keys that are no entries.
    bad: u64,
    /// Entries of keys that events were about since the set was last brought up to date.
    touched: BTreeSet<live::Entry>,
    /// All changes up to this revision are in it.
    revision: u64,
    cluster: u64,
}

/// What an answer of a watch comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// Nothing is different.
    Same,
    /// Keys or values are.
    Changed,
    /// The watch cannot go on from here: a new snapshot is needed.
    Lost,
}

/// What a list has now and had not, and the other way round. No entry is in both.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) added: Vec<live::Entry>,
    pub(super) removed: Vec<live::Entry>,
}

/// A list as text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ListText {
    pub(super) text: String,
    /// Keys left out because they are no entries.
    pub(super) bad: u64,
    /// The first of them, made printable.
    pub(super) first_bad: Option<String>,
}

impl Mirror {
    /// What a snapshot gave, as of its revision.
    pub(super) fn of(held: Held, header: Header, found: Vec<KeyValue>) -> Self {
        let mut mirror = Self {
            held,
            keys: BTreeMap::new(),
            aliases: HashMap::new(),
            bad: 0,
            touched: BTreeSet::new(),
            revision: header.revision.0,
            cluster: header.cluster_id.0,
        };
        for pair in found {
            mirror.put(pair.key.0, pair.value.0);
        }
        mirror.touched.clear();
        mirror
    }

    fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        let named = self.named(&key);
        if self.keys.insert(key, value).is_none() {
            match named {
                Named::Bad => self.bad += 1,
                Named::Alias(entry) => *self.aliases.entry(entry).or_default() += 1,
                Named::Entry(_) | Named::List => {}
            }
        }
        self.touched.extend(named.entry());
    }

    fn delete(&mut self, key: &[u8]) {
        let named = self.named(key);
        if self.keys.remove(key).is_some() {
            match named {
                Named::Bad => self.bad -= 1,
                Named::Alias(entry) => {
                    let count = self.aliases.entry(entry).or_default();
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        self.aliases.remove(&entry);
                    }
                }
                Named::Entry(_) | Named::List => {}
            }
        }
        self.touched.extend(named.entry());
    }

    fn named(&self, key: &[u8]) -> Named {
        let Held::Prefix(prefix) = &self.held else {
            return Named::List;
        };
        let rest = key.strip_prefix(prefix.as_bytes()).unwrap_or_default();
        let Some((text, entry)) = entry(rest) else {
            return Named::Bad;
        };
        match entry.to_string() == text {
            true => Named::Entry(entry),
            false => Named::Alias(entry),
        }
    }

    /// Whether a key says this entry.
    fn holds(&self, entry: live::Entry) -> bool {
        let key = format!("{}{entry}", self.held.text());
        self.keys.contains_key(key.as_bytes()) || self.aliases.contains_key(&entry)
    }

    /// What events have changed since this was last asked; none where the list is one value, which
    /// nobody compares.
    pub(super) fn take_changes(&mut self) -> Option<Changes> {
        let touched = std::mem::take(&mut self.touched).into_iter();
        let (added, removed) = touched.partition(|&entry| self.holds(entry));
        matches!(self.held, Held::Prefix(_)).then_some(Changes { added, removed })
    }

    /// Keys that are no entries.
    pub(super) fn bad(&self) -> u64 {
        self.bad
    }

    /// The first revision that is not in it.
    pub(super) fn next_revision(&self) -> u64 {
        self.revision.saturating_add(1)
    }

    /// Whether changes that this member tells of can follow: it is of the same cluster, whose
    /// revisions did not go back, as they do where a cluster is restored from a backup.
    pub(super) fn can_follow(&self, header: &Header) -> bool {
        header.cluster_id.0 == self.cluster && header.revision.0 >= self.revision
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Takes over what a watch told. What is of a revision that is in it already is a repeat.
    pub(super) fn apply(&mut self, told: Watched) -> Applied {
        if told.canceled {
            return Applied::Lost;
        }
        let before = self.revision;
        let mut applied = Applied::Same;
        for event in told.events {
            let revision = event.kv.mod_revision.0;
            if revision <= before {
                continue;
            }
            // All events of a revision are in one answer.
            self.revision = self.revision.max(revision);
            applied = Applied::Changed;
            match event.kind {
                EventKind::Put => self.put(event.kv.key.0, event.kv.value.0),
                EventKind::Delete => self.delete(&event.kv.key.0),
            }
        }
        applied
    }

    /// The list that the keys are. None where it is one key, and that is not there.
    pub(super) fn text(&self) -> Option<ListText> {
        match &self.held {
            Held::Key(key) => {
                let value = self.keys.get(key.as_bytes())?;
                Some(ListText {
                    text: String::from_utf8_lossy(value).into_owned(),
                    ..ListText::default()
                })
            }
            Held::Prefix(prefix) => Some(self.lines(prefix.as_bytes())),
        }
    }

    fn lines(&self, prefix: &[u8]) -> ListText {
        // Says to readers what it is, and that it is no JSON, whatever comments look like.
        let mut list = ListText {
            text: "# entries of etcd\n".to_owned(),
            ..ListText::default()
        };
        for (key, value) in &self.keys {
            let rest = key.strip_prefix(prefix).unwrap_or_default();
            match entry(rest) {
                Some((text, _)) => line(&mut list.text, text, value),
                None => {
                    list.bad += 1;
                    list.first_bad.get_or_insert_with(|| shown(key));
                }
            }
        }
        list
    }
}

/// What a key says.
#[derive(Clone, Copy)]
enum Named {
    /// An entry, as we write it.
    Entry(live::Entry),
    /// An entry that is written in another way.
    Alias(live::Entry),
    /// No entry.
    Bad,
    /// It is the key of a whole list.
    List,
}

impl Named {
    fn entry(self) -> Option<live::Entry> {
        match self {
            Self::Entry(entry) | Self::Alias(entry) => Some(entry),
            Self::Bad | Self::List => None,
        }
    }
}

/// The entry that a key is, if it is one alone, and its text. A key that covers everything is a
/// slip.
fn entry(rest: &[u8]) -> Option<(&str, live::Entry)> {
    let text = str::from_utf8(rest).ok()?;
    let is_plain =
        text.len() <= ENTRY_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
    let parsed = list::Entry::parse(rest).ok().filter(|_| is_plain)?;
    (!parsed.is_everything()).then_some((text, live_entry(parsed)))
}

fn line(text: &mut String, entry: &str, value: &[u8]) {
    let comment = comment(value);
    let _ = match comment.as_str() {
        "" => writeln!(text, "{entry}"),
        comment => writeln!(text, "{entry} # {comment}"),
    };
}

/// A value as one line: printable and bounded.
fn comment(value: &[u8]) -> String {
    let value = &value[..value.len().min(COMMENT_BYTES_MAX)];
    let value = String::from_utf8_lossy(value);
    let shown = value.chars().map(|c| if c.is_control() { ' ' } else { c });
    let shown: String = shown.collect();
    shown.trim().to_owned()
}

fn shown(key: &[u8]) -> String {
    let key = String::from_utf8_lossy(key);
    key.chars()
        .take(60)
        .flat_map(char::escape_default)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::message::{Bytes, Event, Number};
    use super::*;

    fn pair(key: &str, value: &str, revision: u64) -> KeyValue {
        KeyValue {
            key: Bytes(key.as_bytes().to_vec()),
            value: Bytes(value.as_bytes().to_vec()),
            mod_revision: Number(revision),
        }
    }

    /// What happened to which key, at which revision.
    type Step = (EventKind, &'static str, u64);

    fn told(events: &[Step]) -> Watched {
        let events = events.iter().map(|&(kind, key, revision)| Event {
            kind,
            kv: pair(key, "", revision),
        });
        Watched {
            events: events.collect(),
            ..Watched::default()
        }
    }

    fn mirror() -> Mirror {
        let header = Header {
            cluster_id: Number(9),
            revision: Number(10),
        };
        Mirror::of(prefix(), header, vec![pair("/p/192.0.2.1", "scan", 3)])
    }

    fn prefix() -> Held {
        Held::Prefix("/p/".to_owned())
    }

    fn list_of(mirror: &Mirror) -> String {
        let list = mirror.text().expect("a list");
        list.text.replacen("# entries of etcd\n", "", 1)
    }

    #[test]
    fn events_are_applied_once_and_in_order() {
        use EventKind::{Delete, Put};
        let mut mirror = mirror();
        let steps: [(&[Step], Applied, &str); 5] = [
            (&[], Applied::Same, "192.0.2.1 # scan\n"),
            // A transaction: several keys of one revision.
            (
                &[(Put, "/p/192.0.2.2", 11), (Delete, "/p/192.0.2.1", 11)],
                Applied::Changed,
                "192.0.2.2\n",
            ),
            // A repeat.
            (&[(Put, "/p/192.0.2.1", 11)], Applied::Same, "192.0.2.2\n"),
            // Repeated and new in one answer.
            (
                &[(Delete, "/p/192.0.2.2", 11), (Put, "/p/192.0.2.3", 15)],
                Applied::Changed,
                "192.0.2.2\n192.0.2.3\n",
            ),
            (
                &[(Delete, "/p/192.0.2.9", 16)],
                Applied::Changed,
                "192.0.2.2\n192.0.2.3\n",
            ),
        ];
        for (events, wanted, list) in steps {
            assert_eq!(mirror.apply(told(events)), wanted, "{events:?}");
            assert_eq!(list_of(&mirror), list, "{events:?}");
        }
        assert_eq!(mirror.next_revision(), 17);
    }

    #[test]
    fn a_watch_that_ends_or_another_cluster_needs_a_snapshot() {
        let mut mirror = mirror();
        let canceled = Watched {
            canceled: true,
            ..Watched::default()
        };
        assert_eq!(mirror.apply(canceled), Applied::Lost);
        for (cluster, revision, can_follow) in
            [(9, 10, true), (9, 11, true), (9, 9, false), (8, 11, false)]
        {
            let header = Header {
                cluster_id: Number(cluster),
                revision: Number(revision),
            };
            assert_eq!(
                mirror.can_follow(&header),
                can_follow,
                "{cluster} {revision}"
            );
        }
    }

    #[test]
    fn hostile_keys_are_left_out_and_hostile_values_are_comments() {
        let keys = [
            ("/p/10.0.0.0/8", "{\"a\":1}"),
            ("/p/2001:db8::1", "a\nb\r192.0.2.9"),
            ("/p/192.0.2.7 192.0.2.8", ""),
            ("/p/192.0.2.7\n192.0.2.8", ""),
            ("/p/", ""),
            ("/p/0.0.0.0/0", ""),
            ("/p/x", ""),
            ("/p/192.0.2.1,1", ""),
        ];
        let found = keys.map(|(key, value)| pair(key, value, 1)).to_vec();
        let mirror = Mirror::of(prefix(), Header::default(), found);
        let list = mirror.text().expect("a list");
        assert_eq!((list.bad, mirror.bad()), (6, 6), "{list:?}");
        let lines: Vec<&str> = list.text.lines().collect();
        assert_eq!(
            lines,
            [
                "# entries of etcd",
                "10.0.0.0/8 # {\"a\":1}",
                "2001:db8::1 # a b 192.0.2.9",
            ]
        );
        let options = list::ReadOptions::default();
        let read = list::read("etcd", list.text.as_bytes(), &options, &mut |_| {});
        assert_eq!(read.expect("a list").entry_count, 2);
    }

    #[test]
    fn a_whole_list_is_the_value_of_its_key() {
        let held = Held::Key("/lists/bad".to_owned());
        let found = vec![pair("/lists/bad", "192.0.2.1\n192.0.2.2\n", 1)];
        let mut mirror = Mirror::of(held.clone(), Header::default(), found);
        let list = mirror.text().expect("a list");
        assert_eq!(list.text, "192.0.2.1\n192.0.2.2\n");
        mirror.apply(told(&[(EventKind::Put, "/lists/bad", 2)]));
        assert_eq!(mirror.take_changes(), None, "a whole list is loaded whole");
        let empty = Mirror::of(held, Header::default(), Vec::new());
        assert_eq!(empty.text(), None);
    }

    /// What events come to, whatever way they took: only the end counts, by entry and not by key.
    #[test]
    fn changes_are_what_is_different_in_the_end() {
        use EventKind::{Delete, Put};
        type Case = (
            &'static [(EventKind, &'static str)],
            &'static str,
            &'static str,
        );
        // In order: what was left by one is there for the next.
        let cases: [Case; 9] = [
            (&[], "", ""),
            (
                &[(Put, "192.0.2.2"), (Delete, "192.0.2.2")],
                "",
                "192.0.2.2",
            ),
            (
                &[(Delete, "192.0.2.1"), (Put, "192.0.2.1")],
                "192.0.2.1",
                "",
            ),
            (&[(Put, "192.0.2.1/32")], "192.0.2.1", ""),
            // One key of two goes, then the other.
            (&[(Delete, "192.0.2.1")], "192.0.2.1", ""),
            (&[(Delete, "192.0.2.1/32")], "", "192.0.2.1"),
            (&[(Delete, "192.0.2.1/32")], "", "192.0.2.1"),
            (&[(Put, "nonsense"), (Delete, "0.0.0.0/0")], "", ""),
            (
                &[
                    (Put, "2001:DB8::1"),
                    (Put, "10.0.0.0-10.0.0.255"),
                    (Delete, "x"),
                ],
                "10.0.0.0/24 2001:db8::1",
                "",
            ),
        ];
        let shown = |entries: &[live::Entry]| -> String {
            let shown: Vec<String> = entries.iter().map(ToString::to_string).collect();
            shown.join(" ")
        };
        let mut mirror = mirror();
        let mut revision = 10;
        for (events, added, removed) in cases {
            for &(kind, key) in events {
                revision += 1;
                let kv = pair(&format!("/p/{key}"), "", revision);
                mirror.apply(Watched {
                    events: vec![Event { kind, kv }],
                    ..Watched::default()
                });
            }
            let changes = mirror.take_changes().expect("keys are entries");
            let told = (shown(&changes.added), shown(&changes.removed));
            assert_eq!(told, (added.to_owned(), removed.to_owned()), "{events:?}");
        }
        assert_eq!(mirror.bad(), 1);
        assert_eq!(list_of(&mirror), "10.0.0.0-10.0.0.255\n2001:DB8::1\n");
    }
}

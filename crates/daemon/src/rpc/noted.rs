//! What clients changed, for the log: who, what, how much. A line a change; where a client makes
//! many in a second, a line a second for all of them.

use super::connection::Peer;
use super::error::RpcError;
use super::message::Request;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, Instant};

/// So much of parameters stands in the log.
const NOTED_CHARS_MAX: usize = 300;

/// Entries that a line names.
const NAMED_MAX: usize = 3;

/// The least time between two lines of one connection about entries.
const EVERY: Duration = Duration::from_secs(1);

/// What one request changes.
pub(super) enum Note {
    /// Entries of a set.
    Entries(Entries),
    /// Something rare: the request as it came.
    Rare {
        method: &'static str,
        params: String,
    },
}

/// Entries that go in or out.
pub(super) struct Entries {
    method: &'static str,
    set: String,
    count: u64,
    /// The first of them.
    first: Vec<String>,
    refused: u64,
    /// Why the last of those that were refused was.
    why: Option<String>,
}

/// The parts of `set.add` and `set.delete` that are logged.
#[derive(Deserialize)]
struct Params<'p> {
    #[serde(borrow)]
    set: Cow<'p, str>,
    #[serde(default)]
    entries: First,
}

/// The first of a list, and how many there are.
#[derive(Default)]
struct First {
    first: Vec<String>,
    count: u64,
}

impl Note {
    /// None for a request that changes nothing.
    pub(super) fn of(request: &Request<'_>) -> Option<Self> {
        let params = request.params.map_or("{}", RawValue::get);
        let method = match request.method.as_ref() {
            "set.add" => "set.add",
            "set.delete" => "set.delete",
            "set.load" => "set.load",
            "set.refresh" => "set.refresh",
            "set.flush" => "set.flush",
            "set.action" => "set.action",
            "reload" => "reload",
            _ => return None,
        };
        if !matches!(method, "set.add" | "set.delete") {
            // A line may be long, and most of it be none of ours.
            let params = params.chars().take(NOTED_CHARS_MAX).collect();
            return Some(Self::Rare { method, params });
        }
        let Params { set, entries } = serde_json::from_str(params).ok()?;
        let shown = |text: &str| text.chars().take(64).collect();
        Some(Self::Entries(Entries {
            method,
            set: shown(&set),
            count: entries.count,
            first: entries.first.iter().map(|text| shown(text)).collect(),
            refused: 0,
            why: None,
        }))
    }
}

/// The lines of one connection.
pub(super) struct Notes {
    peer: Peer,
    /// What has no line yet.
    held: Option<Entries>,
    told: Option<Instant>,
}

impl Notes {
    pub(super) fn new(peer: Peer) -> Self {
        Self {
            peer,
            held: None,
            told: None,
        }
    }

    /// Notes what came of a request.
    pub(super) fn add(&mut self, note: Note, error: Option<&RpcError>) {
        let mut entries = match note {
            Note::Entries(entries) => entries,
            Note::Rare { method, params } => {
                self.tell();
                let peer = self.peer;
                return match error {
                    Some(error) if error.is_of_made_change() => {
                        tracing::warn!(%peer, method, params, %error, "done, but");
                    }
                    Some(error) => tracing::warn!(%peer, method, params, %error, "refused"),
                    None => tracing::info!(%peer, method, params, "done"),
                };
            }
        };
        if let Some(error) = error {
            entries.refused = match error.is_of_made_change() {
                true => 0,
                false => entries.count,
            };
            entries.why = Some(error.to_string());
        }
        match &mut self.held {
            Some(held) if (held.method, &held.set) == (entries.method, &entries.set) => {
                held.count += entries.count;
                held.refused += entries.refused;
                held.why = entries.why.or(held.why.take());
                let room = NAMED_MAX.saturating_sub(held.first.len());
                held.first.extend(entries.first.into_iter().take(room));
            }
            _ => {
                self.tell();
                self.held = Some(entries);
            }
        }
    }

    /// When what is held is due for a line.
    pub(super) fn due(&self) -> Option<Instant> {
        self.held.as_ref()?;
        Some(self.told.map_or_else(Instant::now, |told| told + EVERY))
    }

    /// Writes a line where one is due.
    pub(super) fn tell_due(&mut self) {
        if self.due().is_some_and(|due| due <= Instant::now()) {
            self.tell();
        }
    }

    /// Writes what is held.
    pub(super) fn tell(&mut self) {
        let Some(entries) = self.held.take() else {
            return;
        };
        self.told = Some(Instant::now());
        let Entries {
            method,
            set,
            count,
            first,
            refused,
            why,
        } = entries;
        let more = if (first.len() as u64) < count {
            " ..."
        } else {
            ""
        };
        let (peer, first) = (self.peer, first.join(", ") + more);
        match why {
            Some(error) if refused == 0 => {
                tracing::warn!(%peer, method, set, entries = count, first, error, "done, but");
            }
            Some(error) => {
                let entries = count;
                tracing::warn!(%peer, method, set, entries, first, refused, error, "refused");
            }
            None => tracing::info!(%peer, method, set, entries = count, first, "done"),
        }
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        self.tell();
    }
}

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FirstVisitor)
    }
}

struct FirstVisitor;

impl<'de> Visitor<'de> for FirstVisitor {
    type Value = First;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<First, A::Error> {
        let mut all = First::default();
        while all.first.len() < NAMED_MAX {
            let Some(one) = seq.next_element::<String>()? else {
                break;
            };
            all.first.push(one);
        }
        all.count = all.first.len() as u64;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            all.count += 1;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(method: &str, params: &str) -> Option<Note> {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let request = Request::parse(line.as_bytes());
        let request = request.unwrap_or_else(|_| panic!("{line}"));
        Note::of(&request)
    }

    #[test]
    fn a_change_that_was_made_is_not_called_refused() {
        let (socket, _other) = std::os::unix::net::UnixStream::pair().expect("a pair");
        for (reason, refused) in [("not-kept", 0), ("not-confirmed", 0), ("", 1)] {
            let mut notes = Notes::new(Peer::of(&socket).expect("a peer"));
            let mut error = RpcError::new(crate::rpc::ErrorKind::Refused, "why");
            reason.clone_into(&mut error.reason);
            let added = note("set.add", r#"{"set":"a","entries":["192.0.2.1"]}"#);
            notes.add(added.expect("a note"), Some(&error));
            let held = notes.held.as_ref().expect("it is held");
            assert_eq!((held.count, held.refused), (1, refused), "{reason}");
            assert_eq!(held.why.as_deref(), Some("why"));
        }
    }

    #[test]
    fn what_changes_something_is_noted() {
        for (method, params, count) in [
            ("set.add", r#"{"set":"a","entries":["192.0.2.1"]}"#, Some(1)),
            (
                "set.delete",
                r#"{"set":"a","entries":["1","2","3","4","5"]}"#,
                Some(5),
            ),
            ("set.add", r#"{"set":"\u0061","entries":["\n"]}"#, Some(1)),
            ("set.add", r#"{"set":"a"}"#, Some(0)),
            ("set.add", r#"{"set":1}"#, None),
            ("set.list", "{}", None),
            ("show.sets", "{}", None),
        ] {
            let count_of = |note| match note {
                Note::Entries(entries) => {
                    assert!(entries.set == "a" && entries.first.len() <= NAMED_MAX);
                    Some(entries.count)
                }
                Note::Rare { .. } => None,
            };
            assert_eq!(
                note(method, params).and_then(count_of),
                count,
                "{method} {params}"
            );
        }
        for method in [
            "set.load",
            "set.refresh",
            "set.flush",
            "set.action",
            "reload",
        ] {
            assert!(
                matches!(note(method, "{}"), Some(Note::Rare { .. })),
                "{method}"
            );
        }
    }
}

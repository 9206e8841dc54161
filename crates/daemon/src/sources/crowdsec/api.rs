//! The text of a decision stream, read in one pass and within bounds.
//!
//! `{"new": [DECISION...] or null, "deleted": [DECISION...] or null}`, where a decision is
//! `{"id": 7, "origin": "crowdsec", "type": "ban", "scope": "Ip", "value": "192.0.2.1",
//! "duration": "3h59m57.6s", "scenario": "crowdsecurity/ssh-bf", ...}`, by CrowdSec's
//! `pkg/models/localapi_swagger.yaml` and `pkg/apiserver/controllers/v1/decisions.go`.

use std::fmt;
use std::io::Read;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use table::Network;
use table::live::{COMMENT_BYTES_MAX, Entry};

use super::duration;
use super::guard::StringGuard;

/// What is wrong with the text of a decision stream: a clause.
#[derive(Debug)]
pub struct DecisionsError(String);

impl fmt::Display for DecisionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecisionsError {}

/// A decision that concerns us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The API's number for it; none where it gives none.
    pub id: Option<i64>,
    /// The address or network.
    pub entry: Entry,
    /// How long it stands; zero when it has ended.
    pub left: Duration,
    /// Origin and scenario, printable and bounded; shared by decisions of one origin and scenario.
    pub comment: Arc<str>,
}

/// One answer of a decision stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Those that were made.
    pub new: Vec<Decision>,
    /// Those that ended or were taken back.
    pub deleted: Vec<Decision>,
    /// Decisions of another scope or type, simulated ones, and such that cover everything.
    pub skipped: u64,
    /// Decisions left out because they cannot be read: one of them must not undo all others.
    pub bad: u64,
    /// What is wrong with the first of them.
    pub first_bad: Option<String>,
}

/// Which decisions concern us.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'w> {
    pub(crate) types: &'w [String],
    pub(crate) scopes: &'w [String],
    pub(crate) decisions_max: u64,
    /// False leaves `deleted` unread: with all decisions come all that ended in the last days.
    pub(crate) deleted: bool,
}

/// Reads one answer. `types` are those that count, and at most `decisions_max` are read.
///
/// # Errors
/// It is no decision stream, or too large in some way.
pub fn read_decisions(
    input: impl Read,
    types: &[String],
    decisions_max: u64,
) -> Result<Decisions, DecisionsError> {
    let scopes = ["ip".to_owned(), "range".to_owned()];
    let wanted = Wanted {
        types,
        scopes: &scopes,
        decisions_max,
        deleted: true,
    };
    read(input, wanted)
}

pub(crate) fn read(input: impl Read, wanted: Wanted<'_>) -> Result<Decisions, DecisionsError> {
    let input = std::io::BufReader::with_capacity(64 << 10, StringGuard::new(input));
    let mut text = serde_json::Deserializer::from_reader(input);
    let mut sorting = Sorting {
        wanted,
        found: Decisions::default(),
        seen: 0,
        comment: None,
    };
    let whole = Stream(&mut sorting).deserialize(&mut text);
    whole
        .and_then(|()| text.end())
        .map_err(|error| DecisionsError(error.to_string()))?;
    Ok(sorting.found)
}

/// As the API writes it; what it adds later is passed over.
#[derive(Deserialize)]
struct Written {
    id: Option<i64>,
    origin: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    scope: Option<String>,
    value: Option<String>,
    duration: Option<String>,
    scenario: Option<String>,
    simulated: Option<bool>,
}

struct Sorting<'w> {
    wanted: Wanted<'w>,
    found: Decisions,
    seen: u64,
    /// The last comment: decisions of one blocklist follow each other.
    comment: Option<Arc<str>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    New,
    Deleted,
}

impl Sorting<'_> {
    fn take(&mut self, side: Side, written: &Written) -> Result<(), String> {
        self.seen += 1;
        if self.seen > self.wanted.decisions_max {
            let most = self.wanted.decisions_max;
            return Err(format!("more than {most} decisions in one answer"));
        }
        let decision = match self.decision(side, written) {
            Ok(Some(decision)) => decision,
            Ok(None) => {
                self.found.skipped += 1;
                return Ok(());
            }
            Err(told) => {
                self.found.bad += 1;
                self.found.first_bad.get_or_insert(told);
                return Ok(());
            }
        };
        match side {
            Side::New => self.found.new.push(decision),
            Side::Deleted => self.found.deleted.push(decision),
        }
        Ok(())
    }

    /// None for what is of no concern.
    fn decision(&mut self, side: Side, written: &Written) -> Result<Option<Decision>, String> {
        let kind = written.kind.as_deref().unwrap_or_default();
        let scope = written.scope.as_deref().unwrap_or_default();
        let counts = self
            .wanted
            .types
            .iter()
            .any(|wanted| wanted.eq_ignore_ascii_case(kind));
        let placed = self
            .wanted
            .scopes
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scope));
        if !counts || !placed || written.simulated == Some(true) {
            return Ok(None);
        }
        let value = written.value.as_deref().unwrap_or_default();
        let entry = entry(value)
            .ok_or_else(|| format!("value {:?} is no address and no network", cut(value)))?;
        if covers_everything(entry) {
            return Ok(None);
        }
        let text = written.duration.as_deref().unwrap_or_default();
        let left = match (duration::parse(text), side) {
            (Some(left), _) => left,
            (None, Side::Deleted) => Duration::ZERO,
            (None, Side::New) => return Err(format!("duration {:?} is none of Go", cut(text))),
        };
        Ok(Some(Decision {
            id: written.id.filter(|id| *id != 0),
            entry,
            left,
            comment: self.comment(written),
        }))
    }

    fn comment(&mut self, written: &Written) -> Arc<str> {
        let text = comment(
            written.origin.as_deref().unwrap_or_default(),
            written.scenario.as_deref().unwrap_or_default(),
        );
        match &self.comment {
            Some(last) if **last == *text => Arc::clone(last),
            _ => Arc::clone(self.comment.insert(text.into())),
        }
    }
}

/// Origin and scenario in one line, cut where a comment must end.
fn comment(origin: &str, scenario: &str) -> String {
    let mut text = String::new();
    let between = if origin.is_empty() || scenario.is_empty() {
        ""
    } else {
        " "
    };
    for c in [origin, between, scenario]
        .iter()
        .flat_map(|part| part.chars())
    {
        let c = if c.is_control() { '?' } else { c };
        if text.len() + c.len_utf8() > COMMENT_BYTES_MAX {
            break;
        }
        text.push(c);
    }
    text
}

fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

/// An address or a network. Host bits are left out, as CrowdSec reads `192.0.2.7/24`.
fn entry(value: &str) -> Option<Entry> {
    let (address, prefix_len) = match value.split_once('/') {
        Some((address, len)) => (address, Some(len)),
        None => (value, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let prefix_len = match prefix_len {
        Some(text) if text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse::<u8>().ok().filter(|len| *len <= bits)?
        }
        Some(_) => return None,
        None => bits,
    };
    match (address, address.to_canonical()) {
        // An IPv4 address in IPv6 clothes is on the wire as IPv4.
        (IpAddr::V6(_), IpAddr::V4(plain)) if prefix_len >= 96 => {
            let network = Network::holding(plain.to_bits(), prefix_len - 96);
            network.ok().map(Entry::from)
        }
        (IpAddr::V4(v4), _) => {
            let network = Network::holding(v4.to_bits(), prefix_len);
            network.ok().map(Entry::from)
        }
        (IpAddr::V6(v6), _) => {
            let network = Network::holding(v6.to_bits(), prefix_len);
            network.ok().map(Entry::from)
        }
    }
}

/// A ban of everybody is a mistake that would take the whole link down.
fn covers_everything(entry: Entry) -> bool {
    match entry {
        Entry::V4(range) => range.first() == 0 && range.last() == u32::MAX,
        Entry::V6(range) => range.first() == 0 && range.last() == u128::MAX,
    }
}

/// Visits the whole answer.
struct Stream<'s, 'w>(&'s mut Sorting<'w>);

impl<'de> DeserializeSeed<'de> for Stream<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, text: D) -> Result<(), D::Error> {
        text.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Stream<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with new and deleted decisions")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut sides = 0;
        while let Some(key) = map.next_key::<String>()? {
            let side = match key.as_str() {
                "new" => Side::New,
                "deleted" => Side::Deleted,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            sides += 1;
            if side == Side::Deleted && !self.0.wanted.deleted {
                map.next_value::<IgnoredAny>()?;
            } else {
                map.next_value_seed(List(self.0, side))?;
            }
        }
        if sides == 0 {
            let told = "it has neither new nor deleted decisions";
            return Err(serde::de::Error::custom(told));
        }
        Ok(())
    }
}

/// Visits the decisions of one side; null is none.
struct List<'s, 'w>(&'s mut Sorting<'w>, Side);

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, text: D) -> Result<(), D::Error> {
        text.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of decisions or null")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(written) = list.next_element::<Written>()? {
            self.0
                .take(self.1, &written)
                .map_err(serde::de::Error::custom)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> Result<Decisions, String> {
        let ban = ["ban".to_owned()];
        read_decisions(text.as_bytes(), &ban, 100).map_err(|error| error.to_string())
    }

    /// What CrowdSec 1.6 gives out, by its swagger file and its own tests.
    const REAL: &str = r#"{"deleted":[{"duration":"-3h2m1.5s","id":3,"origin":"cscli",
        "scenario":"manual 'ban' from 'localhost'","scope":"Ip","type":"ban",
        "uuid":"b0ab6879-99b0-4960-8e80-c231ff22aa6c","value":"192.0.2.9"}],
        "new":[{"duration":"3h59m57.641708614s","id":1,"origin":"crowdsec",
        "scenario":"crowdsecurity/ssh-bf","scope":"Ip","type":"ban","value":"192.0.2.1"},
        {"duration":"167h1m0s","id":2,"origin":"lists","scenario":"firehol","scope":"Range",
        "type":"ban","value":"198.51.100.0/24"},
        {"duration":"1h","id":4,"origin":"CAPI","scenario":"x","scope":"Country","type":"ban",
        "value":"FR"},
        {"duration":"1h","id":5,"origin":"crowdsec","scenario":"x","scope":"Ip",
        "type":"captcha","value":"192.0.2.2"}]}"#;

    #[test]
    fn what_crowdsec_gives_out() {
        let read = read_all(REAL).unwrap();
        let texts: Vec<String> = read.new.iter().map(|one| one.entry.to_string()).collect();
        assert_eq!(texts, ["192.0.2.1", "198.51.100.0/24"]);
        assert_eq!(read.new[0].left, Duration::from_nanos(14_397_641_708_614));
        assert_eq!(&*read.new[0].comment, "crowdsec crowdsecurity/ssh-bf");
        assert_eq!(read.new[1].id, Some(2));
        assert_eq!(read.deleted[0].entry.to_string(), "192.0.2.9");
        assert_eq!(read.deleted[0].left, Duration::ZERO);
        assert_eq!((read.skipped, read.bad), (2, 0));
    }

    #[test]
    fn either_side_may_be_null() {
        for text in [
            r#"{"new":null,"deleted":null}"#,
            r#"{"deleted":[],"new":null}"#,
            r#"{"new":[],"later":{"a":[1]}}"#,
        ] {
            assert_eq!(read_all(text).unwrap(), Decisions::default(), "{text}");
        }
    }

    #[test]
    fn what_is_no_stream_is_refused() {
        let deep = format!("{{\"new\":{}", "[".repeat(100_000));
        for text in [
            "",
            "null",
            "[]",
            "{}",
            r#"{"message":"access forbidden"}"#,
            r#"{"new":{}}"#,
            r#"{"new":[7]}"#,
            r#"{"new":[{"id":"x"}]}"#,
            r#"{"new":null} more"#,
            r#"{"new":[],"deleted":["#,
            "<html>",
            &deep,
        ] {
            assert!(read_all(text).is_err(), "{}", cut(text));
        }
    }

    #[test]
    fn one_bad_decision_does_not_undo_the_others() {
        let one = |(value, duration): (&str, &str)| {
            format!(
                r#"{{"id":1,"type":"ban","scope":"ip","value":"{value}","duration":"{duration}"}}"#
            )
        };
        let list = [
            ("192.0.2.1", "1h"),
            ("192.0.2.300", "1h"),
            ("192.0.2.2", "soon"),
            ("0.0.0.0/0", "1h"),
            ("::/0", "1h"),
            ("192.0.2.77/24", "1h"),
            ("::ffff:192.0.2.3", "1h"),
            ("2001:db8::1", "1h"),
        ];
        let text = list.map(one).join(",");
        let read = read_all(&format!("{{\"new\":[{text}]}}")).unwrap();
        let texts: Vec<String> = read.new.iter().map(|one| one.entry.to_string()).collect();
        assert_eq!(
            texts,
            ["192.0.2.1", "192.0.2.0/24", "192.0.2.3", "2001:db8::1"]
        );
        assert_eq!((read.skipped, read.bad), (2, 2));
        let told = read.first_bad.unwrap();
        assert_eq!(told, "value \"192.0.2.300\" is no address and no network");
    }

    #[test]
    fn comments_are_bounded_and_printable() {
        assert_eq!(comment("", ""), "");
        assert_eq!(comment("a", ""), "a");
        assert_eq!(comment("a\n", "\u{1b}[31mb"), "a? ?[31mb");
        let long = comment("crowdsec", &"ä".repeat(400));
        assert!(long.len() <= COMMENT_BYTES_MAX && long.len() > COMMENT_BYTES_MAX - 2);
    }

    #[test]
    fn too_many_are_refused() {
        let one = r#"{"id":1,"type":"ban","scope":"ip","value":"192.0.2.1","duration":"1h"}"#;
        let many = |count: usize| format!("{{\"new\":[{}]}}", vec![one; count].join(","));
        assert_eq!(read_all(&many(100)).unwrap().new.len(), 100);
        assert!(read_all(&many(101)).unwrap_err().contains("more than 100"));
    }
}

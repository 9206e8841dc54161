//! A route while its words are read, over one line or several.

mod hop;
mod prefix;

use super::fault::{FaultKind, RouteFault};
use super::words::{self, Meaning};
use super::{HopText, RouteKind, RouteText};
use crate::entry;
use hop::HopDraft;
use prefix::Destination;
use std::collections::HashSet;
use std::iter::Peekable;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

/// Hops that a route may have.
pub(super) const HOPS_MAX: usize = 512;
/// Bytes that the name of an interface or of a table may have.
const NAME_BYTES_MAX: usize = 63;
/// What the kernel gives an IPv6 route that is added without a metric.
const METRIC_IPV6: u32 = 1024;

/// The names that were met. A name is kept once, however many routes have it.
#[derive(Default)]
pub(super) struct Names(HashSet<Arc<str>>);

impl Names {
    fn keep(&mut self, name: &str) -> Result<Arc<str>, RouteFault> {
        if let Some(kept) = self.0.get(name) {
            return Ok(Arc::clone(kept));
        }
        if name.len() > NAME_BYTES_MAX {
            return Err(FaultKind::NameTooLong(NAME_BYTES_MAX).at(name));
        }
        let kept: Arc<str> = Arc::from(name);
        self.0.insert(Arc::clone(&kept));
        Ok(kept)
    }
}

/// A route as far as it was read.
pub(super) struct Draft {
    line: u64,
    kind: RouteKind,
    destination: Destination,
    /// What stands before the first `nexthop`.
    own: HopDraft,
    /// One for each `nexthop`.
    hops: Vec<HopDraft>,
    metric: Option<u32>,
    table: Option<Arc<str>>,
    has_nexthop_id: bool,
}

/// The words of a line. A comment ends them.
pub(super) type Words<'a> = Peekable<WordsOf<'a>>;
type WordsOf<'a> = std::iter::TakeWhile<std::str::SplitAsciiWhitespace<'a>, fn(&&str) -> bool>;

/// The words of a line up to a comment.
pub(super) fn words_of(line: &str) -> Words<'_> {
    let is_said: fn(&&str) -> bool = |word| !word.starts_with('#');
    line.split_ascii_whitespace().take_while(is_said).peekable()
}

/// Whether a line that begins with this word continues the route before it.
pub(super) fn continues(word: &str) -> bool {
    let meaning = words::meaning(word);
    matches!(
        meaning,
        Some(Meaning::Nexthop | Meaning::NexthopInfo | Meaning::Cache)
    )
}

impl Draft {
    /// The line that it begins on.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Begins with the kind, if it is written, and the prefix.
    pub(super) fn begin(line: u64, words: &mut Words<'_>) -> Result<Self, RouteFault> {
        let mut word = words.next().ok_or_else(|| FaultKind::Empty.at(""))?;
        if continues(word) {
            return Err(FaultKind::NexthopFirst.at(word));
        }
        let kind = RouteKind::of_word(word);
        if kind.is_some() {
            word = words.next().ok_or_else(|| missing("prefix", word))?;
        }
        Ok(Self {
            line,
            kind: kind.unwrap_or(RouteKind::Unicast),
            destination: Destination::read(word)?,
            own: HopDraft::default(),
            hops: Vec::new(),
            metric: None,
            table: None,
            has_nexthop_id: false,
        })
    }

    /// Reads the rest of a line. Tells whether the next belongs to the route, too: whether a
    /// backslash ends this one.
    pub(super) fn add(
        &mut self,
        words: &mut Words<'_>,
        names: &mut Names,
    ) -> Result<bool, RouteFault> {
        while let Some(word) = words.next() {
            if word == "\\" {
                // In the place of a line end, as `ip -oneline` prints it.
                match words.peek() {
                    None => return Ok(true),
                    Some(next) if continues(next) => continue,
                    Some(next) => return Err(FaultKind::UnknownWord.at(next)),
                }
            }
            let meaning = words::meaning(word).ok_or_else(|| FaultKind::UnknownWord.at(word))?;
            if self.hops.is_empty() {
                self.take(word, meaning, words, names)?;
            } else {
                self.take_behind_nexthop(word, meaning, words, names)?;
            }
        }
        Ok(false)
    }

    /// Takes a word before the first `nexthop`, and what belongs to it.
    fn take(
        &mut self,
        word: &str,
        meaning: Meaning,
        words: &mut Words<'_>,
        names: &mut Names,
    ) -> Result<(), RouteFault> {
        match meaning {
            Meaning::Metric => {
                let value = value(words, word, "number")?;
                let metric = number(value).ok_or_else(|| FaultKind::Number.at(value))?;
                set(&mut self.metric, metric, word)
            }
            Meaning::Table => set(
                &mut self.table,
                names.keep(value(words, word, "table")?)?,
                word,
            ),
            Meaning::NexthopId => {
                self.has_nexthop_id = true;
                value(words, word, "number").map(drop)
            }
            Meaning::Weight => Err(FaultKind::NotOutsideAHop.at(word)),
            Meaning::Source => {
                let value = value(words, word, "address")?;
                let source = entry::parse_address(value.as_bytes());
                let source = source.ok_or_else(|| FaultKind::Source.at(value))?;
                self.destination.set_source(source, word)
            }
            Meaning::From => is_all(value(words, word, "prefix")?),
            Meaning::ServiceType => is_no_service_type(value(words, word, "value")?),
            Meaning::Preference => {
                self.destination.has_preference = true;
                value(words, word, "value").map(drop)
            }
            Meaning::Scope => {
                self.destination.has_scope = true;
                value(words, word, "value").map(drop)
            }
            Meaning::Features => {
                while words.next_if(|word| words::is_feature(word)).is_some() {}
                Ok(())
            }
            Meaning::Value => {
                words.next_if_eq(&"lock");
                value(words, word, "value").map(drop)
            }
            shared => self.take_of_hop(word, shared, words, names),
        }
    }

    /// Takes a word behind a `nexthop`.
    fn take_behind_nexthop(
        &mut self,
        word: &str,
        meaning: Meaning,
        words: &mut Words<'_>,
        names: &mut Names,
    ) -> Result<(), RouteFault> {
        if meaning == Meaning::Weight {
            let value = value(words, word, "number")?;
            let weight = number(value).filter(|weight| (1..=256).contains(weight));
            let weight = weight.ok_or_else(|| FaultKind::Weight.at(value))?;
            return set(&mut self.hop().weight, weight, word);
        }
        self.take_of_hop(word, meaning, words, names)
    }

    /// Takes a word that may stand before and behind a `nexthop`.
    fn take_of_hop(
        &mut self,
        word: &str,
        meaning: Meaning,
        words: &mut Words<'_>,
        names: &mut Names,
    ) -> Result<(), RouteFault> {
        match meaning {
            Meaning::Nexthop => self.begin_hop(word),
            Meaning::Via => self.hop().read_gateway(word, words),
            Meaning::Device => {
                let name = value(words, word, "name")?;
                set(&mut self.hop().device, names.keep(name)?, word)
            }
            Meaning::Dead => {
                self.hop().is_dead = true;
                Ok(())
            }
            Meaning::HopValue => value(words, word, "value").map(drop),
            Meaning::Flag => Ok(()),
            Meaning::Cache => {
                words.next_if(|word| word.starts_with('<') && word.ends_with('>'));
                Ok(())
            }
            Meaning::NexthopInfo => {
                while words.next_if(|word| *word != "\\").is_some() {}
                Ok(())
            }
            Meaning::Refused(why) => Err(FaultKind::Refused(why).at(word)),
            _ => Err(FaultKind::NotInAHop.at(word)),
        }
    }

    fn begin_hop(&mut self, word: &str) -> Result<(), RouteFault> {
        if self.hops.last().is_some_and(HopDraft::is_empty) {
            return Err(FaultKind::EmptyHop.at(word));
        }
        if self.hops.len() == HOPS_MAX {
            return Err(FaultKind::TooManyHops(HOPS_MAX).at(word));
        }
        self.hops.push(HopDraft::default());
        Ok(())
    }

    /// The hop that words are about.
    fn hop(&mut self) -> &mut HopDraft {
        self.hops.last_mut().unwrap_or(&mut self.own)
    }

    /// The route, once all its lines were read.
    pub(super) fn finish(self) -> Result<RouteText, RouteFault> {
        self.check()?;
        let hops = if self.hops.is_empty() {
            vec![self.own]
        } else {
            self.hops
        };
        let gateways = hops.iter().filter_map(|hop| hop.gateway);
        let (prefix, prefix_len) = self.destination.resolve(gateways, &hops)?;
        let mut route = RouteText {
            line: self.line,
            kind: self.kind,
            prefix,
            prefix_len,
            hops: Vec::new(),
            dead_count: 0,
            metric: self
                .metric
                .unwrap_or(if prefix.is_ipv4() { 0 } else { METRIC_IPV6 }),
            table: self.table.and_then(table),
        };
        if !route.kind.is_end() {
            route.add_hops(hops)?;
        }
        Ok(route)
    }

    /// What can be wrong with the words together.
    fn check(&self) -> Result<(), RouteFault> {
        let fault = if self.hops.last().is_some_and(HopDraft::is_empty) {
            FaultKind::EmptyHop.at("nexthop")
        } else if !self.hops.is_empty() && !self.own.is_empty() {
            FaultKind::HopAndHops.at(self.own.first_word())
        } else if self.kind.is_end() && self.own.gateway.is_some() {
            FaultKind::EndWithHop(self.kind).at("via")
        } else if self.kind.is_end() && !self.hops.is_empty() {
            FaultKind::EndWithHop(self.kind).at("nexthop")
        } else if self.kind == RouteKind::Unicast && self.hops.is_empty() && self.own.is_empty() {
            let alone = self.has_nexthop_id;
            let kind = if alone {
                FaultKind::NexthopIdAlone
            } else {
                FaultKind::Nowhere
            };
            kind.at(&self.destination.to_string())
        } else {
            return Ok(());
        };
        Err(fault)
    }
}

impl RouteText {
    /// Adds those of the hops that live.
    fn add_hops(&mut self, hops: Vec<HopDraft>) -> Result<(), RouteFault> {
        self.hops.reserve_exact(hops.len());
        for hop in hops {
            hop.check(self.prefix)?;
            if hop.is_dead {
                self.dead_count += 1;
            } else if !hop.is_empty() {
                self.hops.push(HopText {
                    gateway: hop.gateway.map(|gateway| gateway.address),
                    device: hop.device,
                    weight: hop.weight.unwrap_or(1),
                });
            }
        }
        Ok(())
    }
}

/// The word behind `word`, which is no word of a route.
fn value<'a>(words: &mut Words<'a>, word: &str, what: &'static str) -> Result<&'a str, RouteFault> {
    // An interface may have any name.
    let may_be = |next: &&str| what == "name" || words::meaning(next).is_none();
    let next = words.next_if(|next| *next != "\\" && may_be(next));
    next.ok_or_else(|| missing(what, word))
}

fn missing(what: &'static str, word: &str) -> RouteFault {
    FaultKind::ValueMissing(what).at(word)
}

/// A number as it is printed; iproute2 reads one that begins with 0 as octal or hexadecimal.
fn number<N: FromStr>(word: &str) -> Option<N> {
    let is_decimal = word.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = is_decimal && (word == "0" || !word.starts_with('0'));
    is_plain.then(|| word.parse().ok())?
}

/// A table by its name; `None` for the one that routes are in unless it is said.
fn table(name: Arc<str>) -> Option<Arc<str>> {
    match &*name {
        "main" | "254" => None,
        "255" => Some(Arc::from("local")),
        _ => Some(name),
    }
}

/// Sets what is written once at most.
fn set<T>(place: &mut Option<T>, value: T, word: &str) -> Result<(), RouteFault> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(FaultKind::Twice.at(word)),
    }
}

/// Refuses a prefix of sources that is not all of them.
fn is_all(word: &str) -> Result<(), RouteFault> {
    match word {
        "all" | "any" | "default" | "0.0.0.0/0" | "::/0" => Ok(()),
        _ => Err(FaultKind::SomeSources.at(word)),
    }
}

fn is_no_service_type(word: &str) -> Result<(), RouteFault> {
    match word {
        "0" | "0x0" | "0x00" | "default" => Ok(()),
        _ => Err(FaultKind::SomeServiceTypes.at(word)),
    }
}

/// Whether a gateway is written as one of the other family than the route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gateway {
    address: IpAddr,
    /// `inet` or `inet6` stands before it.
    has_family: bool,
}

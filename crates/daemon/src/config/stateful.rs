//! `[stateful]`: flows that a bridge remembers, and where they are written down.

use std::path::{Path, PathBuf};
use std::time::Duration;

use frame::PortId;
use plane::{FlowLogConfig, StatefulConfig, Timeouts};
use table::flows::WhenFull;

use super::error::{ConfigError, Wrong};
use super::ports::{PortConfig, choice, known_port, word};
use super::resolved::Writer;
use super::section::Section;

/// Flows of a family unless it is said otherwise.
pub const DEFAULT_FLOWS: u32 = 65_536;
/// Some 25 GB of both families: more is a slip of the keyboard.
pub const FLOWS_MAX: u32 = 100_000_000;
/// How often a flow that goes on is written down.
pub const DEFAULT_LOG_INTERVAL: Duration = Duration::from_secs(60);
/// Records of a family that wait for the writer at most, of each worker: 160 bytes each.
pub const LOG_RECORDS: u32 = 1 << 14;

const FULL: [(&str, WhenFull); 2] = [("refuse", WhenFull::Refuse), ("evict", WhenFull::Evict)];

/// `[stateful]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatefulSection {
    /// The names of the ports by which flows may begin.
    pub allow_new: Vec<String>,
    /// Flows known at most, of IPv4 and as many of IPv6.
    pub flows: u32,
    /// What happens to new ones where there is no room.
    pub full: WhenFull,
    /// What is sent to a group by UDP may be answered by anybody.
    pub answers_from_any: bool,
    /// Where they are written down.
    pub log: Option<PathBuf>,
    /// How often one that goes on is; zero for never.
    pub log_interval: Duration,
}

impl StatefulSection {
    pub(crate) fn read(section: Section<'_>, ports: &[PortConfig]) -> Result<Self, ConfigError> {
        let allow_new = section.texts("allow_new", |name| known_port(name, ports))?;
        let allow_new = allow_new.unwrap_or_default();
        if allow_new.is_empty() {
            let what = "[stateful] lets no port begin a flow";
            let remedy = "add allow_new = [\"NAME\"], the port that clients are behind";
            return Err(section.error_at("allow_new", Wrong::new(what, remedy)));
        }
        let flows = section.number("flows", 1..=i64::from(FLOWS_MAX))?;
        let full = section.parsed("full", "full = \"refuse\" or \"evict\"", |word| {
            choice(word, &FULL)
        })?;
        let answers_from_any = section.flag("answers_from_any")?;
        let log = section.path("flow_log")?;
        let times = Duration::ZERO..=Duration::from_secs(86_400);
        let log_interval = section.duration("flow_log_interval", times)?;
        section.finish()?;
        Ok(Self {
            allow_new,
            flows: flows.unwrap_or(DEFAULT_FLOWS),
            full: full.unwrap_or(WhenFull::Refuse),
            answers_from_any: answers_from_any.unwrap_or(false),
            log,
            log_interval: log_interval.unwrap_or(DEFAULT_LOG_INTERVAL),
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.section("stateful");
        out.texts("allow_new", self.allow_new.iter().map(String::as_str));
        out.raw("flows", self.flows);
        out.text("full", word(self.full, &FULL));
        out.raw("answers_from_any", self.answers_from_any);
        if let Some(log) = &self.log {
            out.text("flow_log", &log.display().to_string());
        }
        out.duration("flow_log_interval", self.log_interval);
    }

    /// Where flows are written down.
    #[must_use]
    pub fn log(&self) -> Option<&Path> {
        self.log.as_deref()
    }

    /// As the bridge between these ports is told it.
    #[must_use]
    pub fn policy(&self, ports: &[PortConfig]) -> StatefulConfig {
        let places = ports.iter().zip(0..);
        let allowed = places.filter(|(port, _)| self.allow_new.contains(&port.name));
        StatefulConfig {
            allow_new: allowed.fold(plane::Ports::NONE, |all, (_, place)| {
                all.with(PortId(place))
            }),
            flows: self.flows,
            full: self.full,
            answers_from_any: self.answers_from_any,
            timeouts: Timeouts::default(),
            log: self.log.is_some().then(|| log_config(self.log_interval)),
        }
    }
}

/// The names of the ports that routers are taken to be behind: those by which no flow may
/// begin; all where there are none.
pub(crate) fn router_side(stateful: Option<&StatefulSection>, ports: &[PortConfig]) -> Vec<String> {
    let begins = |name: &String| stateful.is_some_and(|own| own.allow_new.contains(name));
    let names = ports.iter().map(|port| port.name.clone());
    let (inside, outside): (Vec<String>, Vec<String>) = names.partition(begins);
    if outside.is_empty() { inside } else { outside }
}

/// A log that writes down what goes on once in so long.
#[must_use]
pub fn log_config(interval: Duration) -> FlowLogConfig {
    FlowLogConfig {
        interval: u32::try_from(interval.as_secs_f64().ceil() as u64).unwrap_or(u32::MAX),
        records: LOG_RECORDS,
    }
}

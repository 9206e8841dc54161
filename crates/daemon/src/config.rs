//! The configuration: one TOML file, read whole or refused with a sentence that names the line.
//!
//! [`Config::read`] checks all that can be checked without touching a port or a list;
//! [`Config::resolved`] writes every default out, in a form that reads back to the same.

mod columns;
mod error;
mod etcd;
mod fragments;
#[cfg(test)]
mod fragments_tests;
mod ports;
mod resolved;
mod router;
#[cfg(test)]
mod router_tests;
mod section;
mod service;
mod sets;
mod stateful;
mod switch;
#[cfg(test)]
mod switch_tests;
mod words;
mod workers;

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use engine::{DispatchPolicy, EngineError};
use plane::switch::SwitchTable;
use table::LISTS_MAX;
use toml::de::DeTable;

pub use error::ConfigError;
pub use etcd::{ClientFiles, EtcdConfig, Held, Login, TlsFiles};
pub use fragments::{
    DATAGRAMS_MAX, FRAGMENT_TIMEOUT_MAX, FragmentsSection, HELD_MAX, PIECES_MAX, SOURCE_PART_MAX,
};
pub use ports::{PipelineConfig, PipelineKind, PortConfig, Space};
pub use service::{
    ControlConfig, CrowdsecConfig, DEFAULT_SOCKET, KeyFrom, LogConfig, LogFormat, LogLevel,
    MetricsConfig, StateConfig, UserConfig,
};
pub use sets::{ActionAt, Guards, SetConfig, Source, is_set_name};
pub use stateful::{
    DEFAULT_FLOWS, DEFAULT_LOG_INTERVAL, FLOWS_MAX, LOG_RECORDS, StatefulSection, log_config,
};
pub(crate) use words::show_duration;
pub use words::{parse_cpus, parse_duration};
pub use workers::{LimitsConfig, MemoryConfig, WorkersConfig};

use crate::router::{RouterSettings, RouterWords};
use crate::switch::{SwitchWords, WordError, kernel_path};
use error::{Faults, Wrong};
use resolved::Writer;
use section::{Section, Text};

/// A configuration is written by a person: what is longer is another file, given by mistake.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// All that a configuration may have at its top.
const SECTIONS: [&str; 14] = [
    "port",
    "pipeline",
    "set",
    "stateful",
    "fragments",
    "workers",
    "memory",
    "limits",
    "control",
    "metrics",
    "state",
    "crowdsec",
    "log",
    "user",
];

/// All that `linerate run` is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `[[port]]`: two of them, or as many as a switch or a router has.
    pub ports: Vec<PortConfig>,
    /// `[[pipeline]]`: one of them.
    pub pipelines: Vec<PipelineConfig>,
    /// `[[set]]`, in the order of the file.
    pub sets: Vec<SetConfig>,
    /// `[stateful]`; none where flows are not remembered.
    pub stateful: Option<StatefulSection>,
    /// `[fragments]`; none where flows are not remembered.
    pub fragments: Option<FragmentsSection>,
    /// `[workers]`.
    pub workers: WorkersConfig,
    /// `[memory]`.
    pub memory: MemoryConfig,
    /// `[limits]`.
    pub limits: LimitsConfig,
    /// `[control]`.
    pub control: ControlConfig,
    /// `[metrics]`; none where nobody is to read them.
    pub metrics: Option<MetricsConfig>,
    /// `[state]`.
    pub state: StateConfig,
    /// `[crowdsec]`.
    pub crowdsec: Option<CrowdsecConfig>,
    /// `[log]`.
    pub log: LogConfig,
    /// `[user]`; none to stay who started it.
    pub user: Option<UserConfig>,
}

impl Config {
    /// Reads a file. Relative paths in it are meant from its own folder.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is longer than 1 MiB, is no TOML, or says what cannot be.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let refused = |what: String, remedy: &str| ConfigError {
            file: path.display().to_string(),
            line: 0,
            what,
            remedy: remedy.to_owned(),
            others: Vec::new(),
        };
        let unread = |error| {
            let what = format!("the configuration cannot be read ({error})");
            refused(what, "check the path and its permissions")
        };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unread)?;
        let mut bounded = file.take(FILE_BYTES_MAX + 1);
        bounded.read_to_end(&mut bytes).map_err(unread)?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            let what = "it is longer than 1 MiB, which no configuration is".to_owned();
            return Err(refused(what, "name a configuration"));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let what = format!("the configuration is no UTF-8 text at byte {at}");
            refused(what, "save it as UTF-8, or name another file")
        })?;
        let absolute = std::path::absolute(path).map_err(unread)?;
        // Errors name the file as the user did.
        let named = |mut error: ConfigError| {
            error.file = path.display().to_string();
            let others = error.others.iter_mut();
            others.for_each(|other| other.file.clone_from(&error.file));
            error
        };
        Self::parse(&absolute, &text).map_err(named)
    }

    /// Reads a text as if it stood in this file.
    ///
    /// # Errors
    ///
    /// As of [`Config::read`].
    pub fn parse(file: &Path, text: &str) -> Result<Self, ConfigError> {
        let source = Text { file, text };
        let document = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let what = error.message().lines().collect::<Vec<_>>().join(", ");
            source.error(at, Wrong::new(what, "correct it to be TOML"))
        })?;
        let root = Section::new(source, "the configuration", document.get_ref(), 0..0);
        Self::of(root)
    }

    fn of(root: Section<'_>) -> Result<Self, ConfigError> {
        // Before any section is read: one with a slip in its name would be missed by another.
        root.only(&SECTIONS)?;
        let mut faults = Faults::default();
        let ports = root.tables("port", "[[port]]")?;
        let ports: Vec<PortConfig> = faults.take_all(ports.into_iter().map(PortConfig::read));
        // What names a port that could not be read is not at fault.
        faults.result()?;
        if let Some(name) = twice(ports.iter().map(|port| port.name.as_str())) {
            let what = format!("two ports are named '{name}'");
            return Err(root.error_at("port", Wrong::new(what, "rename one")));
        }
        let stateful = optional(&mut faults, &root, "stateful", "[stateful]", |section| {
            StatefulSection::read(section, &ports)
        });
        let router = stateful::router_side(stateful.as_ref(), &ports);
        let pipelines = root.tables("pipeline", "[[pipeline]]")?;
        let mut pipelines: Vec<PipelineConfig> = faults.take_all(
            pipelines
                .into_iter()
                .map(|one| PipelineConfig::read(&one, &ports, &router)),
        );
        let ports = ports::left_to_kernel(ports, &pipelines);
        if pipelines.is_empty() {
            let both = ports::both(&ports);
            pipelines.extend(both.map(|both| PipelineConfig::between(both, &router)));
        }
        let sets = root.tables("set", "[[set]]")?;
        let sets = faults.take_all(sets.into_iter().map(|one| SetConfig::read(one, &ports)));
        let faults = &mut faults;
        let fragments = optional(
            faults,
            &root,
            "fragments",
            "[fragments]",
            FragmentsSection::read,
        );
        let config = Self {
            sets,
            fragments,
            stateful,
            ports,
            pipelines,
            workers: optional(faults, &root, "workers", "[workers]", WorkersConfig::read)
                .unwrap_or(WorkersConfig::DEFAULT),
            memory: optional(faults, &root, "memory", "[memory]", MemoryConfig::read)
                .unwrap_or_default(),
            limits: optional(faults, &root, "limits", "[limits]", LimitsConfig::read)
                .unwrap_or_default(),
            control: optional(faults, &root, "control", "[control]", ControlConfig::read)
                .unwrap_or_default(),
            metrics: optional(faults, &root, "metrics", "[metrics]", MetricsConfig::read),
            state: optional(faults, &root, "state", "[state]", StateConfig::read)
                .unwrap_or_default(),
            crowdsec: optional(
                faults,
                &root,
                "crowdsec",
                "[crowdsec]",
                CrowdsecConfig::read,
            ),
            log: optional(faults, &root, "log", "[log]", LogConfig::read).unwrap_or_default(),
            user: optional(faults, &root, "user", "[user]", UserConfig::read),
        };
        faults.result()?;
        let config = config.bounded(&root)?;
        config.check(&root)?;
        root.finish()?;
        Ok(config)
    }

    /// With bounds for what flows leave waiting, where these are remembered.
    fn bounded(self, root: &Section<'_>) -> Result<Self, ConfigError> {
        if self.stateful.is_none() && self.fragments.is_some() {
            let what = "[fragments] without [stateful] bounds nothing: no other bridge holds any";
            let remedy = "add [stateful], or leave [fragments] out";
            return Err(root.error_at("fragments", Wrong::new(what, remedy)));
        }
        let fragments = self.stateful.as_ref();
        let fragments = fragments.map(|_| self.fragments.unwrap_or_default());
        Ok(Self { fragments, ..self })
    }

    /// What no section can see by itself.
    fn check(&self, root: &Section<'_>) -> Result<(), ConfigError> {
        let wrong = |key: &str, what: String, remedy: &str| {
            Err(root.error_at(key, Wrong::new(what, remedy)))
        };
        if self.pipelines.len() > 1 {
            let what = format!("{} pipelines are given", self.pipelines.len());
            return wrong("pipeline", what, "leave all but one [[pipeline]] out");
        }
        if let Some(stage) = self.stage() {
            self.check_stage(root, stage)?;
        } else if self.ports.len() != 2 {
            let what = format!("a bridge has two ports and {} are given", self.ports.len());
            let remedy = "write two [[port]] sections, or a [[pipeline]] with kind = \"switch\" or \
                          \"router\"";
            return wrong("port", what, remedy);
        }
        let keep = self.pipelines.iter().flat_map(|pipeline| &pipeline.keep);
        let keep: Vec<&str> = keep.map(|space| space.set_name()).collect();
        let names = self.sets.iter().map(|set| set.name.as_str());
        let names: Vec<&str> = names.chain(keep).collect();
        if let Some(name) = twice(names.iter().copied()) {
            return wrong("set", format!("two sets are named '{name}'"), "rename one");
        }
        if names.len() > LISTS_MAX {
            let what = format!(
                "{} sets are given and {LISTS_MAX} are the most",
                names.len()
            );
            return wrong("set", what, "join some of them");
        }
        let workers = self.workers.cpus.as_ref().map(Vec::len);
        let workers = workers.or(self.workers.count).unwrap_or(1);
        let any = self.stateful.as_ref();
        if any.is_some_and(|stateful| stateful.answers_from_any) && workers > 1 {
            let what = format!("{workers} workers and answers_from_any = true disagree");
            return wrong(
                "stateful",
                what,
                "have one worker, or leave answers_from_any out",
            );
        }
        let direct = self.workers.dispatch.policy == Some(DispatchPolicy::Direct);
        if self.stateful.is_some() && workers > 1 && direct {
            let what = format!("{workers} workers, [stateful] and dispatch = \"direct\" disagree");
            return wrong("stateful", what, "leave dispatch out, or have one worker");
        }
        match &self.crowdsec {
            Some(crowdsec) if !names.contains(&crowdsec.set.as_str()) => {
                let what = format!(
                    "[crowdsec] fills a set '{}' that is not there",
                    crowdsec.set
                );
                wrong("crowdsec", what, "add a [[set]] of that name")
            }
            _ => Ok(()),
        }
    }

    /// What decides where frames leave, where that is no bridge.
    fn stage(&self) -> Option<&'static str> {
        self.pipelines.iter().find_map(|one| match &one.kind {
            PipelineKind::Bridge => None,
            PipelineKind::Switch(_) => Some("switch"),
            PipelineKind::Router(_) => Some("router"),
        })
    }

    /// What a switch or a router cannot have beside it.
    fn check_stage(&self, root: &Section<'_>, stage: &str) -> Result<(), ConfigError> {
        let mut faults = Faults::default();
        if self.stateful.is_some() {
            let wrong = section::split_sentence(&EngineError::NodeFlows.to_string());
            faults.take::<()>(Err(root.error_at("stateful", wrong)));
        }
        let sections = root.tables("port", "[[port]]")?;
        for (port, section) in self.ports.iter().zip(&sections) {
            if let Some(sentence) = kernel_path(&port.spec, stage) {
                let wrong = section::split_sentence(&sentence);
                faults.take::<()>(Err(section.error_at("spec", wrong)));
            }
        }
        faults.result()
    }

    /// What the switch is asked to do, where the pipeline is one.
    fn switch_words(&self) -> Option<&SwitchWords> {
        self.pipelines.iter().find_map(|one| match &one.kind {
            PipelineKind::Switch(words) => Some(&**words),
            _ => None,
        })
    }

    /// The file of rules of packets, if one is named.
    pub(crate) fn rules_file(&self) -> Option<&Path> {
        self.pipelines.iter().find_map(|one| one.rules.as_deref())
    }

    /// What the router is asked to do, where the pipeline is one.
    pub(crate) fn router_words(&self) -> Option<&RouterWords> {
        self.pipelines.iter().find_map(|one| match &one.kind {
            PipelineKind::Router(words) => Some(&**words),
            _ => None,
        })
    }

    /// The settings of the switch, where the pipeline is one.
    ///
    /// # Errors
    ///
    /// Words that cannot be read, which [`Config::parse`] has refused.
    pub fn switch_table(&self) -> Result<Option<SwitchTable>, String> {
        let Some(words) = self.switch_words() else {
            return Ok(None);
        };
        let table = switch::table(words, &self.ports);
        table.map(Some).map_err(|errors| joined(&errors))
    }

    /// The settings of the router, where the pipeline is one; files of routes are read.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or routes that cannot be together.
    pub fn router_settings(&self) -> Result<Option<RouterSettings>, String> {
        let Some(words) = self.router_words() else {
            return Ok(None);
        };
        // What is no file, as a FIFO, could keep a reload waiting for ever, and has no end.
        let no_file = |path: &&PathBuf| fs::metadata(path).is_ok_and(|found| !found.is_file());
        let routes = words.routes.iter().map(|path| ("routes", path));
        let nat = words.nat.iter().map(|path| ("nat", path));
        if let Some((key, path)) = routes.chain(nat).find(|(_, path)| no_file(path)) {
            let name = path.display();
            return Err(format!(
                "{key} in [[pipeline]]: {name} is no file: name one"
            ));
        }
        let cpus = self.workers.cpus.as_ref().map(Vec::len);
        let workers = self.workers.count.or(cpus).unwrap_or(1);
        if words.nat.is_some() && workers > 1 {
            let sentence = plane::router::RouterTableError::NatWorkers;
            return Err(format!("nat in [[pipeline]]: {sentence}"));
        }
        let settings = router::settings(words, &self.ports);
        settings.map(Some).map_err(|errors| joined(&errors))
    }

    /// The configuration as TOML with every default that does not depend on the machine. Reads
    /// back to the same.
    #[must_use]
    pub fn resolved(&self) -> String {
        self.written(Writer::default())
    }

    /// The same without what may be a secret: queries and passwords of addresses.
    #[must_use]
    pub fn shown(&self) -> String {
        self.written(Writer::shown())
    }

    fn written(&self, mut out: Writer) -> String {
        self.ports.iter().for_each(|port| port.write(&mut out));
        self.pipelines
            .iter()
            .for_each(|pipeline| pipeline.write(&mut out));
        self.sets.iter().for_each(|set| set.write(&mut out));
        self.stateful
            .iter()
            .for_each(|stateful| stateful.write(&mut out));
        self.fragments
            .iter()
            .for_each(|fragments| fragments.write(&mut out));
        self.workers.write(&mut out);
        self.memory.write(&mut out);
        self.limits.write(&mut out);
        self.control.write(&mut out);
        self.metrics
            .iter()
            .for_each(|metrics| metrics.write(&mut out));
        self.state.write(&mut out);
        self.crowdsec
            .iter()
            .for_each(|crowdsec| crowdsec.write(&mut out));
        self.log.write(&mut out);
        self.user.iter().for_each(|user| user.write(&mut out));
        out.finish()
    }
}

fn joined(errors: &[WordError]) -> String {
    let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
    said.join("; ")
}

/// What stands in a section that may be missing; none as well where it is wrong.
fn optional<'t, T>(
    faults: &mut Faults,
    root: &Section<'t>,
    key: &'static str,
    name: &'static str,
    read: impl FnOnce(Section<'t>) -> Result<T, ConfigError>,
) -> Option<T> {
    let section = root.table(key, name);
    let read = section.and_then(|section| section.map(read).transpose());
    faults.take(read).flatten()
}

/// The first name that comes a second time.
fn twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if seen.contains(&name) {
            return Some(name);
        }
        seen.push(name);
    }
    None
}

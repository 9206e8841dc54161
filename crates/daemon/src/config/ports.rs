//! `[[port]]` and `[[pipeline]]`: where frames enter and leave, and what is between.

use std::path::PathBuf;

use plane::{Otherwise, PassRules, TunnelPolicy};
use port::PortSpec;
use wire::{HashHeader, TunnelKind, TunnelPorts};

use super::error::{ConfigError, Faults, Wrong};
use super::resolved::Writer;
use super::section::{Section, split_sentence};
use super::{router, switch};
use crate::router::{RouterWords, leave_control};
use crate::switch::SwitchWords;

/// `[[port]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PortConfig {
    /// What sets, pipelines and reports call it; the driver and the name of the spec, as in
    /// `xdp:eth1`, unless it is given.
    pub name: String,
    /// What to open, as `linerate bridge` takes it.
    pub spec: PortSpec,
    /// Whether the daemon is not healthy while it is down.
    pub required: bool,
}

/// What is between the ports of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipelineKind {
    /// What comes in by one port leaves by the other, unless a set stops it.
    Bridge,
    /// Frames leave by the ports that their VLAN and destination ask for, unless a set stops them.
    Switch(Box<SwitchWords>),
    /// IP packets leave by the interface that their route leads to, unless a set stops them.
    Router(Box<RouterWords>),
}

/// The ports, of which the XDP program leaves the kernel what is its own where a pipeline goes by
/// the kernel's routes.
pub(super) fn left_to_kernel(
    mut ports: Vec<PortConfig>,
    pipelines: &[PipelineConfig],
) -> Vec<PortConfig> {
    let by_kernel = |one: &PipelineConfig| match &one.kind {
        PipelineKind::Router(words) => words.kernel,
        _ => false,
    };
    if pipelines.iter().any(by_kernel) {
        for port in &mut ports {
            leave_control(&mut port.spec);
        }
    }
    ports
}

/// Words for kinds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KindWord {
    Bridge,
    Switch,
    Router,
}

/// Address space that no set may block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// 10/8, 172.16/12, 192.168/16, 100.64/10 and `fc00::/7`.
    Private,
    /// Loopback, link-local, multicast, broadcast, and this machine's own addresses, gateways and
    /// name servers.
    Local,
}

impl Space {
    /// The word a user writes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Local => "local",
        }
    }

    /// The allow set that stands for it.
    #[must_use]
    pub fn set_name(self) -> &'static str {
        match self {
            Self::Private => "keep-private",
            Self::Local => "keep-local",
        }
    }
}

/// `[[pipeline]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineConfig {
    /// What it does.
    pub kind: PipelineKind,
    /// The names of its ports; all ports of the configuration unless they are given.
    pub ports: Vec<String>,
    /// For IP frames that no set decides on.
    pub default: Otherwise,
    /// For frames that carry no IP.
    pub non_ip: Otherwise,
    /// For frames that break a protocol's rules.
    pub malformed: Otherwise,
    /// What the network needs, which passes all the same.
    pub pass: PassRules,
    /// The names of the ports that routers and DHCP servers are behind: those by which no
    /// flow may begin, or both, unless they are given.
    pub router: Vec<String>,
    /// How packets inside packets are taken.
    pub tunnels: TunnelPolicy,
    /// Address space to exempt, each once.
    pub keep: Vec<Space>,
    /// A file of rules of packets.
    pub rules: Option<PathBuf>,
}

const KEEP: [(&str, Space); 2] = [("private", Space::Private), ("local", Space::Local)];
const HASH: [(&str, HashHeader); 2] = [("inner", HashHeader::Inner), ("outer", HashHeader::Outer)];
const OTHERWISE: [(&str, Otherwise); 2] =
    [("forward", Otherwise::Forward), ("drop", Otherwise::Drop)];
const KINDS: [(&str, KindWord); 3] = [
    ("bridge", KindWord::Bridge),
    ("switch", KindWord::Switch),
    ("router", KindWord::Router),
];

/// One of some words.
pub(crate) fn choice<T: Copy>(word: &str, known: &[(&'static str, T)]) -> Result<T, Wrong> {
    let found = known.iter().find(|(name, _)| *name == word);
    found.map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|&(name, _)| name).collect();
        let remedy = match port::nearest_word(word, &names) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("write {}", names.join(", ")),
        };
        Wrong::new(format!("'{word}' is unknown"), remedy)
    })
}

/// The word of a value.
pub(crate) fn word<T: Copy + PartialEq>(value: T, known: &[(&'static str, T)]) -> &'static str {
    let found = known.iter().find(|&&(_, other)| other == value);
    found.map_or("", |&(name, _)| name)
}

impl PortConfig {
    pub(crate) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let parse =
            |text: &str| PortSpec::parse(text).map_err(|error| split_sentence(&error.to_string()));
        let spec = section.parsed("spec", "spec = \"xdp:eth1\"", parse)?;
        let spec = spec.ok_or_else(|| section.missing("spec"))?;
        let shown = spec.to_string();
        let short = shown.split(',').next().unwrap_or_default();
        let name = section.text("name")?.unwrap_or_else(|| short.to_owned());
        if name.is_empty() {
            let wrong = Wrong::new("a port has an empty name", "give it one or leave name out");
            return Err(section.error_at("name", wrong));
        }
        if name.chars().any(char::is_control) {
            let what = format!("the name {name:?} has a control character");
            let wrong = Wrong::new(what, "take it out, since reports and logs print names");
            return Err(section.error_at("name", wrong));
        }
        if matches!(&spec, PortSpec::Xdp(xdp) if xdp.shortcut) {
            let what = "shortcut=on would stay closed: it needs lists that never change, and the \
                        sets of a daemon do";
            let wrong = Wrong::new(what, "leave shortcut out, or run linerate bridge");
            return Err(section.error_at("spec", wrong));
        }
        let required = section.flag("required")?.unwrap_or(true);
        section.finish()?;
        Ok(Self {
            name,
            spec,
            required,
        })
    }

    /// Its name, where it is not that of the driver and interface.
    #[must_use]
    pub fn given_name(&self) -> Option<String> {
        let spec = self.spec.to_string();
        let is_short = spec.split(',').next() == Some(self.name.as_str());
        (!is_short).then(|| self.name.clone())
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.array("port");
        out.text("name", &self.name);
        out.text("spec", &self.spec.to_string());
        out.raw("required", self.required);
    }
}

impl PipelineConfig {
    /// The pipeline where none is written.
    pub(crate) fn between(ports: [String; 2], router: &[String]) -> Self {
        Self {
            kind: PipelineKind::Bridge,
            ports: ports.into(),
            pass: PassRules::ALL,
            router: router.to_vec(),
            default: Otherwise::Forward,
            non_ip: Otherwise::Forward,
            malformed: Otherwise::Drop,
            tunnels: TunnelPolicy::default(),
            keep: Vec::new(),
            rules: None,
        }
    }

    /// `router`: the ports that routers are taken to be behind.
    pub(crate) fn read(
        section: &Section<'_>,
        ports: &[PortConfig],
        router: &[String],
    ) -> Result<Self, ConfigError> {
        let mut faults = Faults::default();
        // A bridge with a key of a switch lacks its kind, whatever else is wrong.
        let (kind, between) = read_kind(section, ports, &mut faults)?;
        let otherwise = |key| {
            section.parsed(key, "\"forward\" or \"drop\"", |word| match word {
                // As `action` of a set has it.
                "block" | "deny" => Ok(Otherwise::Drop),
                word => choice(word, &OTHERWISE),
            })
        };
        let [default, non_ip, malformed] =
            ["default", "non_ip", "malformed"].map(|key| faults.take(otherwise(key)).flatten());
        let pass = faults.take(read_pass(section));
        let given = section.texts("router", |name| known_port(name, ports));
        let given = faults.take(given).flatten();
        let tunnels = faults.take(read_tunnels(section));
        let keep = faults.take(read_keep(section)).unwrap_or_default();
        let rules = faults.take(section.path("rules")).flatten();
        faults.take(section.all_asked());
        match &kind {
            PipelineKind::Bridge => {}
            PipelineKind::Switch(words) => switch::check(words, section, ports, &mut faults),
            PipelineKind::Router(words) => router::check(words, section, ports, &mut faults),
        }
        faults.result()?;
        Ok(Self {
            ports: between,
            pass: pass.unwrap_or(PassRules::ALL),
            router: given.unwrap_or_else(|| router.to_vec()),
            default: default.unwrap_or(Otherwise::Forward),
            non_ip: non_ip.unwrap_or(Otherwise::Forward),
            malformed: malformed.unwrap_or(match kind {
                PipelineKind::Bridge => Otherwise::Drop,
                PipelineKind::Switch(_) | PipelineKind::Router(_) => Otherwise::Forward,
            }),
            tunnels: tunnels.unwrap_or_default(),
            keep,
            rules,
            kind,
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.array("pipeline");
        let kind = match self.kind {
            PipelineKind::Bridge => KindWord::Bridge,
            PipelineKind::Switch(_) => KindWord::Switch,
            PipelineKind::Router(_) => KindWord::Router,
        };
        out.text("kind", word(kind, &KINDS));
        out.texts("ports", self.ports.iter().map(String::as_str));
        out.text("default", word(self.default, &OTHERWISE));
        out.text("non_ip", word(self.non_ip, &OTHERWISE));
        out.text("malformed", word(self.malformed, &OTHERWISE));
        out.texts("pass", self.pass.names());
        out.texts("router", self.router.iter().map(String::as_str));
        if let Some(hash) = self.tunnels.hash {
            out.text("hash", word(hash, &HASH));
        }
        let ports = tunnel_words(self.tunnels.ports);
        out.texts("tunnel_ports", ports.iter().map(String::as_str));
        out.texts("keep", self.keep.iter().map(|space| space.name()));
        if let Some(rules) = &self.rules {
            out.path("rules", rules);
        }
        match &self.kind {
            PipelineKind::Bridge => {}
            PipelineKind::Switch(words) => switch::write(words, out),
            PipelineKind::Router(words) => router::write(words, out),
        }
    }
}

/// What a pipeline does, and between which ports: its keys alone, not what they mean together.
fn read_kind(
    section: &Section<'_>,
    ports: &[PortConfig],
    faults: &mut Faults,
) -> Result<(PipelineKind, Vec<String>), ConfigError> {
    let wanted = "kind = \"bridge\", \"switch\" or \"router\"";
    let kind = section.parsed("kind", wanted, |word| choice(word, &KINDS))?;
    let kind = kind.unwrap_or(KindWord::Bridge);
    refuse_keys_of_others(section, kind)?;
    match kind {
        KindWord::Bridge => Ok((PipelineKind::Bridge, bridged(section, ports)?)),
        KindWord::Switch => {
            let names = faults.take(switch::read_ports(section, ports, 2));
            let words = switch::read(section, faults);
            let kind = PipelineKind::Switch(Box::new(words));
            Ok((kind, names.unwrap_or_default()))
        }
        KindWord::Router => {
            let names = faults.take(switch::read_ports(section, ports, 1));
            let words = router::read(section, faults);
            let kind = PipelineKind::Router(Box::new(words));
            Ok((kind, names.unwrap_or_default()))
        }
    }
}

/// Refuses a key that another kind of pipeline has.
fn refuse_keys_of_others(section: &Section<'_>, kind: KindWord) -> Result<(), ConfigError> {
    let keys: [(KindWord, Vec<&'static str>); 2] = [
        (KindWord::Switch, switch::own_keys().collect()),
        (KindWord::Router, router::OWN_KEYS.to_vec()),
    ];
    for (other, keys) in keys.into_iter().filter(|(other, _)| *other != kind) {
        if let Some(key) = section.has_one_of(keys) {
            let other = word(other, &KINDS);
            let what = format!("{key} in [[pipeline]] is for a {other} alone");
            let remedy = format!("write kind = \"{other}\", or leave {key} out");
            return Err(section.error_at(key, Wrong::new(what, remedy)));
        }
    }
    Ok(())
}

/// The two ports of a bridge.
fn bridged(section: &Section<'_>, ports: &[PortConfig]) -> Result<Vec<String>, ConfigError> {
    let known = |name: &str| known_port(name, ports);
    let between = match section.texts("ports", known)? {
        Some(names) => <[String; 2]>::try_from(names)
            .ok()
            .filter(|[first, second]| first != second)
            .ok_or_else(|| section.error_at("ports", not_two()))?,
        None => both(ports).ok_or_else(|| section.missing("ports"))?,
    };
    Ok(between.into())
}

/// Address space to exempt, each once.
fn read_keep(section: &Section<'_>) -> Result<Vec<Space>, ConfigError> {
    let spaces = section.texts("keep", |word| choice(word, &KEEP))?;
    let mut keep = Vec::new();
    for space in spaces.unwrap_or_default() {
        if !keep.contains(&space) {
            keep.push(space);
        }
    }
    Ok(keep)
}

/// Which rules there are; all of them unless some are given.
fn read_pass(section: &Section<'_>) -> Result<PassRules, ConfigError> {
    let Some(words) = section.texts("pass", |word| Ok(word.to_owned()))? else {
        return Ok(PassRules::ALL);
    };
    PassRules::from_words(words.iter().map(String::as_str)).map_err(|error| {
        let wrong = split_sentence(&error.to_string());
        section.error_at("pass", wrong)
    })
}

fn read_tunnels(section: &Section<'_>) -> Result<TunnelPolicy, ConfigError> {
    let wanted = "hash = \"inner\" or \"outer\"";
    let hash = section.parsed("hash", wanted, |word| choice(word, &HASH))?;
    let words = section.texts("tunnel_ports", |word| Ok(word.to_owned()))?;
    let words = words.unwrap_or_default();
    let ports = TunnelPorts::from_words(words.iter().map(String::as_str)).map_err(|error| {
        let wrong = split_sentence(&error.to_string());
        section.error_at("tunnel_ports", wrong)
    })?;
    Ok(TunnelPolicy { hash, ports })
}

/// As they are read: a kind without a port is said to have none.
fn tunnel_words(ports: TunnelPorts) -> Vec<String> {
    let of_kind = |kind: TunnelKind| {
        let own = ports.iter().filter(move |(other, _)| *other == kind);
        let mut words: Vec<String> = own
            .map(|(_, port)| format!("{}={port}", kind.name()))
            .collect();
        if words.is_empty() {
            words.push(format!("{}=none", kind.name()));
        }
        words
    };
    let kinds = [TunnelKind::Vxlan, TunnelKind::Geneve, TunnelKind::GtpU];
    kinds.into_iter().flat_map(of_kind).collect()
}

/// The two ports of a configuration that has just two.
pub(crate) fn both(ports: &[PortConfig]) -> Option<[String; 2]> {
    match ports {
        [first, second] => Some([first.name.clone(), second.name.clone()]),
        _ => None,
    }
}

fn not_two() -> Wrong {
    let what = "ports in [[pipeline]] are not two different ones";
    Wrong::new(what, "name the two that it is between")
}

/// The name of a port that is there.
pub(crate) fn known_port(name: &str, ports: &[PortConfig]) -> Result<String, Wrong> {
    let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    if names.contains(&name) {
        return Ok(name.to_owned());
    }
    let remedy = match port::nearest_word(name, &names) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("the ports are {}", names.join(", ")),
    };
    Err(Wrong::new(format!("no port is named '{name}'"), remedy))
}

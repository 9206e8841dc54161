//! `[[port]]` and `[[pipeline]]`: where frames enter and leave, and what is between.

use plane::{Otherwise, PassRules, TunnelPolicy};
use port::PortSpec;
use wire::{HashHeader, TunnelKind, TunnelPorts};

use super::error::{ConfigError, Wrong};
use super::resolved::Writer;
use super::section::{Section, split_sentence};

/// `[[port]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PortConfig {
    /// What sets, pipelines and reports call it; the driver and the name of the spec, as in
    /// `xdp:eth1`, unless it is given.
    pub name: String,
    /// What to open, as `linerate bridge` takes it.
    pub spec: PortSpec,
}

/// What is between the ports of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineKind {
    /// What comes in by one port leaves by the other, unless a set stops it.
    Bridge,
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
    /// The names of its ports; both ports of the configuration unless they are given.
    pub ports: [String; 2],
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
}

const KEEP: [(&str, Space); 2] = [("private", Space::Private), ("local", Space::Local)];
const HASH: [(&str, HashHeader); 2] = [("inner", HashHeader::Inner), ("outer", HashHeader::Outer)];
const OTHERWISE: [(&str, Otherwise); 2] =
    [("forward", Otherwise::Forward), ("drop", Otherwise::Drop)];
const KINDS: [(&str, PipelineKind); 1] = [("bridge", PipelineKind::Bridge)];

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
        if matches!(&spec, PortSpec::Xdp(xdp) if xdp.shortcut) {
            let what = "shortcut=on would stay closed: it needs lists that never change, and the \
                        sets of a daemon do";
            let wrong = Wrong::new(what, "leave shortcut out, or run linerate bridge");
            return Err(section.error_at("spec", wrong));
        }
        section.finish()?;
        Ok(Self { name, spec })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.array("port");
        out.text("name", &self.name);
        out.text("spec", &self.spec.to_string());
    }
}

impl PipelineConfig {
    /// The pipeline where none is written.
    pub(crate) fn between(ports: [String; 2], router: &[String]) -> Self {
        Self {
            kind: PipelineKind::Bridge,
            ports,
            pass: PassRules::ALL,
            router: router.to_vec(),
            default: Otherwise::Forward,
            non_ip: Otherwise::Forward,
            malformed: Otherwise::Drop,
            tunnels: TunnelPolicy::default(),
            keep: Vec::new(),
        }
    }

    /// `router`: the ports that routers are taken to be behind.
    pub(crate) fn read(
        section: Section<'_>,
        ports: &[PortConfig],
        router: &[String],
    ) -> Result<Self, ConfigError> {
        let kind = section.parsed("kind", "kind = \"bridge\"", |word| choice(word, &KINDS))?;
        let known = |name: &str| known_port(name, ports);
        let between = match section.texts("ports", known)? {
            Some(names) => <[String; 2]>::try_from(names)
                .ok()
                .filter(|[first, second]| first != second)
                .ok_or_else(|| section.error_at("ports", not_two()))?,
            None => both(ports).ok_or_else(|| section.missing("ports"))?,
        };
        let otherwise = |key| {
            section.parsed(key, "\"forward\" or \"drop\"", |word| match word {
                // As `action` of a set has it.
                "block" | "deny" => Ok(Otherwise::Drop),
                word => choice(word, &OTHERWISE),
            })
        };
        let (default, non_ip) = (otherwise("default")?, otherwise("non_ip")?);
        let malformed = otherwise("malformed")?;
        let pass = read_pass(&section)?;
        let given = section.texts("router", known)?;
        let tunnels = read_tunnels(&section)?;
        let mut keep = Vec::new();
        for space in section
            .texts("keep", |word| choice(word, &KEEP))?
            .unwrap_or_default()
        {
            if !keep.contains(&space) {
                keep.push(space);
            }
        }
        section.finish()?;
        Ok(Self {
            kind: kind.unwrap_or(PipelineKind::Bridge),
            ports: between,
            pass,
            router: given.unwrap_or_else(|| router.to_vec()),
            default: default.unwrap_or(Otherwise::Forward),
            non_ip: non_ip.unwrap_or(Otherwise::Forward),
            malformed: malformed.unwrap_or(Otherwise::Drop),
            tunnels,
            keep,
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.array("pipeline");
        out.text("kind", word(self.kind, &KINDS));
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
    }
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

//! A whole bridge, ready to be loaded and opened, and its text for `--dry-run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use daemon::switch::{NamedPort, PortNames};
use daemon::{DEFAULT_STRIDE_BYTES, Layout};
use engine::{DispatchSettings, IdleMode, Limits};
use plane::switch::{SwitchConfig, SwitchTable, VlanMode};
use plane::{Headers, Otherwise, PassRules, Policy, Ports, SetRule, Sides, StatefulConfig};
use port::{Bypass, PortSpec};
use serde_json::{Value, json};
use table::fragments::FragmentLimits;

use super::sets::keep_name;
use super::{SetPlan, Source, ports};
use crate::args::{BridgeArgs, ForwardArgs, SwitchArgs};
use crate::error::Error;
use crate::output::Stream;
use crate::paint::Paint;
use crate::report::number::{count, plural, seconds};
use crate::report::table::{Align, Table};

/// UDP ports of tunnels that the XDP program leaves to workers, as `bpf/sieve.h` has them.
const SHORTCUT_TUNNELS: [u16; 4] = [4789, 8472, 6081, 2152];

/// What `linerate bridge` will do.
#[derive(Debug)]
pub(crate) struct BridgeSettings {
    pub(crate) ports: Vec<PortSpec>,
    /// Where frames leave, if not by the other of two ports.
    pub(crate) switch: Option<Arc<SwitchTable>>,
    pub(crate) sets: SetPlan,
    pub(crate) layout: Layout,
    pub(crate) dispatch: DispatchSettings,
    pub(crate) idle: IdleMode,
    /// Interrupts go beside their workers.
    pub(crate) pin_irqs: bool,
    pub(crate) limits: Limits,
    /// Where flows are written down.
    pub(crate) flow_log: Option<PathBuf>,
    pub(crate) seed: u64,
    /// Where the report goes: standard output unless a capture is written there.
    pub(crate) report_to: Stream,
}

/// What a bridge lets wait.
fn fragments_fact(limits: &FragmentLimits) -> String {
    let (held, datagrams) = (count(limits.held.into()), count(limits.datagrams.into()));
    let seconds = limits.timeout.0 as f64 / 1e9;
    format!("{held} may wait {seconds} s for the first one, of {datagrams} packets at once")
}

impl BridgeSettings {
    /// What was typed, as it is meant here.
    pub(crate) fn resolve(args: &BridgeArgs) -> Result<Self, Error> {
        let typed = [args.first.as_str(), args.second.as_str()];
        Self::between(ports::parse(&typed)?, &typed, &args.common)
    }

    /// The same of a switch.
    pub(crate) fn resolve_switch(args: &SwitchArgs) -> Result<Self, Error> {
        let named: Vec<NamedPort> = args
            .ports
            .iter()
            .map(|text| NamedPort::parse(text))
            .collect();
        let specs: Vec<&str> = named.iter().map(|port| port.spec.as_str()).collect();
        let ports = ports::parse(&specs)?;
        let names = PortNames::new(named.clone()).map_err(Error::refused)?;
        let table = args.settings.table(&names).map_err(Error::refused)?;
        let shown: Vec<&str> = named.iter().map(NamedPort::shown).collect();
        let mut settings = Self::between(ports, &shown, &args.common)?;
        settings.check_kernel_paths()?;
        if args.common.policy.malformed.is_none() {
            settings.sets.policy.malformed = Otherwise::Forward;
        }
        Ok(Self {
            switch: Some(Arc::new(table)),
            ..settings
        })
    }

    /// What is to happen between ports that users call `names`.
    fn between(ports: Vec<PortSpec>, names: &[&str], args: &ForwardArgs) -> Result<Self, Error> {
        let mut sets = SetPlan::resolve(&args.policy)?;
        sets.policy.stateful = args.stateful.config(names).map_err(Error::refused)?;
        sets.policy.router = router_side(args, names, sets.policy.stateful.as_ref())?;
        sets.policy.fragments = args.fragments.fragments.0;
        ports::check_rings(&ports)?;
        ports::check_streams(&ports, sets.stdin_count(), args.run.json)?;
        let logs_to_stdout = args.stateful.flow_log.as_deref() == Some(Path::new("-"));
        let taken = ports::writes_stdout(&ports);
        if logs_to_stdout && (taken || args.run.json) {
            return Err(Error::refused(
                "--flow-log - and something else would both write to standard output: name a file",
            ));
        }
        let settings = Self {
            layout: args.workers.layout(&ports)?,
            ports,
            switch: None,
            sets,
            dispatch: args.dispatch.settings(),
            idle: args.idle.into(),
            pin_irqs: args.pin_irqs,
            limits: Limits {
                duration: args.run.duration,
                frames: args.run.frames,
            },
            flow_log: args.stateful.flow_log.clone(),
            seed: args.run.seed,
            report_to: if taken || logs_to_stdout {
                Stream::Stderr
            } else {
                Stream::Stdout
            },
        };
        settings.check_shortcut()?;
        settings.check_answers()?;
        settings.check_pass(args.policy.router.is_some())?;
        Ok(settings)
    }

    /// The kernel forwards between two ports and knows no VLANs.
    fn check_kernel_paths(&self) -> Result<(), Error> {
        let passes_by = |port: &&PortSpec| match port {
            PortSpec::Xdp(xdp) => xdp.shortcut || xdp.bypass != Bypass::Off,
            _ => false,
        };
        match self.ports.iter().find(passes_by) {
            Some(port) => Err(Error::refused(format!(
                "{port} would let frames pass by the switch: leave bypass and shortcut out, which \
                 a bridge of two ports has"
            ))),
            None => Ok(()),
        }
    }

    /// Whether a port generates traffic, which may draw addresses from the sets.
    pub(crate) fn generates(&self) -> bool {
        self.ports
            .iter()
            .any(|port| matches!(port, PortSpec::Gen(_)))
    }

    /// Whether the kernel is to forward what is surely in no list.
    pub(crate) fn has_shortcut(&self) -> bool {
        let mut ports = self.ports.iter();
        ports.any(|port| matches!(port, PortSpec::Xdp(xdp) if xdp.shortcut))
    }

    /// The kernel knows tunnels by their usual ports alone.
    fn check_shortcut(&self) -> Result<(), Error> {
        let ports = self.sets.policy.tunnels.ports;
        let unusual = ports
            .iter()
            .find(|(_, port)| !SHORTCUT_TUNNELS.contains(port));
        match unusual {
            Some((kind, port)) if self.has_shortcut() => Err(Error::refused(format!(
                "shortcut=on forwards {} to port {port} without looking inside: leave out one of \
                 them",
                kind.name()
            ))),
            _ => Ok(()),
        }
    }

    /// Answers of anybody hash to buckets of their own, which another worker may have.
    fn check_answers(&self) -> Result<(), Error> {
        let stateful = self.sets.policy.stateful;
        let any = stateful.is_some_and(|stateful| stateful.answers_from_any);
        if any && self.layout.cpus.len() > 1 {
            return Err(Error::refused(format!(
                "--answers-from-any works with one worker, and there are {}: leave out one of both",
                self.layout.cpus.len()
            )));
        }
        Ok(())
    }

    /// Who chooses what passes believes that the rest is stopped.
    fn check_pass(&self, names_router: bool) -> Result<(), Error> {
        let policy = &self.sets.policy;
        let stops = policy.stateful.is_some() || policy.default == Otherwise::Drop;
        let option = match (policy.pass != PassRules::ALL, names_router) {
            (true, _) => "--pass",
            (_, true) => "--router",
            _ => return Ok(()),
        };
        if stops {
            return Ok(());
        }
        Err(Error::refused(format!(
            "{option} says what passes where all else is stopped, and nothing is: add --default \
             drop or --stateful, or leave {option} out"
        )))
    }

    /// For people.
    pub(crate) fn text(&self, paint: Paint, width: usize) -> String {
        let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
        for (place, port) in self.ports.iter().enumerate() {
            table.row([format!("port {place}"), port.to_string()]);
        }
        for (rule, source) in self.rules() {
            let headers = match rule.headers {
                Headers::BOTH => "",
                Headers::OUTER => " of outer headers",
                _ => " of inner headers",
            };
            let what = format!(
                "{} {}{headers} ({})",
                rule.action,
                sides(rule.sides),
                source_text(source)
            );
            table.row([format!("set {}", rule.name), what]);
        }
        for (name, value) in self.facts() {
            table.row([name.to_owned(), value]);
        }
        let heading = paint.bold("This would run (--dry-run: no list was read and no port opened)");
        format!("{heading}\n{}", table.render(paint, width))
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let policy = &self.sets.policy;
        let set = |(rule, source): (&SetRule, &Source)| {
            json!({
                "name": rule.name,
                "action": rule.action.name(),
                "sides": sides(rule.sides),
                "match": rule.headers.name(),
                "source": source_text(source),
            })
        };
        json!({
            "version": crate::build::VERSION,
            "dry_run": true,
            "ports": self.ports.iter().map(PortSpec::to_string).collect::<Vec<_>>(),
            "sets": self.rules().map(set).collect::<Vec<_>>(),
            "default": otherwise(self.sets.policy.default),
            "non_ip": otherwise(self.sets.policy.non_ip),
            "malformed": otherwise(self.sets.policy.malformed),
            "pass": policy.pass.names().collect::<Vec<_>>(),
            "router": port_numbers(policy.router, self.ports.len()),
            "hash": self.sets.policy.placing().header.name(),
            "tunnel_ports": self.sets.policy.tunnels.ports.to_string(),
            "flow_log": self.flow_log.as_ref().map(|path| path.display().to_string()),
            "stateful_flows": self.sets.policy.stateful.map(|stateful| stateful.flows),
            "fragments_held": self.fragments().map(|limits| limits.held),
            "cpus": self.layout.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>(),
            "dispatch": self.dispatch.policy_name(),
            "dispatch_limit": self.dispatch.ring_limit,
            "balance": self.dispatch.balance,
            "idle": idle(self.idle),
            "pin_irqs": self.pin_irqs,
            "burst": self.layout.burst,
            "stride_bytes": self.layout.stride_asked,
            "pool_frames": self.layout.pool_frames,
            "duration_seconds": self.limits.duration.map(|duration| duration.as_secs_f64()),
            "frames": self.limits.frames,
            "seed": self.seed,
        })
    }

    fn rules(&self) -> impl Iterator<Item = (&SetRule, &Source)> {
        self.sets.policy.rules().iter().zip(&self.sets.sources)
    }

    /// What fragments are held by, if any are.
    fn fragments(&self) -> Option<FragmentLimits> {
        self.sets.policy.stateful.and(self.sets.policy.fragments)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let policy = &self.sets.policy;
        let otherwise = format!(
            "{} by default, {} non-IP frames, {} malformed ones",
            otherwise(policy.default),
            otherwise(policy.non_ip),
            otherwise(policy.malformed)
        );
        let mut facts = vec![("otherwise", otherwise)];
        if let Some(table) = &self.switch {
            facts.push(("switch", switch_fact(table.config())));
        }
        facts.push(("passes", pass_fact(policy, self.ports.len())));
        facts.push(("tunnels", tunnel_fact(policy)));
        if let Some(stateful) = &policy.stateful {
            let flows = count(u64::from(stateful.flows));
            let from = port_words(stateful.allow_new, self.ports.len());
            facts.push(("stateful", format!("{flows} flows, begun from {from}")));
        }
        if let Some(path) = &self.flow_log {
            facts.push(("flow log", path.display().to_string()));
        }
        facts.extend(
            self.fragments()
                .map(|limits| ("fragments", fragments_fact(&limits))),
        );
        facts.extend(layout_facts(&self.layout));
        facts.push(("dispatch", dispatch_fact(self.dispatch)));
        let pinned = if self.pin_irqs {
            ", interrupts beside them"
        } else {
            ""
        };
        facts.push(("idle", format!("workers {}{pinned}", idle(self.idle))));
        let end = match (self.limits.duration, self.limits.frames) {
            (None, None) => "when the sources end, or on Ctrl-C".to_owned(),
            (duration, frames) => {
                let time = duration.map(|time| format!("after {}", seconds(time.as_secs_f64())));
                let frames = frames.map(|frames| format!("after {} frames", count(frames)));
                time.into_iter()
                    .chain(frames)
                    .collect::<Vec<_>>()
                    .join(" or ")
            }
        };
        facts.push(("ends", end));
        facts.push(("seed", self.seed.to_string()));
        facts
    }
}

/// The ports that routers are behind: those that were named, or else the side that is not
/// allow-new, or both.
fn router_side(
    args: &ForwardArgs,
    names: &[&str],
    stateful: Option<&StatefulConfig>,
) -> Result<Ports, Error> {
    match &args.policy.router {
        Some(routers) => {
            let ports = routers.ports("--router", names);
            ports.map_err(Error::refused)
        }
        None => Ok(stateful.map_or(Ports::ALL, StatefulConfig::router_side)),
    }
}

/// Those of `count` ports that are among `ports`.
fn port_numbers(ports: Ports, count: usize) -> Vec<u8> {
    let numbers = ports.and(Ports::first(count)).iter();
    numbers.map(|port| port.0).collect()
}

fn port_words(ports: Ports, count: usize) -> String {
    let numbers = port_numbers(ports, count).into_iter();
    let words: Vec<String> = numbers.map(|port| format!("port {port}")).collect();
    words.join(" and ")
}

/// What passes where all else is dropped; of no interest where nothing is.
fn pass_fact(policy: &Policy, ports: usize) -> String {
    let rules: Vec<&str> = policy.pass.names().collect();
    if rules.is_empty() {
        return "nothing by a rule".to_owned();
    }
    let routers = port_words(policy.router, ports);
    format!("{}; routers are behind {routers}", rules.join(", "))
}

fn switch_fact(config: &SwitchConfig) -> String {
    let between = match config.mode {
        VlanMode::Default => "all ports talk to each other".to_owned(),
        VlanMode::Port => plural(
            config.groups.len() as u64,
            "group of ports",
            "groups of ports",
        ),
        VlanMode::Dot1q => plural(config.vlans.len() as u64, "VLAN", "VLANs"),
    };
    let stations = count(u64::from(config.stations));
    let age = seconds(config.age.as_secs_f64());
    format!("{between}; {stations} stations, forgotten after {age}")
}

fn tunnel_fact(policy: &Policy) -> String {
    let placing = policy.placing();
    let ports: Vec<String> = placing
        .ports
        .iter()
        .map(|(kind, port)| format!("{} on {port}", kind.name()))
        .collect();
    let ports = match ports.is_empty() {
        true => "none by UDP".to_owned(),
        false => ports.join(", "),
    };
    format!("{ports}; placed by the {} header", placing.header.name())
}

fn dispatch_fact(dispatch: DispatchSettings) -> String {
    let limit = count(dispatch.ring_limit as u64);
    let policy = dispatch.policy_name();
    format!("{policy}, {limit} frames a ring between two workers")
}

/// Lines for a dry run.
pub(crate) fn layout_facts(layout: &Layout) -> Vec<(&'static str, String)> {
    let cpus: Vec<String> = layout.cpus.iter().map(ToString::to_string).collect();
    let stride = match layout.stride_asked {
        Some(bytes) => format!("{bytes} bytes apart"),
        None => {
            format!("{DEFAULT_STRIDE_BYTES} bytes apart, more for a capture of long frames")
        }
    };
    let pool = format!(
        "{} a worker, {stride}",
        count(u64::from(layout.pool_frames))
    );
    vec![
        (
            "workers",
            format!("{} on CPU {}", layout.cpus.len(), cpus.join(", ")),
        ),
        ("burst", format!("{} frames", layout.burst)),
        ("frames", pool),
    ]
}

fn idle(mode: IdleMode) -> &'static str {
    match mode {
        IdleMode::Doze => "doze",
        IdleMode::Spin => "spin",
    }
}

fn otherwise(otherwise: Otherwise) -> &'static str {
    match otherwise {
        Otherwise::Forward => "forward",
        Otherwise::Drop => "drop",
    }
}

fn sides(sides: Sides) -> &'static str {
    match (sides.src, sides.dst) {
        (true, false) => "source",
        (false, true) => "destination",
        _ => "source or destination",
    }
}

fn source_text(source: &Source) -> String {
    match source {
        Source::File(file) if file == "-" => "standard input".to_owned(),
        Source::File(file) => file.clone(),
        Source::Keep(space) => format!("{} address space", keep_name(*space)),
    }
}

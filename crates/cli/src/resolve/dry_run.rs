//! What `--dry-run` shows.

use daemon::Stage;
use daemon::{DEFAULT_STRIDE_BYTES, Layout};
use engine::{DispatchSettings, IdleMode};
use plane::{Headers, Otherwise, Policy, Ports, RuleTable, SetRule, Sides};
use port::PortSpec;
use serde_json::{Value, json};
use table::fragments::FragmentLimits;

use super::router::DryRouter;
use super::sets::keep_name;
use super::{BridgeSettings, Source, rules, stage};
use crate::paint::Paint;
use crate::report::number::{count, seconds};
use crate::report::table::{Align, Table};

impl BridgeSettings {
    /// For people.
    pub(crate) fn text(&self, paint: Paint, width: usize) -> String {
        let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
        for (place, port) in self.ports.iter().enumerate() {
            let name = port_name(&self.names, place as u8);
            table.row([format!("port {name}"), port.to_string()]);
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
            "rules": self.table().map(|table| table.names().rules.len()),
            "route": self.route_json(),
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

    /// What a router would go by; null of others.
    fn route_json(&self) -> Option<Value> {
        let Stage::Router(settings) = &self.stage else {
            return None;
        };
        let (config, names) = (&settings.config(&[]), &self.names[..]);
        let router = DryRouter {
            config,
            names,
            nat: settings.nat.as_ref().map(|file| &file.text),
            is_by_kernel: settings.kernel().is_some(),
        };
        Some(router.json())
    }

    fn rules(&self) -> impl Iterator<Item = (&SetRule, &Source)> {
        self.sets.policy.rules().iter().zip(&self.sets.sources)
    }

    /// The rules of packets, if there are some.
    fn table(&self) -> Option<&RuleTable> {
        self.sets.policy.packet_rules.as_deref()
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
        facts.extend(stage::facts(&self.stage, &self.names));
        facts.extend(self.table().map(|table| ("rules", rules::fact(table))));
        facts.push(("passes", pass_fact(policy, self.ports.len(), &self.names)));
        facts.push(("tunnels", tunnel_fact(policy)));
        if let Some(stateful) = &policy.stateful {
            let flows = count(u64::from(stateful.flows));
            let from = port_words(stateful.allow_new, self.ports.len(), &self.names);
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

/// What a bridge lets wait.
fn fragments_fact(limits: &FragmentLimits) -> String {
    let (held, datagrams) = (count(limits.held.into()), count(limits.datagrams.into()));
    let seconds = limits.timeout.0 as f64 / 1e9;
    format!("{held} may wait {seconds} s for the first one, of {datagrams} packets at once")
}

/// Those of `count` ports that are among `ports`.
fn port_numbers(ports: Ports, count: usize) -> Vec<u8> {
    let numbers = ports.and(Ports::first(count)).iter();
    numbers.map(|port| port.0).collect()
}

/// What a port is called: its number unless it has a name.
pub(super) fn port_name(names: &[Option<String>], port: u8) -> String {
    let name = names.get(usize::from(port)).cloned().flatten();
    name.unwrap_or_else(|| port.to_string())
}

fn port_words(ports: Ports, count: usize, names: &[Option<String>]) -> String {
    let numbers = port_numbers(ports, count).into_iter();
    let named = numbers.map(|port| format!("port {}", port_name(names, port)));
    let words: Vec<String> = named.collect();
    words.join(" and ")
}

/// What passes where all else is dropped; of no interest where nothing is.
fn pass_fact(policy: &Policy, ports: usize, names: &[Option<String>]) -> String {
    let rules: Vec<&str> = policy.pass.names().collect();
    if rules.is_empty() {
        return "nothing by a rule".to_owned();
    }
    let routers = port_words(policy.router, ports, names);
    format!("{}; routers are behind {routers}", rules.join(", "))
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
        (false, false) => "for rules",
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

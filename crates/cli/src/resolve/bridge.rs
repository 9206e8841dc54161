//! A whole bridge, switch or router, ready to be loaded and opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use daemon::router::leave_control;
use daemon::switch::{NamedPort, PortNames, kernel_path};
use daemon::{Layout, Stage};
use engine::{DispatchSettings, IdleMode, Limits};
use plane::{Otherwise, PassRules, Ports, StatefulConfig};
use port::PortSpec;

use super::rules::{self, Place};
use super::{SetPlan, ports};
use crate::args::{BridgeArgs, ForwardArgs, RouteArgs, SwitchArgs};
use crate::error::Error;
use crate::output::Stream;

/// UDP ports of tunnels that the XDP program leaves to workers, as `bpf/sieve.h` has them.
const SHORTCUT_TUNNELS: [u16; 4] = [4789, 8472, 6081, 2152];

/// What `linerate bridge` will do.
#[derive(Debug)]
pub(crate) struct BridgeSettings {
    pub(crate) ports: Vec<PortSpec>,
    /// What ports were called, by their numbers; none of a bridge.
    pub(crate) names: Vec<Option<String>>,
    pub(crate) stage: Stage,
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

impl BridgeSettings {
    /// What was typed, as it is meant here.
    pub(crate) fn resolve(args: &BridgeArgs) -> Result<Self, Error> {
        let typed = [args.first.as_str(), args.second.as_str()];
        let mut settings = Self::between(ports::parse(&typed)?, &typed, &args.common)?;
        settings.read_rules(&args.common, typed.to_vec())?;
        Ok(settings)
    }

    /// The same of a switch.
    pub(crate) fn resolve_switch(args: &SwitchArgs) -> Result<Self, Error> {
        let (mut settings, names) = Self::between_named(&args.ports, &args.common)?;
        settings.check_kernel_paths("switch")?;
        let table = args.settings.table(&names).map_err(Error::refused)?;
        settings.stage = Stage::Switch(Arc::new(table));
        settings.read_rules(
            &args.common,
            args.ports.iter().map(String::as_str).collect(),
        )?;
        Ok(settings)
    }

    /// The same of a router.
    pub(crate) fn resolve_router(args: &RouteArgs) -> Result<Self, Error> {
        let (mut settings, names) = Self::between_named(&args.ports, &args.common)?;
        settings.check_kernel_paths("router")?;
        let router = args.settings.read(&names).map_err(Error::refused)?;
        if router.kernel().is_some() {
            settings.ports.iter_mut().for_each(leave_control);
        }
        settings.stage = Stage::Router(Box::new(router));
        settings.read_rules(
            &args.common,
            args.ports.iter().map(String::as_str).collect(),
        )?;
        Ok(settings)
    }

    /// What is to happen between ports that may have names. What is malformed above Ethernet is
    /// not the business of what decides by less.
    fn between_named(ports: &[String], args: &ForwardArgs) -> Result<(Self, PortNames), Error> {
        let named: Vec<NamedPort> = ports.iter().map(|text| NamedPort::parse(text)).collect();
        let specs: Vec<&str> = named.iter().map(|port| port.spec.as_str()).collect();
        let ports = ports::parse(&specs)?;
        let names = PortNames::new(named.clone()).map_err(Error::refused)?;
        let shown: Vec<&str> = named.iter().map(NamedPort::shown).collect();
        let mut settings = Self::between(ports, &shown, args)?;
        if args.policy.malformed.is_none() {
            settings.sets.policy.malformed = Otherwise::Forward;
        }
        settings.names = named.iter().map(|port| port.name.clone()).collect();
        Ok((settings, names))
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
            names: Vec::new(),
            stage: Stage::Pair,
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

    /// Reads the rules, if there are to be some.
    fn read_rules(&mut self, args: &ForwardArgs, ports: Vec<&str>) -> Result<(), Error> {
        let Some(file) = &args.rules else {
            return Ok(());
        };
        if self.has_shortcut() {
            return Err(Error::refused(
                "shortcut=on forwards what is in no list past the rules: leave out one of them",
            ));
        }
        if file == Path::new("-") && self.sets.stdin_count() > 0 {
            return Err(Error::refused(
                "standard input can be read only once: give '-' once",
            ));
        }
        let place = Place {
            ports,
            is_pair: matches!(self.stage, Stage::Pair),
            workers: self.layout.cpus.len(),
        };
        rules::resolve(file, &place, &mut self.sets.policy)
    }

    /// The kernel forwards between two ports and knows neither VLANs nor routes of ours.
    fn check_kernel_paths(&self, stage: &str) -> Result<(), Error> {
        let past = |port| kernel_path(port, stage);
        let refused = self.ports.iter().find_map(past);
        refused.map_or(Ok(()), |sentence| Err(Error::refused(sentence)))
    }

    /// All that users may call its ports.
    pub(crate) fn port_names(&self) -> Result<PortNames, Error> {
        let names = self.names.iter().cloned().chain(std::iter::repeat(None));
        let named = self.ports.iter().zip(names).map(|(spec, name)| NamedPort {
            name,
            spec: spec.to_string(),
        });
        PortNames::new(named.collect()).map_err(Error::refused)
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

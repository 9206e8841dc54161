//! The daemon as a whole: what is started in which order, and ended in the other.
//!
//! First what can refuse without having touched anything: the machine, the state that is kept, the
//! control socket. Then the sets are filled, and only then the ports are opened: no frame passes
//! that a list would have stopped. At the end nobody may ask any more, sources stop, workers send
//! what they hold, and the keeper writes the last of its journal.

mod changes;
mod check;
mod check_lists;
mod cpus;
mod error;
mod exchange;
mod exempted;
mod facts;
mod fixed;
mod flows;
mod hand;
mod health;
mod inner;
mod keep;
mod load;
mod loops;
mod nat;
mod observing;
mod own;
mod packet_rules;
mod ports;
mod reading;
mod recent;
mod reload;
mod router;
mod routing;
mod rules;
mod sets;
mod space;
mod stage;
mod switch;
mod tested;
mod watched;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::{Duration, Instant, SystemTime};

use engine::{Limits, Plan, Ruleset, RunReport, Running, allowed_cpus};
use plane::RuleTable;
use port::PortSpec;

pub use check::check;
pub use check_lists::{ListsChecked, check_lists};
pub use error::StartError;
pub use stage::{Stage, Started};

use crate::config::Config;
use crate::metrics;
use crate::notify::Notifier;
use crate::privileges::{self, PrivilegeError};
use crate::router::KernelFollowing;
use crate::rpc::{self, Server, ServerConfig};
use crate::sets::{Deferred, Handle, Reply, Request};
use crate::sources::{Asking, Kind, SourceState, Sources, ToKeeper};
use crate::{FlowLogWriter, Layout, LayoutAsked, Pinned, Samples, nodes_of};
use health::DrainTold;
use inner::{Inner, Live};
use loops::LoopWatch;
use own::Following;
use recent::Recent;
use watched::Watched;

/// How long a start waits for lists that it need not have: a server that does not answer must not
/// keep the wire cut. A required one is waited for as long as its own limit says.
const LISTS_WITHIN: Duration = Duration::from_secs(10);

/// How often it is looked meanwhile whether it is to end.
const LISTS_LOOK: Duration = Duration::from_millis(50);

fn goes_on_without(late: &SourceState) {
    tracing::error!(
        set = %late.set,
        "{} has given nothing in {LISTS_WITHIN:?}: forwarding begins, and what it gives is in \
         force when it comes",
        late.name
    );
}

/// What a start is told beside the configuration.
#[derive(Clone, Debug, Default)]
pub struct StartOptions {
    /// The file of the configuration, which a reload reads again.
    pub file: Option<PathBuf>,
    /// When to end by itself.
    pub limits: Limits,
    /// Takes what is readable of a damaged journal.
    pub recover: bool,
    /// The commit that the program was built from, for metrics; may be empty.
    pub commit: String,
    /// Raised when it is to end before it has begun to forward.
    pub stop: Arc<AtomicBool>,
}

/// A daemon that runs. Dropped, it ends.
pub struct Daemon {
    // In the order in which they end.
    control: Option<Server>,
    metrics: Option<metrics::Server>,
    inner: Arc<Inner>,
    running: Option<Running>,
    /// Changes sets when addresses of this machine change.
    following: Option<Following>,
    /// Changes routes when those of the kernel do.
    kernel: Option<KernelFollowing>,
    /// Interrupts go back when it ends.
    _pinned: Option<Pinned>,
    notifier: Notifier,
    watched: Watched,
    loops: LoopWatch,
    drain_told: DrainTold,
    /// Writes flows down until the run has ended.
    flow_log: Option<FlowLogWriter>,
}

/// Where workers run; this thread keeps off their CPUs from now on.
fn placed(config: &Config) -> Result<Layout, StartError> {
    let layout = layout(config)?;
    let warnings = layout.warnings.iter();
    warnings.for_each(|said| tracing::warn!("{said}"));
    let free = cpus::leave_to(&layout.cpus, &allowed_cpus());
    free.map_err(|error| StartError::Other(format!("CPUs cannot be chosen: {error}")))?;
    Ok(layout)
}

fn tell_of_start(config: &Config, layout: &Layout) {
    tracing::info!(
        ports = %specs(config),
        cpus = ?layout.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>(),
        "forwarding"
    );
}

impl Daemon {
    /// Puts back what survived the last run, reads the lists, opens the ports, starts the workers.
    ///
    /// # Errors
    ///
    /// Whatever stands in the way; then nothing runs any more.
    pub fn start(config: &Config, options: StartOptions) -> Result<Self, StartError> {
        frame::memory::give_back_what_is_freed();
        let layout = placed(config)?;
        let (lists, apis) = Sources::planned(config)?;
        let deferred = Deferred::default();
        let observer = Arc::new(OnceLock::new());
        let recent = Arc::new(Recent(Arc::clone(&observer)));
        let keeper_config = packet_rules::beside(config, recent, layout.cpus.len())?;
        let restart = keep::journal(config, options.recover)?;
        let publish = Box::new(deferred.clone());
        let router = router::first(config)?;
        let own = engine::own_addresses();
        let (handle, keeper) =
            keep::start(keeper_config, restart, publish, config, options.recover)?;
        let asking = Asking::default();
        let keeping = Arc::new(RwLock::new(handle.clone()));
        let deliveries = ToKeeper::new(Arc::clone(&keeping));
        let keeper_of = Arc::new(deliveries.clone());
        let sources = Sources::new(keeper_of, Sources::folder(config), asking.clone());
        let inner = Arc::new(Inner {
            file: options.file,
            keeping,
            deliveries,
            asking,
            workers: layout.cpus.len(),
            ports: config.ports.iter().map(|port| port.name.clone()).collect(),
            watched_ports: health::watched_ports(config),
            draining: AtomicBool::new(false),
            switch: switch::first(config)?,
            router: OnceLock::new(),
            live: Mutex::new(Live {
                config: config.clone(),
                sources,
                keeper: Some(keeper),
                reloads: metrics::Reloads::default(),
            }),
            observer,
            publisher: OnceLock::new(),
            state_dir: config.state.dir.clone(),
            started: SystemTime::now(),
            commit: options.commit,
            captures: Arc::default(),
            flow_log: OnceLock::new(),
        });
        let mut daemon = Self {
            control: Some(control(config, &inner)?),
            metrics: observing::serve(config, &inner)?,
            inner,
            running: None,
            following: None,
            kernel: None,
            _pinned: None,
            notifier: Notifier::of_environment(),
            watched: Watched::default(),
            loops: LoopWatch::new(),
            drain_told: DrainTold::default(),
            flow_log: None,
        };
        handle.set_starting(true);
        daemon.fill(config, (&lists, &apis), &options.stop)?;
        handle.set_starting(false);
        daemon.following = Following::start(config, &daemon.inner.keeping, own);
        let switch = switch::table(&daemon.inner);
        let stage = Stage::new(switch, router);
        let (placed, sets) = ((&layout, stage), (&handle, &deferred));
        daemon.forward(config, placed, options.limits, sets)?;
        daemon.notifier.ready();
        tell_of_start(config, &layout);
        Ok(daemon)
    }

    /// Waits until each source was tried once. A list that is required, as files are unless it is
    /// said otherwise, refuses the start when there is none; others may come later.
    fn fill(
        &mut self,
        config: &Config,
        (lists, apis): (
            &[crate::sources::SourceSpec],
            &[crate::sources::CrowdSecSpec],
        ),
        stop: &AtomicBool,
    ) -> Result<(), StartError> {
        let mut live = self.inner.live();
        let started = live.sources.replace(lists, apis);
        started.map_err(|error| {
            StartError::Other(format!(
                "a source cannot be started ({error}): raise the limits"
            ))
        })?;
        let is_required = |state: &SourceState| {
            let mut sets = config.sets.iter();
            let is_list = state.kind != Kind::CrowdSec;
            is_list && sets.any(|set| *set.name == *state.set && set.required)
        };
        let end = Instant::now() + LISTS_WITHIN;
        while !live.sources.wait_tried(LISTS_LOOK) {
            if stop.load(Ordering::Relaxed) {
                return Err(StartError::Stopped);
            }
            let mut late = live.sources.states();
            late.retain(|state| !state.is_tried());
            if Instant::now() >= end && !late.iter().any(is_required) {
                late.iter().for_each(goes_on_without);
                break;
            }
        }
        let mut refused = Vec::new();
        for state in live.sources.states() {
            let (set, has_list) = (&state.set, !state.is_never_read());
            match &state.last_error {
                None => {}
                Some(failure) if has_list => {
                    tracing::error!(%set, "it begins with the last list: {}", failure.text);
                }
                Some(failure) if is_required(&state) => refused.push(failure.text.clone()),
                Some(failure) => {
                    tracing::error!(%set, "it begins without its list: {}", failure.text);
                }
            }
        }
        match refused.is_empty() {
            true => Ok(()),
            false => Err(StartError::Lists(refused)),
        }
    }

    /// Opens the ports and lets frames in.
    fn forward(
        &mut self,
        config: &Config,
        (layout, stage): (&Layout, Stage),
        limits: Limits,
        (handle, deferred): (&Handle, &Deferred),
    ) -> Result<(), StartError> {
        let samples = match inner::generates(config) {
            true => keep::samples(handle, config),
            false => Samples::default(),
        };
        let ports = ports::open(config, samples)?;
        let notes = ports.iter().flat_map(|port| port.notes());
        notes.for_each(|note| tracing::warn!("{note}"));
        let specs: Vec<PortSpec> = config.ports.iter().map(|port| port.spec.clone()).collect();
        let stride_bytes = layout.stride_for(&specs, &ports)?;
        let pinned = config
            .workers
            .pin_irqs
            .then(|| Pinned::pin(&specs, &layout.cpus));
        self._pinned = pinned.transpose()?;
        if let Some(pinned) = &self._pinned {
            pinned.said.iter().for_each(|said| tracing::info!("{said}"));
            let warnings = pinned.warnings.iter();
            warnings.for_each(|warning| tracing::warn!("{warning}"));
        }
        let flow_log = flows::open(config)?;
        let plan = |first: Ruleset| Plan {
            ports,
            policy: flows::remembering(first.policy(), config),
            lists: Arc::clone(first.lists()),
            cpus: layout.cpus.clone(),
            burst: layout.burst,
            stride_bytes,
            pool_frames: layout.pool_frames_at(stride_bytes),
            dispatch: config.workers.dispatch,
            idle: config.workers.idle,
            limits,
        };
        let attached = deferred.attach(|first| {
            let started = stage.start(plan(first), &specs)?;
            let mut running = started.running;
            self.kernel = started.following;
            if let Some(routing) = started.routing {
                let _ = self.inner.router.set(routing);
            }
            self.flow_log = flows::write(flow_log, &mut running, config)?;
            if let Some(writer) = &self.flow_log {
                let _ = self.inner.flow_log.set(writer.counts());
            }
            let publisher = running.lists();
            // Set once: a daemon starts one run.
            let _ = self.inner.observer.set(running.observer());
            let _ = self.inner.publisher.set(publisher.clone());
            self.running = Some(running);
            Ok::<_, StartError>(publisher)
        });
        attached.unwrap_or_else(|| Err(StartError::Other("no sets were made".to_owned())))
    }

    /// Says in the log what changed at the ports, and tells systemd that workers go round. To be
    /// called some times a second.
    pub fn look_after(&mut self) {
        let Some(running) = &self.running else {
            return;
        };
        let news = running.take_news();
        news.iter().for_each(|news| tracing::warn!("{news}"));
        let kernel = self.kernel.iter();
        let news = kernel.flat_map(|kernel| kernel.shared().take_news());
        news.for_each(|news| tracing::warn!("{news}"));
        self.watched.look(&self.notifier, running);
        self.loops.look(&self.inner);
        self.drain_told.look(&self.notifier, &self.inner);
    }

    /// The rules of packets that hold, if there are some.
    #[must_use]
    pub fn packet_rules(&self) -> Option<Arc<RuleTable>> {
        packet_rules::in_force(&self.inner)
    }

    /// Entries of each set, in the order of its report.
    #[must_use]
    pub fn set_entries(&self) -> Vec<u64> {
        match sets::handle(&self.inner.keeping).ask(Request::List) {
            Ok(Reply::Sets(sets)) => sets.iter().map(|set| set.counts.entries as u64).collect(),
            _ => Vec::new(),
        }
    }

    /// Bytes of the tables that workers look addresses up in, all sets together.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        let publisher = self.inner.publisher.get();
        publisher.map_or(0, |publisher| publisher.current().lists().bytes() as u64)
    }

    /// Reads the configuration again; what came of it is in the log.
    pub fn reload(&self) {
        self.notifier.reloading();
        // A refusal is logged where it happens.
        let _ = reload::reload(&self.inner);
        self.notifier.ready();
    }

    /// Asks it to end; workers send what they hold first.
    pub fn stop(&self) {
        self.notifier.stopping();
        self.running.iter().for_each(Running::stop);
    }

    /// Whether the run is over and [`Daemon::join`] will not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.running.as_ref().is_none_or(Running::is_finished)
    }

    /// Waits for the end.
    ///
    /// # Errors
    ///
    /// A worker that was lost.
    pub fn join(mut self) -> Result<RunReport, StartError> {
        self.kernel = None;
        let running = self.running.take();
        let report = running.map(Running::join).transpose()?;
        flows::finish(self.flow_log.take());
        report.ok_or_else(|| StartError::Other("nothing was started".to_owned()))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Nobody asks any more.
        self.control = None;
        self.metrics = None;
        self.following = None;
        self.kernel = None;
        let mut live = self.inner.live();
        live.sources.stop();
        if let Some(running) = self.running.take() {
            running.stop();
            // Lost workers have reported themselves.
            let _ = running.join();
        }
        flows::finish(self.flow_log.take());
        live.keeper = None;
        Sources::forget_passing();
    }
}

/// The ports as one line.
fn specs(config: &Config) -> String {
    let specs: Vec<String> = config
        .ports
        .iter()
        .map(|port| port.spec.to_string())
        .collect();
    specs.join(" ")
}

fn control(config: &Config, inner: &Arc<Inner>) -> Result<Server, StartError> {
    let limits = rpc::Limits {
        connections: config.limits.connections_max,
        ..rpc::Limits::default()
    };
    let group = config.control.group.as_deref().map(|name| {
        let none = || PrivilegeError::NoGroup(name.to_owned());
        privileges::group_id(name).ok_or_else(|| StartError::Other(none().to_string()))
    });
    let server = ServerConfig {
        limits,
        group: group.transpose()?,
        ..ServerConfig::new(config.control.socket.clone())
    };
    let sets = sets::KeptSets::new(inner, config);
    let facts: Arc<dyn rpc::Facts> = Arc::clone(inner) as _;
    if let Some(folder) = server.path.parent() {
        // What is wrong with it, the socket says.
        let _ = std::fs::create_dir_all(folder);
    }
    Ok(Server::start(&server, Arc::new(sets), facts)?)
}

/// What the configuration asks of this machine.
///
/// # Errors
///
/// The machine has it not.
pub fn layout(config: &Config) -> Result<Layout, StartError> {
    let specs: Vec<PortSpec> = config.ports.iter().map(|port| port.spec.clone()).collect();
    Ok(Layout::choose(&LayoutAsked {
        workers: config.workers.count,
        cpus: config.workers.cpus.clone(),
        burst: config.workers.burst,
        stride_bytes: config.memory.stride_bytes,
        pool_frames: config.memory.pool_frames,
        nodes: nodes_of(&specs),
        ports: specs.len(),
    })?)
}

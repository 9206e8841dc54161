//! What the control socket, metrics and signals ask of a daemon that runs.

use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use engine::{Observer, Publisher, TopHit};
use plane::switch::SwitchTable;
use port::PortSpec;
use serde_json::value::RawValue;

use super::stage::Routing;
use super::{facts, flows, health, nat, observing, packet_rules, reload, routing, sets, switch};
use crate::FlowLogCounts;
use crate::capture::Counting;
use crate::config::Config;
use crate::health::WatchedPort;
use crate::journal::is_its_file;
use crate::metrics::Reloads;
use crate::rpc::answers::{
    self, ConfigAnswer, Fdb, FdbParams, Health, Hits, Memory, MemoryFacts, Nat, NatParams,
    Neighbours, NeighboursParams, Reloaded, Routes, RoutesParams, Rules, RulesLoadParams,
    RulesLoaded, RulesParams, Vlans,
};
use crate::rpc::{ErrorKind, Facts, RpcError, Stream, no_switch};
use crate::sets::Keeper;
use crate::sources::{Asking, Sources, ToKeeper};

/// What all threads of a daemon share.
pub(super) struct Inner {
    /// The configuration's file, to be read again.
    pub(super) file: Option<PathBuf>,
    pub(super) keeping: sets::Keeping,
    /// By which sources deliver.
    pub(super) deliveries: ToKeeper,
    pub(super) live: Mutex<Live>,
    /// The sources that run, for whoever asks.
    pub(super) asking: Asking,
    /// Once there are workers.
    pub(super) observer: Arc<OnceLock<Observer>>,
    /// What gives them other tables.
    pub(super) publisher: OnceLock<Publisher>,
    /// How many workers there are.
    pub(super) workers: usize,
    /// The ports' names, by their numbers.
    pub(super) ports: Vec<String>,
    /// The same ports, for verdicts of health.
    pub(super) watched_ports: Vec<WatchedPort>,
    /// Whether somebody asked the daemon to drain.
    pub(super) draining: AtomicBool,
    /// The settings that workers switch by, where they do.
    pub(super) switch: Option<Mutex<Arc<SwitchTable>>>,
    /// The settings that workers route by, where they do.
    pub(super) router: OnceLock<Routing>,
    /// The folder of what survives a restart.
    pub(super) state_dir: Option<PathBuf>,
    pub(super) started: SystemTime,
    /// The commit that the program was built from; may be empty.
    pub(super) commit: String,
    /// What captures were given.
    pub(super) captures: Arc<Counting>,
    /// What became of lines of the flow log, where there is one.
    pub(super) flow_log: OnceLock<Arc<FlowLogCounts>>,
}

/// What a reload changes; held as long as it takes.
pub(super) struct Live {
    pub(super) config: Config,
    pub(super) sources: Sources,
    pub(super) keeper: Option<Keeper>,
    /// What came of reloads.
    pub(super) reloads: Reloads,
}

impl Inner {
    pub(super) fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn observer(&self) -> Result<&Observer, RpcError> {
        let starting = || RpcError::new(ErrorKind::Busy, "the daemon is starting: try again");
        self.observer.get().ok_or_else(starting)
    }

    /// What survives a restart, which is on disk and not in memory.
    fn journal_bytes(&self) -> Option<MemoryFacts> {
        let dir = self.state_dir.as_ref()?;
        let files = std::fs::read_dir(dir).ok()?.flatten();
        let files = files.filter(|file| file.file_name().to_str().is_some_and(is_its_file));
        let bytes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
        Some(MemoryFacts {
            what: "journal".to_owned(),
            bytes: bytes.sum(),
            note: format!("on disk, {}", dir.display()),
        })
    }

    /// Sets that no frame hit.
    fn never(&self) -> Vec<String> {
        let Some(observer) = self.observer.get() else {
            return Vec::new();
        };
        let sets = observer.status().sets;
        let idle = sets
            .iter()
            .filter(|set| set.hits.iter().all(|hit| hit.frames == 0));
        idle.map(|set| set.rule.name.clone()).collect()
    }
}

impl Facts for Inner {
    fn status(&self) -> answers::Status {
        let status = self.observer.get().map(Observer::status);
        status.map_or_else(answers::Status::default, |status| {
            facts::status(&status, &self.ports)
        })
    }

    fn dispatch(&self) -> answers::Dispatch {
        let status = self.observer.get().map(Observer::status);
        status.map_or_else(answers::Dispatch::default, |status| {
            facts::dispatch(&status, &self.ports)
        })
    }

    fn flows(&self) -> answers::Flows {
        let status = self.observer.get().map(Observer::status);
        let log = self.flow_log.get().map(Arc::as_ref);
        status.map_or_else(answers::Flows::default, |status| {
            flows::answer(&status, log)
        })
    }

    fn rss(&self) -> answers::Rss {
        let observer = self.observer.get();
        let rss = |observer| facts::rss(observer, &self.ports);
        observer.map_or_else(answers::Rss::default, rss)
    }

    fn fdb(&self, params: &FdbParams) -> Result<Fdb, RpcError> {
        switch::table(self).ok_or_else(no_switch)?;
        switch::fdb(self, params)
    }

    fn vlans(&self) -> Result<Vlans, RpcError> {
        switch::table(self).ok_or_else(no_switch)?;
        switch::vlans(self)
    }

    fn neighbours(&self, params: &NeighboursParams) -> Result<Neighbours, RpcError> {
        routing::neighbours(self, params)
    }

    fn nat(&self, params: &NatParams) -> Result<Nat, RpcError> {
        nat::nat(self, params)
    }

    fn rules(&self, params: &RulesParams) -> Result<Rules, RpcError> {
        packet_rules::show(self, params)
    }

    fn load_rules(
        &self,
        params: &RulesLoadParams,
        input: &mut dyn Read,
    ) -> Result<RulesLoaded, RpcError> {
        packet_rules::load(self, params, input)
    }

    fn routes(&self, params: &RoutesParams) -> Result<Routes, RpcError> {
        routing::routes(self, params)
    }

    fn hits(&self, top: usize) -> Result<Hits, RpcError> {
        let observer = self.observer()?;
        observer.refresh_hits();
        let handle = sets::handle(&self.keeping);
        let named = |hit: TopHit| {
            // A keeper that has ended says so to whoever asks next.
            let sets = handle.sets_of(hit.address).unwrap_or_default();
            facts::hit(hit, &sets)
        };
        Ok(Hits {
            seconds: observer.snapshot().seconds,
            top: observer.top_hits(top).top.into_iter().map(named).collect(),
            never: self.never(),
        })
    }

    fn memory(&self) -> Memory {
        let mut parts = Vec::new();
        if let Some(observer) = self.observer.get() {
            let memory = observer.status().memory;
            parts.push(MemoryFacts {
                what: "frames".to_owned(),
                bytes: memory.bytes as u64,
                note: memory.pages,
            });
        }
        if let Some(publisher) = self.publisher.get() {
            parts.push(MemoryFacts {
                what: "tables".to_owned(),
                bytes: publisher.current().lists().bytes() as u64,
                note: format!("all sets together, version {}", publisher.version()),
            });
        }
        parts.extend(self.journal_bytes());
        Memory {
            resident_bytes: resident_bytes(),
            parts,
        }
    }

    fn config(&self) -> ConfigAnswer {
        let file = self.file.as_ref();
        ConfigAnswer {
            file: file.map_or_else(String::new, |file| file.display().to_string()),
            toml: self.live().config.shown(),
        }
    }

    fn health(&self) -> Health {
        health::judge(self)
    }

    fn drain(&self, on: bool) -> Health {
        health::drain(self, on)
    }

    fn reload(&self) -> Result<Reloaded, RpcError> {
        let changes = reload::reload(self);
        let changes = changes.map_err(|sentence| RpcError::new(ErrorKind::Refused, sentence))?;
        Ok(Reloaded { changes })
    }

    fn capture(&self, params: Option<&RawValue>) -> Result<Box<dyn Stream>, RpcError> {
        observing::capture(self, params)
    }
}

/// What the kernel says that the process has.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Whether a port draws its frames from the sets.
pub(super) fn generates(config: &Config) -> bool {
    let mut ports = config.ports.iter();
    ports.any(|port| matches!(port.spec, PortSpec::Gen(_)))
}

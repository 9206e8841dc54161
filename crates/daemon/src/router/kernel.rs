//! A router that goes by the kernel's links, addresses, routes and neighbours.
//!
//! [`KernelRouter::begin`] reads them, [`KernelRouter::nodes`] makes workers of what was read, and
//! [`KernelRouter::follow`] keeps them up to date until the handle is dropped.

mod follower;
mod forwarding;
mod interfaces;
mod left_out;
mod nat;
mod neighbours;
mod routes;
mod workers;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::Observer;
use frame::PortId;
use netdev::routing::{Options, Resolver, Watcher};
use plane::Ports;
use plane::nat::NatConfig;
use plane::router::{RouteBook, Router, RouterConfig, RouterTable, RouterTableError, Wants};
use port::{KeepLocal, Port, PortSpec};

use follower::Follower;
use forwarding::Forwarding;
use interfaces::Interfaces;
use nat::Diverting;
use workers::Workers;

use super::nat::NatFile;
use super::on_exit::OnExit;

/// How long the first listing of the kernel's routes may take.
const LISTED_WITHIN: Duration = Duration::from_secs(60);

/// What was read of the kernel, before there are workers.
pub struct KernelRouter {
    watcher: Watcher,
    resolver: Resolver,
    interfaces: Interfaces,
    /// What is set beside that.
    config: RouterConfig,
    forwarding: Forwarding,
    diverting: Diverting,
    shared: Arc<Shared>,
    /// The ports whose frames the kernel sees too.
    seen: Ports,
    wants: Vec<Wants>,
}

/// What others look at while the kernel is followed.
#[derive(Debug)]
pub struct Shared {
    book: Mutex<RouteBook>,
    table: Mutex<Arc<RouterTable>>,
    news: Mutex<Vec<String>>,
    /// What NAT is to do from now on, until it does.
    nat: Mutex<Option<NatConfig>>,
}

/// What a router by the kernel's routes begins with.
pub(super) struct Beginning<'a> {
    pub(super) specs: &'a [PortSpec],
    pub(super) ports: &'a [Box<dyn Port>],
    /// What is set beside what the kernel has.
    pub(super) config: RouterConfig,
    pub(super) on_exit: OnExit,
    pub(super) nat: Option<&'a NatFile>,
}

impl Shared {
    /// The routes.
    pub fn book(&self) -> MutexGuard<'_, RouteBook> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What workers go by.
    #[must_use]
    pub fn table(&self) -> Arc<RouterTable> {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&table)
    }

    /// Sentences on what happened since the last call.
    #[must_use]
    pub fn take_news(&self) -> Vec<String> {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut news)
    }

    /// The settings that a file of NAT rules means now.
    ///
    /// # Errors
    /// A rule that cannot be.
    pub fn nat_config(&self, file: &NatFile) -> Result<NatConfig, String> {
        nat::config(file, &self.table().config().interfaces)
    }

    /// Has workers go by these settings of NAT, soon.
    pub fn set_nat(&self, nat: NatConfig) {
        *self.nat.lock().unwrap_or_else(PoisonError::into_inner) = Some(nat);
    }

    fn take_nat(&self) -> Option<NatConfig> {
        self.nat
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn put_table(&self, table: &Arc<RouterTable>) {
        let mut own = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        *own = Arc::clone(table);
    }

    fn tell(&self, sentence: String) {
        /// Nobody may read them for long.
        const NEWS_MAX: usize = 64;
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        if news.len() < NEWS_MAX {
            news.push(sentence);
        }
    }
}

/// The port of a router by the kernel's routes: the XDP program leaves the kernel what is its own.
pub fn leave_control(port: &mut PortSpec) {
    if let PortSpec::Xdp(xdp) = port {
        xdp.keep_local = KeepLocal::Control;
    }
}

/// The ports whose frames the kernel sees too.
fn seen_by_kernel(ports: &[PortSpec]) -> Ports {
    let numbered = (0..=u8::MAX).map(PortId).zip(ports);
    let seen = numbered.filter(|(_, port)| matches!(port, PortSpec::Packet(_)));
    seen.fold(Ports::NONE, |all, (id, _)| all.with(id))
}

impl KernelRouter {
    /// Reads what the kernel has.
    ///
    /// # Errors
    /// A port without an interface of the kernel, a kernel that would forward too, one that lists
    /// nothing, or NAT that cannot be beside it.
    pub(super) fn begin(beginning: Beginning<'_>) -> Result<Self, String> {
        let Beginning { specs, on_exit, .. } = beginning;
        let mut interfaces = Interfaces::new(specs)?;
        let failed = |error: io::Error| {
            format!(
                "the kernel's routes cannot be read ({error}): leave out kernel, and give \
                 interfaces and routes"
            )
        };
        let mut watcher = Watcher::open(&Options::default()).map_err(failed)?;
        watcher
            .complete(LISTED_WITHIN, &mut Vec::new())
            .map_err(failed)?;
        let resolver = Resolver::open().map_err(failed)?;
        interfaces.read(watcher.mirror());
        interfaces.check()?;
        let forwarding = Forwarding::new(specs, on_exit);
        forwarding.check()?;
        let mirror = watcher.mirror();
        let ways = routes::all(mirror, &interfaces);
        let memory = |error| format!("there is no memory for the routes ({error})");
        let book = RouteBook::new(ways).map_err(memory)?;
        let own = routes::own_addresses(mirror);
        let nat = beginning.nat;
        let nat = nat.map(|file| nat::config(file, interfaces.list()));
        let config = RouterConfig {
            ports: specs.len(),
            interfaces: interfaces.list().to_vec(),
            punt: None,
            announces: false,
            nat: nat.transpose()?,
            ..beginning.config
        };
        let mut diverting = match config.nat {
            Some(_) => Diverting::new(beginning.ports)?,
            None => Diverting::default(),
        };
        let table = Arc::new(RouterTable::of_book(config.clone(), &book, &own));
        diverting.put(&table)?;
        Ok(Self {
            watcher,
            resolver,
            interfaces,
            config,
            forwarding,
            diverting,
            shared: Arc::new(Shared {
                book: Mutex::new(book),
                table: Mutex::new(table),
                news: Mutex::default(),
                nat: Mutex::default(),
            }),
            seen: seen_by_kernel(specs),
            wants: Vec::new(),
        })
    }

    /// The routers of so many workers.
    ///
    /// # Errors
    /// There is no memory for them.
    pub fn nodes(&mut self, workers: usize) -> Result<Vec<Router>, RouterTableError> {
        let mut nodes = super::workers::of_table(&self.shared.table(), workers)?;
        self.wants = nodes
            .iter_mut()
            .map(|node| node.follow_kernel(self.seen))
            .collect();
        Ok(nodes)
    }

    /// Follows the kernel from now on, for the workers that are observed.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn follow(self, observer: Observer) -> io::Result<KernelFollowing> {
        let shared = Arc::clone(&self.shared);
        let stopped = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stopped);
        let mut follower = Follower::new(self, Workers::new(observer));
        let thread = thread::Builder::new().name("kernel routes".to_owned());
        let thread = thread.spawn(move || follower.run(&is_stopped))?;
        Ok(KernelFollowing {
            shared,
            stopped,
            thread: Some(thread),
        })
    }
}

/// The kernel is followed until this is dropped.
#[derive(Debug)]
pub struct KernelFollowing {
    shared: Arc<Shared>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl KernelFollowing {
    /// What is known.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Drop for KernelFollowing {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

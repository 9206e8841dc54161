//! This machine's own addresses, followed while the daemon runs: `keep = ["local"]` exempts the
//! addresses, gateways and resolvers that there are now.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use engine::OwnAddress;
use port::interface::AddressNews;

use super::{keep, rules, sets, space};
use crate::config::{Config, Space};

/// How often it is asked whether anything changed.
const NAP: Duration = Duration::from_millis(250);

/// How often all addresses are read where the kernel tells of no change.
const UNTOLD: Duration = Duration::from_secs(5);

/// Routes of a large router change all the time, and reading them takes long: for each second of
/// reading so many pass without.
const REST: u32 = 20;

/// Addresses that the log names of one change.
const NAMED_MAX: usize = 16;

/// The name servers that this machine asks.
const RESOLVERS: &str = "/etc/resolv.conf";

/// The thread that follows. It ends with this.
pub(super) struct Following {
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread has.
struct Follower {
    keeping: sets::Keeping,
    known: Vec<OwnAddress>,
    /// None where the kernel gives no socket.
    news: Option<AddressNews>,
    /// When the file of name servers was last changed.
    resolvers: Option<SystemTime>,
    /// A change that is not in force yet.
    is_due: bool,
    looked: Instant,
    /// No look before.
    rests_until: Instant,
}

impl Following {
    /// Follows from `known` on, what the sets were made of; not where nothing local is kept.
    pub(super) fn start(
        config: &Config,
        keeping: &sets::Keeping,
        known: Vec<OwnAddress>,
    ) -> Option<Self> {
        if !rules::kept(config).any(|space| space == Space::Local) {
            return None;
        }
        let mut follower = Follower::new(Arc::clone(keeping), known);
        let stopped = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stopped);
        let thread = thread::Builder::new().name("own addresses".to_owned());
        let thread = thread.spawn(move || {
            while !is_stopped.load(Ordering::Relaxed) {
                follower.turn();
                thread::park_timeout(NAP);
            }
        });
        if let Err(error) = &thread {
            tracing::error!(
                "own addresses are not followed, but as they were at the start: {error}"
            );
        }
        Some(Self {
            stopped,
            thread: thread.ok(),
        })
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Follower {
    fn new(keeping: sets::Keeping, known: Vec<OwnAddress>) -> Self {
        let news = AddressNews::open();
        if let Err(error) = &news {
            tracing::warn!(
                "own addresses are read every {UNTOLD:?}, since netlink tells of no change: {error}"
            );
        }
        let now = Instant::now();
        Self {
            keeping,
            known,
            news: news.ok(),
            resolvers: resolvers_changed(),
            // What changed before the socket was there it does not tell.
            is_due: true,
            looked: now,
            rests_until: now,
        }
    }

    fn turn(&mut self) {
        self.is_due |= match &self.news {
            Some(news) => news.any(),
            None => self.looked.elapsed() >= UNTOLD,
        };
        let resolvers = resolvers_changed();
        self.is_due |= resolvers != self.resolvers;
        self.resolvers = resolvers;
        if !self.is_due || Instant::now() < self.rests_until {
            return;
        }
        let begun = Instant::now();
        let own = engine::own_addresses();
        self.looked = Instant::now();
        self.rests_until = self.looked + (self.looked - begun) * REST;
        self.is_due = own != self.known && !self.put_in_force(own);
    }

    /// False where the sets take no change now: they are being exchanged, or the daemon ends.
    fn put_in_force(&mut self, own: Vec<OwnAddress>) -> bool {
        let handle = sets::handle(&self.keeping);
        let kept = keep::keep_space(&handle, Space::Local, space::local_with(&own));
        if let Err(refusal) = kept {
            tracing::debug!("own addresses are not in force yet: {refusal}");
            return false;
        }
        tell(&self.known, &own);
        self.known = own;
        true
    }
}

/// Logs what came and what went.
fn tell(before: &[OwnAddress], now: &[OwnAddress]) {
    let came = now.iter().filter(|own| !before.contains(own));
    let went = before.iter().filter(|own| !now.contains(own));
    for own in came.clone().take(NAMED_MAX) {
        let what = own.role.phrase();
        tracing::info!(address = %own.address, "{} is {what} now: keep-local has it", own.address);
    }
    for own in went.clone().take(NAMED_MAX) {
        let what = own.role.phrase();
        tracing::info!(address = %own.address, "{} is no longer {what}", own.address);
    }
    let more = came.count().saturating_sub(NAMED_MAX) + went.count().saturating_sub(NAMED_MAX);
    if more != 0 {
        tracing::info!(more, "more addresses of this machine changed");
    }
}

fn resolvers_changed() -> Option<SystemTime> {
    fs::metadata(RESOLVERS).ok()?.modified().ok()
}

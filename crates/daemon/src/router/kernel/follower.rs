//! The thread that follows the kernel.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use netdev::routing::{Change, NeighbourKey, Resolver, Unsupported, Watcher};
use plane::router::{Prefix, RouteChanges, RouterConfig, RouterTable, Wants};

use super::forwarding::Forwarding;
use super::interfaces::Interfaces;
use super::nat::{self, Diverting};
use super::neighbours::Neighbours;
use super::workers::Workers;
use super::{KernelRouter, Shared, left_out, routes};

/// How long it waits for news of the kernel before it looks whom workers want.
const NAP: Duration = Duration::from_millis(5);
/// How long it rests after an error of the socket.
const REST: Duration = Duration::from_secs(1);
/// How often it looks whether the kernel forwards.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Takes over what the kernel says, and tells workers.
pub(super) struct Follower {
    watcher: Watcher,
    resolver: Resolver,
    interfaces: Interfaces,
    neighbours: Neighbours,
    config: RouterConfig,
    forwarding: Forwarding,
    diverting: Diverting,
    looked: Instant,
    /// What was last complained of.
    complaint: Option<String>,
    overruns: u64,
    shared: Arc<Shared>,
    wants: Vec<Wants>,
    workers: Workers,
}

/// What changed, each once.
#[derive(Debug, Default)]
struct News {
    links: bool,
    prefixes: BTreeSet<Prefix>,
    neighbours: BTreeSet<NeighbourKey>,
}

impl Follower {
    pub(super) fn new(read: KernelRouter, workers: Workers) -> Self {
        Self {
            watcher: read.watcher,
            resolver: read.resolver,
            interfaces: read.interfaces,
            neighbours: Neighbours::default(),
            config: read.config,
            forwarding: read.forwarding,
            diverting: read.diverting,
            looked: Instant::now(),
            complaint: None,
            overruns: 0,
            shared: read.shared,
            wants: read.wants,
            workers,
        }
    }

    /// Follows until it is stopped.
    pub(super) fn run(&mut self, is_stopped: &AtomicBool) {
        self.tell_all_neighbours();
        let obstacles = routes::obstacles(self.watcher.mirror());
        obstacles.for_each(|(prefix, obstacle)| self.tell_obstacle(prefix, obstacle));
        left_out::sentences(self.watcher.mirror(), &self.interfaces)
            .into_iter()
            .for_each(|sentence| self.shared.tell(sentence));
        while !is_stopped.load(Ordering::Relaxed) {
            if let Err(error) = self.turn() {
                self.complain(format!(
                    "the kernel's routes cannot be followed now ({error}): those known before stay \
                     in force"
                ));
                thread::sleep(REST);
            }
        }
        self.neighbours
            .let_go(self.watcher.mirror(), &mut self.resolver);
    }

    fn turn(&mut self) -> io::Result<()> {
        let mut changes = Vec::new();
        self.watcher.poll(NAP, &mut changes)?;
        let news = self.sorted(&changes);
        self.take_over(&news)?;
        for key in &news.neighbours {
            let (mirror, interfaces) = (self.watcher.mirror(), &self.interfaces);
            let followed = self.neighbours.one(mirror, interfaces, key);
            followed
                .into_iter()
                .for_each(|one| self.workers.add_neighbour(one));
            self.neighbours.look_after(mirror, &mut self.resolver, key);
        }
        self.hear_wants();
        self.workers.tell();
        self.look();
        Ok(())
    }

    fn sorted(&self, changes: &[Change]) -> News {
        let mut news = News::default();
        let mirror = self.watcher.mirror();
        for change in changes {
            match change {
                Change::Link(link) => news.links |= self.interfaces.concerns(mirror, *link),
                Change::Address(key) => news.links |= self.interfaces.concerns(mirror, key.link),
                Change::Route { table, prefix } if routes::is_followed(*table) => {
                    news.prefixes.insert(routes::shown(*prefix));
                }
                Change::Route { .. } => {}
                Change::Neighbour(key) => {
                    news.neighbours.insert(*key);
                }
                Change::Unreadable(fault) => self.shared.tell(fault.to_string()),
            }
        }
        news
    }

    /// Gives workers other interfaces and routes, where they are others.
    fn take_over(&mut self, news: &News) -> io::Result<()> {
        let mirror = self.watcher.mirror();
        let differs = match news.links {
            true => self.interfaces.read(mirror),
            false => Default::default(),
        };
        let changes = match differs.links {
            true => self.all_changes(),
            false => self.changes_of(&news.prefixes),
        };
        let rules = self.shared.take_nat();
        if changes.is_empty() && !differs.settings && rules.is_none() {
            return Ok(());
        }
        let before = self.config.clone();
        self.config.nat = rules.or(self.config.nat.take());
        let mut book = self.shared.book();
        let applied = book.apply(&changes);
        applied.map_err(|error| io::Error::other(error.to_string()))?;
        self.config.interfaces = self.interfaces.list().to_vec();
        let own = routes::own_addresses(mirror);
        let table = Arc::new(RouterTable::of_book(self.config.clone(), &book, &own));
        drop(book);
        // Before workers use an address: the kernel would reset what answers.
        if let Err(sentence) = self.diverting.put(&table) {
            self.shared.tell(sentence);
        }
        for sentence in nat::changes(&before, &self.config) {
            self.shared.tell(sentence);
        }
        self.shared.put_table(&table);
        self.workers.set_table(table);
        if differs.links {
            self.tell_all_neighbours();
        }
        Ok(())
    }

    /// What of these prefixes is other than in the book.
    fn changes_of(&self, prefixes: &BTreeSet<Prefix>) -> RouteChanges {
        let (mirror, book) = (self.watcher.mirror(), self.shared.book());
        let mut changes = RouteChanges::new();
        for &prefix in prefixes {
            let way = routes::to(mirror, &self.interfaces, prefix);
            if book.way(prefix) != way.as_ref() {
                changes.insert(prefix, way);
            }
            if let Some(obstacle) = routes::obstacle(mirror, prefix) {
                self.tell_obstacle(prefix, obstacle);
            }
        }
        changes
    }

    fn tell_obstacle(&self, prefix: Prefix, obstacle: Unsupported) {
        self.shared.tell(format!(
            "packets to {prefix} are refused: its route cannot be followed ({obstacle})"
        ));
    }

    /// The same of all prefixes.
    fn all_changes(&self) -> RouteChanges {
        let (mirror, book) = (self.watcher.mirror(), self.shared.book());
        let all: RouteChanges = routes::all(mirror, &self.interfaces)
            .map(|(prefix, way)| (prefix, Some(way)))
            .collect();
        let gone = book
            .routes()
            .filter(|(prefix, _)| !all.contains_key(prefix));
        let gone: Vec<Prefix> = gone.map(|(prefix, _)| prefix).collect();
        let mut changes = all;
        changes.retain(|prefix, way| book.way(*prefix) != way.as_ref());
        changes.extend(gone.into_iter().map(|prefix| (prefix, None)));
        changes
    }

    fn tell_all_neighbours(&mut self) {
        let news = self.neighbours.all(self.watcher.mirror(), &self.interfaces);
        news.into_iter()
            .for_each(|one| self.workers.add_neighbour(one));
    }

    fn hear_wants(&mut self) {
        let mut wanted = BTreeSet::new();
        for wants in &mut self.wants {
            wanted.extend(std::iter::from_fn(|| wants.take()));
        }
        let mirror = self.watcher.mirror();
        for wanted in &wanted {
            let (interfaces, resolver) = (&self.interfaces, &mut self.resolver);
            let followed = self.neighbours.want(mirror, interfaces, resolver, wanted);
            followed
                .into_iter()
                .for_each(|one| self.workers.add_neighbour(one));
        }
    }

    /// Whether all is as it should be, from time to time.
    fn look(&mut self) {
        if self.looked.elapsed() < LOOK_EVERY {
            return;
        }
        self.looked = Instant::now();
        let overruns = self.watcher.mirror().overruns();
        if overruns != self.overruns {
            self.overruns = overruns;
            self.shared.tell(format!(
                "the kernel dropped messages about routes ({overruns} times so far): all were \
                 listed anew"
            ));
        }
        match self.forwarding.check() {
            Ok(()) => self.complaint = None,
            Err(sentence) => self.complain(sentence),
        }
    }

    /// Says what is wrong, once.
    fn complain(&mut self, sentence: String) {
        if self.complaint.as_ref() != Some(&sentence) {
            self.shared.tell(sentence.clone());
            self.complaint = Some(sentence);
        }
    }
}

//! A keeper without workers, and what tests ask it.

use daemon::journal::{Journal, OpenOptions, Restart};
use daemon::sets::{
    Handle, Keeper, KeeperConfig, LoadedFrom, NewEntry, Origin, Publish, Refusal, Reply, Request,
    SetConfig, SetFacts, SetName,
};
use engine::{OwnAddress, Role};
use plane::{Action, Ruleset, SetRule, Sides};
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use table::Entries;
use table::live::Entry;

/// What was published, in order.
#[derive(Clone, Default)]
pub(crate) struct Published(Arc<Mutex<Vec<Ruleset>>>);

impl Published {
    pub(crate) fn last(&self) -> Ruleset {
        let all = self.0.lock().expect("no panic");
        all.last().expect("the first version").clone()
    }

    /// Whether the set at this place has an IPv4 address, as workers see it.
    pub(crate) fn has(&self, set: usize, address: &str) -> bool {
        has(&self.last(), set, address)
    }
}

pub(crate) fn has(ruleset: &Ruleset, set: usize, address: &str) -> bool {
    let mask = match address.parse().expect("an address") {
        IpAddr::V4(address) => ruleset.lists().lookup_v4(address.to_bits()),
        IpAddr::V6(address) => ruleset.lists().lookup_v6(address.to_bits()),
    };
    mask.contains(set)
}

impl Publish for Published {
    fn publish(&mut self, next: Ruleset) -> u64 {
        let mut all = self.0.lock().expect("no panic");
        all.push(next);
        all.len() as u64
    }

    fn wait_seen(&mut self, _: u64, _: Duration) -> bool {
        true
    }
}

pub(crate) struct World {
    pub(crate) handle: Handle,
    pub(crate) published: Published,
    pub(crate) keeper: Keeper,
}

pub(crate) fn config(names: &[&str]) -> KeeperConfig {
    let set = |name: &&str| SetConfig::new(SetRule::new(*name, Action::Block, Sides::BOTH));
    let mut config = KeeperConfig::new(names.iter().map(set).collect());
    config.own_addresses = || {
        vec![OwnAddress {
            address: IpAddr::V4([198, 51, 100, 7].into()),
            role: Role::Gateway,
        }]
    };
    config
}

impl World {
    pub(crate) fn new(names: &[&str]) -> Self {
        Self::start(config(names), None)
    }

    /// With a journal in `dir`.
    pub(crate) fn kept(names: &[&str], dir: &Path) -> Self {
        Self::start(config(names), Some(dir))
    }

    pub(crate) fn start(config: KeeperConfig, dir: Option<&Path>) -> Self {
        let restart = dir.map(|dir| {
            let opened = Journal::open(dir, OpenOptions::default(), now_ms());
            let (journal, kept, _) = opened.expect("a journal");
            Restart {
                journal: Some(journal),
                kept,
            }
        });
        let restart = restart.unwrap_or_default();
        let published = Published::default();
        let to_workers = Box::new(published.clone());
        let (handle, keeper) = Keeper::start(config, restart, to_workers).expect("a keeper");
        Self {
            handle,
            published,
            keeper,
        }
    }

    pub(crate) fn add(&self, set: &str, text: &str) -> Reply {
        self.add_for(set, text, None, Origin::Hand)
    }

    pub(crate) fn add_for(
        &self,
        set: &str,
        text: &str,
        timeout: Option<Duration>,
        origin: Origin,
    ) -> Reply {
        let new = |text| NewEntry {
            timeout,
            ..NewEntry::from(entry(text))
        };
        let request = Request::Add {
            set: name(set),
            entries: text.split_whitespace().map(new).collect(),
            origin,
        };
        self.handle.ask(request).expect("an answer")
    }

    pub(crate) fn delete(&self, set: &str, text: &str, origin: Origin) -> Reply {
        let request = Request::Delete {
            set: name(set),
            entries: text.split_whitespace().map(entry).collect(),
            origin,
        };
        self.handle.ask(request).expect("an answer")
    }

    pub(crate) fn load(&self, set: &str, text: &str, force: bool) -> Result<Reply, Refusal> {
        let request = Request::Load {
            set: name(set),
            entries: read(text),
            source: from("test.list"),
            origin: Origin::File,
            force,
        };
        self.handle.ask(request)
    }

    pub(crate) fn facts(&self, set: &str) -> SetFacts {
        let show = Request::Show { set: name(set) };
        match self.handle.ask(show).expect("a set") {
            Reply::Set(facts) => *facts,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn name(name: &str) -> SetName {
    SetName::new(name).expect("a name")
}

pub(crate) fn from(name: &str) -> LoadedFrom {
    LoadedFrom::named(name)
}

pub(crate) fn read(text: &str) -> Entries {
    let options = list::ReadOptions {
        force: true,
        ..list::ReadOptions::default()
    };
    let loaded = list::read("test.list", text.as_bytes(), &options, &mut |_| {});
    loaded.expect("a list").entries
}

pub(crate) fn entry(text: &str) -> Entry {
    let read = list::Entry::parse(text.as_bytes()).expect("an entry");
    daemon::sets::live_entry(read)
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_millis() as u64
}

/// Numbers that one seed makes; printed, so that a failure can be made again.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Of the variable `LINERATE_SEED`, or of the clock.
    pub(crate) fn seeded() -> Self {
        let given = std::env::var("LINERATE_SEED").ok();
        let seed = given
            .and_then(|seed| seed.parse().ok())
            .unwrap_or_else(now_ms);
        println!("LINERATE_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    pub(crate) fn below(&mut self, count: u64) -> u64 {
        self.word() % count
    }
}

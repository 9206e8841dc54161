//! When changes pause, versions come that bring the pages of tables home, and then no more.

use crate::world::{config, entry, has, name};
use daemon::sets::{Handle, Keeper, Origin, Publish, Request};
use plane::Ruleset;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Workers that have the newest version at once, and all that were ever published where `keeps`.
#[derive(Clone, Default)]
struct Workers {
    published: Arc<Mutex<Vec<Ruleset>>>,
    count: Arc<Mutex<u64>>,
    keeps: bool,
}

impl Workers {
    fn count(&self) -> u64 {
        *self.count.lock().expect("no panic")
    }

    fn newest(&self) -> Ruleset {
        let published = self.published.lock().expect("no panic");
        published.last().expect("the first version").clone()
    }
}

impl Publish for Workers {
    fn publish(&mut self, next: Ruleset) -> u64 {
        let mut published = self.published.lock().expect("no panic");
        if !self.keeps {
            published.clear();
        }
        published.push(next);
        let mut count = self.count.lock().expect("no panic");
        *count += 1;
        *count
    }

    fn wait_seen(&mut self, _: u64, _: Duration) -> bool {
        true
    }
}

fn changed(workers: &Workers) -> (Handle, Keeper, u64) {
    let to_workers = Box::new(workers.clone());
    let (handle, keeper) =
        Keeper::start(config(&["a"]), Default::default(), to_workers).expect("a keeper");
    let add = |addresses: std::ops::Range<u8>| {
        let text = addresses.map(|last| format!("192.0.2.{last}"));
        let request = Request::Add {
            set: name("a"),
            entries: text.map(|text| entry(&text).into()).collect(),
            origin: Origin::Hand,
        };
        handle.ask(request).expect("an answer");
    };
    // Many at once make the table, one more copies a page of it.
    add(1..40);
    add(40..41);
    (handle, keeper, workers.count())
}

#[test]
fn a_pause_brings_one_version_more() {
    let workers = Workers::default();
    let (_handle, keeper, before) = changed(&workers);
    let begun = Instant::now();
    while workers.count() == before {
        assert!(begun.elapsed() < Duration::from_secs(60), "none came");
        sleep(Duration::from_millis(5));
    }
    for address in ["192.0.2.1", "192.0.2.40"] {
        assert!(has(&workers.newest(), 0, address));
    }
    sleep(Duration::from_millis(500));
    assert!(workers.count() <= before + 2, "it goes on");
    keeper.stop();
}

#[test]
fn where_old_versions_are_kept_none_comes() {
    let workers = Workers {
        keeps: true,
        ..Workers::default()
    };
    let (handle, keeper, before) = changed(&workers);
    sleep(Duration::from_millis(500));
    assert_eq!(workers.count(), before);
    handle.ask(Request::List).expect("an answer");
    keeper.stop();
}

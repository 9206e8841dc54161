//! For tests: a keeper that remembers what it was given.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use super::deliver::{Amended, Begun, Change, Deliver, Delivery, Refused, Taken};

/// What a test keeper was given.
#[derive(Debug)]
pub(crate) enum Given {
    /// A list.
    Load(Box<Delivery>),
    /// Decisions for the set.
    Change(String, Change),
    /// A change in place.
    Amend(Amended),
}

/// Takes all it is given, or refuses with the sentence it was told.
pub(crate) struct TestKeeper {
    given: Mutex<mpsc::Sender<Given>>,
    refusing: Mutex<Option<Refused>>,
    /// Takes changes in place.
    in_place: AtomicBool,
}

/// The test's end.
pub(crate) struct TestDesk {
    /// To be handed to the sources.
    pub(crate) keeper: Arc<TestKeeper>,
    given: mpsc::Receiver<Given>,
}

/// Long enough for the slowest machine: a wait ends when something comes.
const PATIENCE: Duration = Duration::from_secs(60);

impl TestDesk {
    pub(crate) fn new() -> Self {
        let (sender, given) = mpsc::channel();
        let keeper = Arc::new(TestKeeper {
            given: Mutex::new(sender),
            refusing: Mutex::new(None),
            in_place: AtomicBool::new(false),
        });
        Self { keeper, given }
    }

    /// Refuses from now on.
    pub(crate) fn refuse(&self, reason: &str) {
        *self.keeper.refusing.lock().unwrap() = Some(Refused {
            reason: reason.to_owned(),
            passing: false,
        });
    }

    /// Takes again.
    pub(crate) fn take(&self) {
        *self.keeper.refusing.lock().unwrap() = None;
    }

    /// Takes changes in place from now on, or wants whole lists.
    pub(crate) fn in_place(&self, takes: bool) {
        self.keeper.in_place.store(takes, Ordering::SeqCst);
    }

    /// The next change in place: what was added, what was removed, and whether a copy was written.
    #[track_caller]
    pub(crate) fn amended(&self) -> Amended {
        match self.given.recv_timeout(PATIENCE) {
            Ok(Given::Amend(amended)) => amended,
            other => panic!("no change came: {other:?}"),
        }
    }

    /// The next list that was loaded.
    #[track_caller]
    pub(crate) fn load(&self) -> Delivery {
        match self.given.recv_timeout(PATIENCE) {
            Ok(Given::Load(delivery)) => *delivery,
            other => panic!("no list came: {other:?}"),
        }
    }

    /// The next decisions.
    #[track_caller]
    pub(crate) fn change(&self) -> Change {
        match self.given.recv_timeout(PATIENCE) {
            Ok(Given::Change(set, change)) => {
                assert_eq!(set, "crowd", "the one set that tests feed so");
                change
            }
            other => panic!("no decisions came: {other:?}"),
        }
    }

    /// Nothing was given that was not looked at.
    #[track_caller]
    pub(crate) fn nothing_more(&self) {
        if let Ok(given) = self.given.try_recv() {
            panic!("more than expected: {given:?}");
        }
    }
}

/// Waits until it holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + PATIENCE;
    while !holds() {
        assert!(std::time::Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl TestKeeper {
    fn answer(&self, given: Given, entries: u64) -> Result<Taken, Refused> {
        if let Some(refused) = self.refusing.lock().unwrap().clone() {
            return Err(refused);
        }
        self.given.lock().unwrap().send(given).unwrap();
        Ok(Taken { entries })
    }
}

impl Deliver for TestKeeper {
    fn begin(&self, set: &str) -> Result<Box<dyn Begun + '_>, Refused> {
        assert!(!set.is_empty());
        Ok(Box::new(TestBegun(self)))
    }

    fn change(&self, set: &str, change: Change) -> Result<Taken, Refused> {
        let entries = change.added.len() as u64;
        self.answer(Given::Change(set.to_owned(), change), entries)
    }

    fn amend(&self, set: &str, amended: Amended) -> Result<bool, Refused> {
        assert!(!set.is_empty());
        if !self.in_place.load(Ordering::SeqCst) {
            return Ok(false);
        }
        self.answer(Given::Amend(amended), 0).map(|_| true)
    }
}

struct TestBegun<'k>(&'k TestKeeper);

impl Begun for TestBegun<'_> {
    fn load(self: Box<Self>, delivery: Delivery) -> Result<Taken, Refused> {
        if delivery.force {
            *self.0.refusing.lock().unwrap() = None;
        }
        let entries = delivery.entries.count() as u64;
        self.0.answer(Given::Load(Box::new(delivery)), entries)
    }

    fn give_up(self: Box<Self>, why: &str) {
        assert!(!why.is_empty());
    }
}

//! The keeper of sets, as sources deliver to it.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::deliver::{Amended, Begun, Change, Decided, Deliver, Delivery, Refused, Taken};
use super::source::Kind;
use crate::sets::{
    Amendment, Handle, LoadedFrom, NewEntry, Origin, PendingLoad, Refusal, Reply, Request, SetName,
};

/// How often to look whether nothing is being delivered.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Delivers to the keeper that there is. Clones deliver to the same one, and are held together.
#[derive(Clone, Debug)]
pub struct ToKeeper {
    keeper: Arc<RwLock<Handle>>,
    /// Read by whoever delivers, for as long as that takes.
    gate: Arc<RwLock<()>>,
}

/// While it is there nothing is delivered.
#[derive(Debug)]
pub struct Held<'a> {
    _gate: RwLockWriteGuard<'a, ()>,
}

impl ToKeeper {
    /// Delivers to whichever keeper is there when a delivery begins.
    #[must_use]
    pub fn new(keeper: Arc<RwLock<Handle>>) -> Self {
        Self {
            keeper,
            gate: Arc::default(),
        }
    }

    /// Waits until what is being delivered has arrived, and holds back what comes after it: a
    /// delivery that is half with one keeper would be lost with the next. None where it takes
    /// longer than `within`.
    #[must_use]
    pub fn hold(&self, within: Duration) -> Option<Held<'_>> {
        let end = Instant::now() + within;
        loop {
            match self.gate.try_write() {
                Ok(gate) => return Some(Held { _gate: gate }),
                Err(TryLockError::Poisoned(poisoned)) => {
                    let gate = poisoned.into_inner();
                    return Some(Held { _gate: gate });
                }
                Err(TryLockError::WouldBlock) if Instant::now() >= end => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(LOOK_EVERY),
            }
        }
    }

    fn pass(&self) -> RwLockReadGuard<'_, ()> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self) -> Handle {
        let keeper = self.keeper.read();
        keeper.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ask(&self, request: Request) -> Result<Reply, Refused> {
        let replied = self.handle().ask(request);
        replied.map_err(|refusal| refused(&refusal))
    }
}

fn set_name(set: &str) -> Result<SetName, Refused> {
    SetName::new(set).map_err(|error| Refused {
        reason: error.to_string(),
        passing: false,
    })
}

fn refused(refusal: &Refusal) -> Refused {
    Refused {
        reason: refusal.to_string(),
        // What a guard refuses it refuses again; a worker that was slow or a full disk passes.
        passing: !refusal.is_guard(),
    }
}

fn origin(kind: Kind) -> Origin {
    match kind {
        Kind::File => Origin::File,
        Kind::Url => Origin::Url,
        Kind::Command => Origin::Command,
        Kind::Etcd => Origin::Etcd,
        Kind::CrowdSec => Origin::CrowdSec,
    }
}

impl Deliver for ToKeeper {
    fn begin(&self, set: &str) -> Result<Box<dyn Begun + '_>, Refused> {
        let passing = self.pass();
        let begun = self.handle().begin_load(&set_name(set)?);
        let load = begun.map_err(|refusal| refused(&refusal))?;
        Ok(Box::new(Pending {
            load,
            _passing: passing,
        }))
    }

    fn change(&self, set: &str, change: Change) -> Result<Taken, Refused> {
        let _passing = self.pass();
        let (set, origin) = (set_name(set)?, Origin::CrowdSec);
        let entries: Vec<NewEntry> = change.added.into_iter().map(new_entry).collect();
        let count = entries.len() as u64;
        if change.replace {
            self.ask(Request::Replace {
                set,
                entries,
                origin,
            })?;
            return Ok(Taken { entries: count });
        }
        if !change.deleted.is_empty() {
            self.ask(Request::Delete {
                set: set.clone(),
                entries: change.deleted,
                origin,
            })?;
        }
        if !entries.is_empty() {
            self.ask(Request::Add {
                set,
                entries,
                origin,
            })?;
        }
        Ok(Taken { entries: count })
    }

    fn amend(&self, set: &str, amended: Amended) -> Result<bool, Refused> {
        let _passing = self.pass();
        let (set, origin) = (set_name(set)?, origin(amended.kind));
        let request = Request::Amend {
            set,
            amendment: amendment(amended),
            origin,
        };
        Ok(matches!(self.ask(request)?, Reply::Amended(true)))
    }
}

fn amendment(amended: Amended) -> Amendment {
    let name = amended.name;
    let copy = amended.copy.map(|copy| LoadedFrom {
        file: Some(copy.file),
        at: copy.at,
        bytes: copy.bytes,
        ..LoadedFrom::named(name.clone())
    });
    Amendment {
        name,
        added: amended.added,
        removed: amended.removed,
        copy,
    }
}

fn new_entry(decided: Decided) -> NewEntry {
    let comment = decided.comment;
    NewEntry {
        entry: decided.entry,
        timeout: Some(decided.left),
        comment: (!comment.is_empty()).then(|| comment.into()),
    }
}

struct Pending<'a> {
    load: PendingLoad,
    _passing: RwLockReadGuard<'a, ()>,
}

impl Begun for Pending<'_> {
    fn load(self: Box<Self>, delivery: Delivery) -> Result<Taken, Refused> {
        let entries = delivery.entries.count() as u64;
        let from = LoadedFrom {
            name: delivery.name,
            file: delivery.file,
            columns: delivery.columns,
            json_paths: delivery.json_paths,
            at: delivery.at,
            bytes: delivery.bytes,
            kept: None,
        };
        let origin = origin(delivery.kind);
        self.load
            .finish(delivery.entries, from, origin, delivery.force)
            .map_err(|refusal| refused(&refusal))?;
        Ok(Taken { entries })
    }

    fn give_up(self: Box<Self>, why: &str) {
        // A keeper that has ended shows nothing any more.
        let _ = self.load.give_up(why.to_owned());
    }
}

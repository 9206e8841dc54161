//! The keeper of sets, as sources deliver to it.

use super::deliver::{Begun, Change, Decided, Deliver, Delivery, Refused, Taken};
use super::source::Kind;
use crate::sets::{
    Handle, LoadedFrom, NewEntry, Origin, PendingLoad, Refusal, Reply, Request, SetName,
};

/// Delivers to the keeper behind a handle.
#[derive(Clone, Debug)]
pub struct ToKeeper(pub Handle);

impl ToKeeper {
    fn ask(&self, request: Request) -> Result<Reply, Refused> {
        self.0.ask(request).map_err(|refusal| refused(&refusal))
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
        Kind::CrowdSec => Origin::CrowdSec,
    }
}

impl Deliver for ToKeeper {
    fn begin(&self, set: &str) -> Result<Box<dyn Begun + '_>, Refused> {
        let begun = self.0.begin_load(&set_name(set)?);
        Ok(Box::new(Pending(
            begun.map_err(|refusal| refused(&refusal))?,
        )))
    }

    fn change(&self, set: &str, change: Change) -> Result<Taken, Refused> {
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
}

fn new_entry(decided: Decided) -> NewEntry {
    let comment = decided.comment;
    NewEntry {
        entry: decided.entry,
        timeout: Some(decided.left),
        comment: (!comment.is_empty()).then(|| comment.into()),
    }
}

struct Pending(PendingLoad);

impl Begun for Pending {
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
        self.0
            .finish(delivery.entries, from, origin, delivery.force)
            .map_err(|refusal| refused(&refusal))?;
        Ok(Taken { entries })
    }

    fn give_up(self: Box<Self>, why: &str) {
        // A keeper that has ended shows nothing any more.
        let _ = self.0.give_up(why.to_owned());
    }
}

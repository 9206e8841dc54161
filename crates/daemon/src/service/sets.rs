//! The sets of the control socket: the keeper's, in the words of the protocol.

use std::io::{self, BufRead, Read};
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use frame::PortId;
use list::ReadOptions;
use plane::{SetRule, Side};

use crate::rpc::answers::{
    self, ActionFacts, ActionParams, AddParams, DeleteParams, HitCounts, LoadParams, Match,
    SetList, SetTest,
};
use crate::rpc::{self, ErrorKind, Pending, RpcError, SetLines};
use crate::sets::{
    Handle, LoadedFrom, NewEntry, Origin, PartHeld, Place, Refusal, Reply, Request, SetFacts,
    SetName, TestAnswer, TestReason,
};

/// Who keeps the sets now: another after a reload that adds or takes away sets.
pub(crate) type Keeping = Arc<RwLock<Handle>>;

/// The keeper's sets, as the control socket tells of them.
pub(super) struct KeptSets {
    keeping: Keeping,
    /// The ports' names, by their numbers.
    ports: Vec<String>,
}

impl KeptSets {
    pub(super) fn new(keeping: Keeping, ports: Vec<String>) -> Self {
        Self { keeping, ports }
    }

    fn handle(&self) -> Handle {
        handle(&self.keeping)
    }

    fn ask(&self, request: Request) -> Result<Reply, RpcError> {
        self.handle()
            .ask(request)
            .map_err(|refusal| refused(&refusal))
    }

    fn facts(&self, facts: SetFacts) -> answers::SetFacts {
        let loaded = facts.loaded.as_ref();
        answers::SetFacts {
            set: facts.name.to_string(),
            action: facts.rule.action.into(),
            configured: facts.configured.map(Into::into),
            actions: self.actions(&facts.rule),
            entries: facts.counts.entries as u64,
            dynamic: facts.counts.dynamic as u64,
            timed: facts.counts.timed as u64,
            source: loaded.map(|list| list.from.name.clone()),
            origin: loaded.map(|list| list.origin.name().to_owned()),
            loaded_at: loaded.map(|list| seconds(list.since)),
            changed_at: facts.changed.map(seconds),
            refusals: facts.refused,
            refused: facts.refusal,
        }
    }

    /// By port and side, where the action is not the same everywhere.
    fn actions(&self, rule: &SetRule) -> Vec<ActionFacts> {
        let mut actions = Vec::new();
        for (number, name) in (0..).zip(&self.ports) {
            for side in Side::EVERY {
                actions.push(ActionFacts {
                    port: name.clone(),
                    side: match side {
                        Side::Src => answers::Side::Source,
                        Side::Dst => answers::Side::Destination,
                    },
                    action: rule.action_at(side, PortId(number)).map(Into::into),
                });
            }
        }
        let usual = Some(rule.action.into());
        match actions.iter().all(|facts| facts.action == usual) {
            true => Vec::new(),
            false => actions,
        }
    }
}

/// The keeper that has the sets now.
pub(crate) fn handle(keeping: &Keeping) -> Handle {
    keeping
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Whole seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A refusal as it is sent.
pub(super) fn refused(refusal: &Refusal) -> RpcError {
    let kind = match refusal {
        Refusal::NoSuchSet { .. } => ErrorKind::NoSuchSet,
        refusal if refusal.is_guard() => ErrorKind::Guarded,
        Refusal::Stopped | Refusal::NotConfirmed { .. } => ErrorKind::Busy,
        _ => ErrorKind::Refused,
    };
    let mut error = RpcError::new(kind, refusal);
    error.reason = refusal.reason().to_owned();
    error
}

/// Others read a comment, on their terminals.
fn plain(comment: Option<&str>) -> Result<(), RpcError> {
    match comment.is_some_and(|comment| comment.contains(char::is_control)) {
        false => Ok(()),
        true => Err(RpcError::params(
            "params of set.add: comment holds a control character: write one line of plain text",
        )),
    }
}

fn named(set: &str) -> Result<SetName, RpcError> {
    SetName::new(set).map_err(|error| RpcError::new(ErrorKind::NoSuchSet, error))
}

/// An answer of a kind that the question does not have.
fn mismatched() -> RpcError {
    RpcError::new(
        ErrorKind::Internal,
        "the keeper answered another question: report this",
    )
}

/// Something that is known already.
fn known<T: Send + 'static>(result: Result<T, RpcError>) -> Pending<T> {
    Box::new(move || result)
}

impl rpc::Sets for KeptSets {
    fn list(&self) -> Result<SetList, RpcError> {
        let Reply::Sets(sets) = self.ask(Request::List)? else {
            return Err(mismatched());
        };
        let sets = sets.into_iter().map(|facts| self.facts(facts));
        Ok(SetList {
            sets: sets.collect(),
        })
    }

    fn show(&self, set: &str) -> Result<answers::SetFacts, RpcError> {
        match self.ask(Request::Show { set: named(set)? })? {
            Reply::Set(facts) => Ok(self.facts(*facts)),
            _ => Err(mismatched()),
        }
    }

    fn test(&self, address: IpAddr) -> Result<answers::TestAnswer, RpcError> {
        let Reply::Test(sets) = self.ask(Request::Test { address })? else {
            return Err(mismatched());
        };
        Ok(answers::TestAnswer {
            address,
            sets: sets.into_iter().map(tested).collect(),
        })
    }

    fn add(&self, params: AddParams) -> Pending<answers::Added> {
        let set = match named(&params.set) {
            Ok(set) => set,
            Err(error) => return known(Err(error)),
        };
        if let Err(error) = plain(params.comment.as_deref()) {
            return known(Err(error));
        }
        let entry = |entry| NewEntry {
            entry,
            timeout: params.timeout_ms.map(Duration::from_millis),
            comment: params.comment.as_deref().map(Into::into),
        };
        let entries = params.entries.0.into_iter().map(entry);
        let waiting = self.handle().send(Request::Add {
            set,
            entries: entries.collect(),
            origin: Origin::Hand,
        });
        Box::new(move || match waiting.and_then(|waiting| waiting.wait()) {
            Ok(Reply::Added(added)) => Ok(answers::Added {
                added: added.added,
                already: added.already_there,
            }),
            Ok(_) => Err(mismatched()),
            Err(refusal) => Err(refused(&refusal)),
        })
    }

    fn delete(&self, params: DeleteParams) -> Pending<answers::Deleted> {
        let set = match named(&params.set) {
            Ok(set) => set,
            Err(error) => return known(Err(error)),
        };
        let waiting = self.handle().send(Request::Delete {
            set,
            entries: params.entries.0,
            origin: Origin::Hand,
        });
        Box::new(move || match waiting.and_then(|waiting| waiting.wait()) {
            Ok(Reply::Deleted(deleted)) => Ok(answers::Deleted {
                deleted: deleted.deleted,
                absent: deleted.was_not_there,
            }),
            Ok(_) => Err(mismatched()),
            Err(refusal) => Err(refused(&refusal)),
        })
    }

    fn flush(&self, set: &str) -> Result<answers::Flushed, RpcError> {
        match self.ask(Request::Flush { set: named(set)? })? {
            Reply::Flushed(flushed) => Ok(answers::Flushed {
                deleted: flushed.entries,
            }),
            _ => Err(mismatched()),
        }
    }

    fn load(&self, params: &LoadParams, input: &mut dyn Read) -> Result<answers::Loaded, RpcError> {
        let handle = self.handle();
        let pending = handle.begin_load(&named(&params.set)?);
        let pending = pending.map_err(|refusal| refused(&refusal))?;
        let mut counted = Counted { input, bytes: 0 };
        let options = ReadOptions {
            force: params.force,
            ..ReadOptions::default()
        };
        let read = list::read(&params.file, &mut counted, &options, &mut |_| {});
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                let error = RpcError::new(ErrorKind::Refused, error);
                // Gone by now: then there is nobody to tell.
                let _ = pending.give_up(error.message.clone());
                return Err(error);
            }
        };
        let warnings = read.warnings.iter().map(ToString::to_string);
        let warnings = warnings.collect();
        let from = LoadedFrom {
            name: params.file.clone(),
            file: None,
            column: None,
            at: SystemTime::now(),
            bytes: counted.bytes,
        };
        let reply = pending.finish(read.entries, from, Origin::Hand, params.force);
        match reply.map_err(|refusal| refused(&refusal))? {
            Reply::Loaded(load) => Ok(answers::Loaded {
                entries: load.entries,
                added: load.added,
                removed: load.removed,
                forced: load.forced,
                warnings,
                seconds: 0.0,
            }),
            _ => Err(mismatched()),
        }
    }

    fn save(&self, set: &str) -> Result<SetLines, RpcError> {
        let Reply::Saved(saved) = self.ask(Request::Save { set: named(set)? })? else {
            return Err(mismatched());
        };
        let mut text = Vec::new();
        let written = saved.write_to(&mut text);
        written.map_err(|error| RpcError::new(ErrorKind::Internal, error))?;
        Ok(SetLines {
            entries: saved.counts().entries as u64,
            lines: Box::new(Lines(io::Cursor::new(text))),
        })
    }

    fn action(&self, params: &ActionParams) -> Result<answers::SetFacts, RpcError> {
        let set = named(&params.set)?;
        let action = params.action.into();
        let Reply::ActionSet { before } = self.ask(Request::SetAction { set, action })? else {
            return Err(mismatched());
        };
        tracing::info!(set = params.set, %before, now = %action, "the action of a set changed");
        rpc::Sets::show(self, &params.set)
    }
}

/// The lines of a text, one at a time: as strings all of a large set would take three times the
/// memory.
struct Lines(io::Cursor<Vec<u8>>);

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut line = Vec::new();
        // Of memory, which does not fail.
        let read = self.0.read_until(b'\n', &mut line).unwrap_or_default();
        line.pop_if(|last| *last == b'\n');
        (read != 0).then(|| String::from_utf8_lossy(&line).into_owned())
    }
}

/// Counts what is read.
struct Counted<'r> {
    input: &'r mut dyn Read,
    bytes: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.bytes += read as u64;
        Ok(read)
    }
}

fn tested(answer: TestAnswer) -> SetTest {
    SetTest {
        set: answer.name.to_string(),
        action: answer.rule.action.into(),
        matches: answer.reasons.into_iter().map(matched).collect(),
        hits: HitCounts {
            last_minute: answer.hits.last_minute,
            last_hour: answer.hits.last_hour,
            error: answer.hits.error_max,
        },
    }
}

fn matched(reason: TestReason) -> Match {
    let millis = |left: Duration| u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
    Match {
        entry: reason.entry.to_string(),
        from: reason.origin.name().to_owned(),
        file_part: reason.part == PartHeld::File,
        place: match reason.place {
            Place::Single(_) => None,
            place => Some(place.to_string()),
        },
        comment: reason.comment,
        since: reason.since.map(seconds),
        left_ms: reason.time_left.map(millis),
    }
}

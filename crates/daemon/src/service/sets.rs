//! The sets of the control socket: the keeper's, in the words of the protocol.

use std::io::{self, BufRead, Read};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::Observer;
use frame::PortId;
use plane::{Headers, SetRule, Side, Sides};

use crate::config::Config;
use crate::rpc::answers::{
    self, ActionFacts, ActionParams, AddParams, DeleteParams, FlushParams, LoadParams,
    RefreshParams, Refreshed, SetList,
};
use crate::rpc::{self, ErrorKind, Pending, RpcError, SetLines};
use crate::sets::{At, Handle, NewEntry, Origin, Refusal, Reply, Request, SetFacts, SetName};

use crate::sources::{Asking, SourceState};

use super::fixed::Fixed;
use super::hand::HandLists;
use super::inner::Inner;
use super::{exempted, facts, reading, tested};

/// Who keeps the sets now: another after a reload that adds or takes away sets.
pub(crate) type Keeping = Arc<RwLock<Handle>>;

/// The keeper's sets, as the control socket tells of them.
pub(super) struct KeptSets {
    pub(super) keeping: Keeping,
    pub(super) asking: Asking,
    pub(super) lists: HandLists,
    pub(super) fixed: Fixed,
    /// Once there are workers.
    observer: Arc<OnceLock<Observer>>,
}

impl KeptSets {
    pub(super) fn new(inner: &Inner, config: &Config) -> Self {
        Self {
            keeping: Arc::clone(&inner.keeping),
            asking: inner.asking.clone(),
            lists: HandLists::of(config),
            fixed: Fixed::of(config),
            observer: Arc::clone(&inner.observer),
        }
    }

    /// What hit a set.
    fn hits(&self, set: &str) -> Option<answers::SetHits> {
        let counts = self.observer.get()?.status().sets;
        let counts = counts.iter().find(|counts| counts.rule.name == set);
        counts.map(facts::set)
    }

    pub(super) fn handle(&self) -> Handle {
        handle(&self.keeping)
    }

    pub(super) fn ask(&self, request: Request) -> Result<Reply, RpcError> {
        self.handle()
            .ask(request)
            .map_err(|refusal| refused(&refusal))
    }

    fn facts(&self, facts: SetFacts, sources: &[SourceState]) -> answers::SetFacts {
        let loaded = facts.loaded.as_ref();
        let name = facts.name.as_str();
        answers::SetFacts {
            set: facts.name.to_string(),
            action: facts.rule.action.into(),
            configured: facts.configured.map(Into::into),
            actions: self.actions(&facts.rule),
            headers: Some(facts.rule.headers)
                .filter(|&headers| headers != Headers::BOTH)
                .map(|headers| headers.name().to_owned()),
            entries: facts.counts.entries as u64,
            dynamic: facts.counts.dynamic as u64,
            timed: facts.counts.timed as u64,
            source: loaded.map(|list| list.from.name.clone()),
            origin: loaded.map(|list| list.origin.name().to_owned()),
            loaded_at: loaded.map(|list| seconds(list.since)),
            changed_at: facts.changed.map(seconds),
            refusals: facts.refused,
            sources: reading::of_set(sources, name, loaded.is_some()),
            refused: facts.refusal,
            hits: None,
            frames: None,
        }
    }

    /// Where an action is to be changed; none for everywhere.
    fn at(&self, params: &ActionParams) -> Result<Option<At>, RpcError> {
        if params.side.is_none() && params.port.is_none() {
            return Ok(None);
        }
        let sides = match params.side {
            Some(answers::Side::Source) => Sides::SRC,
            Some(answers::Side::Destination) => Sides::DST,
            None => Sides::BOTH,
        };
        let port = params.port.as_deref().map(|name| self.port(name));
        let port = port.transpose()?;
        Ok(Some(At { sides, port }))
    }

    fn port(&self, name: &str) -> Result<(PortId, Box<str>), RpcError> {
        let ports = &self.fixed.ports;
        let place = ports.iter().position(|port| port == name);
        let number = place.and_then(|place| u8::try_from(place).ok());
        let unknown = || {
            let ports = ports.join(", ");
            RpcError::params(format!("there is no port '{name}'; there are {ports}"))
        };
        Ok((PortId(number.ok_or_else(unknown)?), name.into()))
    }

    /// By port and side, where the action is not the same everywhere.
    fn actions(&self, rule: &SetRule) -> Vec<ActionFacts> {
        let mut actions = Vec::new();
        for (number, name) in (0..).zip(&self.fixed.ports) {
            for side in Side::EVERY {
                actions.push(ActionFacts {
                    port: name.clone(),
                    side: side.into(),
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

pub(super) fn named(set: &str) -> Result<SetName, RpcError> {
    SetName::new(set).map_err(|error| RpcError::new(ErrorKind::NoSuchSet, error))
}

/// An answer of a kind that the question does not have.
pub(super) fn mismatched() -> RpcError {
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
        let sources = self.asking.states();
        let sets = sets.into_iter().map(|facts| self.facts(facts, &sources));
        Ok(SetList {
            sets: sets.collect(),
        })
    }

    fn show(&self, set: &str) -> Result<answers::SetFacts, RpcError> {
        match self.ask(Request::Show { set: named(set)? })? {
            Reply::Set(facts) => Ok(answers::SetFacts {
                hits: self.hits(set),
                frames: self.observer.get().map(|observer| observer.snapshot().rx),
                ..self.facts(*facts, &self.asking.states())
            }),
            _ => Err(mismatched()),
        }
    }

    fn test(&self, address: IpAddr) -> Result<answers::TestAnswer, RpcError> {
        // As entries are read: a mapped address is IPv4.
        let address = address.to_canonical();
        // What other answers have shown by now is in this one.
        if let Some(observer) = self.observer.get() {
            observer.refresh_hits();
        }
        let Reply::Test(sets) = self.ask(Request::Test { address })? else {
            return Err(mismatched());
        };
        tested::answer(address, sets, &self.fixed)
    }

    fn add(&self, params: AddParams) -> Pending<answers::Added> {
        let set = match named(&params.set) {
            Ok(set) => set,
            Err(error) => return known(Err(error)),
        };
        let guarded = self.fixed.guard(&params.set, params.force);
        if let Err(error) = guarded.and_then(|()| plain(params.comment.as_deref())) {
            return known(Err(error));
        }
        let entry = |entry| NewEntry {
            entry,
            timeout: params.timeout_ms.map(Duration::from_millis),
            comment: params.comment.as_deref().map(Into::into),
        };
        let given = params.entries.0;
        let entries = given.iter().copied().map(entry);
        let handle = self.handle();
        let waiting = handle.send(Request::Add {
            set,
            entries: entries.collect(),
            origin: Origin::Hand,
        });
        Box::new(move || match waiting.and_then(|waiting| waiting.wait()) {
            Ok(Reply::Added(added)) => Ok(answers::Added {
                added: added.added,
                already: added.already_there,
                made_permanent: added.made_permanent,
                made_timed: added.made_timed,
                exempt: exempted::exempt(&handle, &params.set, &given),
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
        if let Err(error) = self.fixed.guard(&params.set, params.force) {
            return known(Err(error));
        }
        let given = params.entries.0;
        let handle = self.handle();
        let waiting = handle.send(Request::Delete {
            set,
            entries: given.clone(),
            origin: Origin::Hand,
        });
        Box::new(move || match waiting.and_then(|waiting| waiting.wait()) {
            Ok(Reply::Deleted(deleted)) => Ok(answers::Deleted {
                deleted: deleted.deleted,
                absent: deleted.was_not_there,
                covered: exempted::covered(&handle, &params.set, &given),
            }),
            Ok(_) => Err(mismatched()),
            Err(refusal) => Err(refused(&refusal)),
        })
    }

    fn flush(&self, params: &FlushParams) -> Result<answers::Flushed, RpcError> {
        let set = named(&params.set)?;
        self.fixed.guard(&params.set, params.force)?;
        match self.ask(Request::Flush { set })? {
            Reply::Flushed(flushed) => Ok(answers::Flushed {
                deleted: flushed.entries,
            }),
            _ => Err(mismatched()),
        }
    }

    fn load(&self, params: &LoadParams, input: &mut dyn Read) -> Result<answers::Loaded, RpcError> {
        self.load_list(params, input)
    }

    fn refresh(&self, params: &RefreshParams) -> Result<Refreshed, RpcError> {
        // A set that is not there is no set without a source.
        rpc::Sets::show(self, &params.set)?;
        let sources = reading::refresh(&self.asking, params)?;
        let facts = rpc::Sets::show(self, &params.set)?;
        Ok(Refreshed {
            sources,
            entries: facts.entries,
            seconds: 0.0,
        })
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
        self.fixed.guard(&params.set, params.force)?;
        let at = self.at(params)?;
        let action = params.action.into();
        let changed = self.ask(Request::SetAction { set, action, at })?;
        if !matches!(changed, Reply::ActionSet { .. }) {
            return Err(mismatched());
        }
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

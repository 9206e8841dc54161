//! What the keeper is asked: each message with the way back for its own kind of answer.

use super::claims::{self, Giver};
use super::config::NewSettings;
use super::guard::Guards;
use super::name::SetName;
use super::past::Past;
use super::refusal::Refusal;
use super::reply::{Load, Reply, SetFacts, TestAnswer};
use super::request::{Amendment, At, LoadedFrom, Origin};
use super::restore::Keeping;
use super::save::Saved;
use super::state::{Edit, Tally};
use crate::journal::Compacted;
use engine::OwnAddress;
use plane::RuleTable;
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use table::live::{self, Difference, Entry, Loaded, Rebuild, Replaced, Sorted};

/// Where the answer to one message goes. Dropped without one, it says that the keeper has ended.
#[derive(Debug)]
pub(super) struct Answer<T>(SyncSender<Result<T, Refusal>>);

/// An answer that is to come.
#[derive(Debug)]
pub(super) struct Answered<T>(Receiver<Result<T, Refusal>>);

impl<T> Answer<T> {
    /// The two ends of one answer.
    pub(super) fn channel() -> (Self, Answered<T>) {
        let (answer, answered) = mpsc::sync_channel(1);
        (Self(answer), Answered(answered))
    }

    /// Answers; whoever asked may be gone.
    pub(super) fn send(self, told: Result<T, Refusal>) {
        let _ = self.0.send(told);
    }
}

impl<T> Answered<T> {
    /// Waits for it.
    pub(super) fn wait(self) -> Result<T, Refusal> {
        self.0.recv().map_err(|_| Refusal::Stopped)?
    }
}

/// What goes to the keeper.
#[derive(Debug)]
pub(super) enum Message {
    /// Facts of all sets.
    List(Answer<Vec<SetFacts>>),
    /// Facts of one.
    Show(SetName, Answer<SetFacts>),
    /// What each set has of an address, without lines of files.
    Test(IpAddr, Answer<Vec<TestAnswer>>),
    /// Entries in or out.
    Edit(Box<SetEdit>, Answer<Tally>),
    /// A file part to be changed in place; the answer is false where a whole load is needed.
    Amend(Box<Amending>, Answer<bool>),
    /// What a hit does, from now on; the answer is what it did before.
    SetAction(Box<NewAction>, Answer<plane::Action>),
    /// The settings of all sets; the answer names those that are other ones now.
    Reload(NewSettings, Answer<Vec<SetName>>),
    /// Other rules of packets.
    SetRules(Option<Arc<RuleTable>>, Answer<()>),
    /// To begin a load.
    Begin(SetName, Answer<Begun>),
    /// A load whose turn to compile has come; the answer knows what is new.
    Refresh(Box<Sorted>, Answer<Box<Sorted>>),
    /// A load that is compiled.
    Finish(Box<Finishing>, Answer<Finished>),
    /// A load was refused, and why.
    Refused(SetName, String, Answer<()>),
    /// A set as it is.
    Listing(SetName, Answer<Listed>),
    /// What is known of sets beside their entries.
    Past(Answer<Vec<Past>>),
    /// To give a set the past that it had with another keeper.
    Resume(Box<Past>, Answer<()>),
    /// What a snapshot of the journal would hold.
    Keeping(Answer<Keeping>),
    /// A snapshot of the journal was written, or not.
    Compacted(Option<Compacted>, Answer<()>),
    /// To end when all that came before is done.
    Stop(Answer<()>),
}

/// Entries going in or out of a set, as asked for.
#[derive(Debug)]
pub(super) struct SetEdit {
    pub(super) set: SetName,
    pub(super) edit: Edit,
    pub(super) origin: Origin,
}

/// A file part that its source changes in place.
#[derive(Debug)]
pub(super) struct Amending {
    pub(super) set: SetName,
    pub(super) amendment: Amendment,
    pub(super) origin: Origin,
    /// Addresses that no list should newly have.
    pub(super) own: Vec<OwnAddress>,
}

/// What a hit is to do.
#[derive(Debug)]
pub(super) struct NewAction {
    pub(super) set: SetName,
    pub(super) action: plane::Action,
    pub(super) at: Option<At>,
}

/// A load that was begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) set: usize,
    pub(super) load: live::Load,
    pub(super) guards: Guards,
}

/// A load that is compiled, with what the keeper notes of it.
#[derive(Debug)]
pub(super) struct Finishing {
    /// None for tables that are only built anew.
    pub(super) summary: Option<Summary>,
    pub(super) loaded: Loaded,
}

/// What became of a load that was compiled.
#[derive(Debug)]
pub(super) enum Finished {
    /// Changes came meanwhile: it is to be compiled once more.
    Again(Box<Again>),
    /// It is in force; what it replaced is dropped by whoever asked.
    Done(Option<Reply>, Option<Box<Replaced>>),
}

/// What is to be compiled once more.
#[derive(Debug)]
pub(super) struct Again {
    pub(super) summary: Option<Summary>,
    pub(super) rebuild: Rebuild,
}

/// What the keeper notes of a load.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    pub(super) set: usize,
    pub(super) from: LoadedFrom,
    pub(super) origin: Origin,
    pub(super) difference: Difference,
    /// What the list is known by, where a guard would have refused it.
    pub(super) forced: Option<u64>,
    /// What a guard would have refused if the set did more than count.
    pub(super) counted: Option<Box<str>>,
    /// The dynamic part is to go, too.
    pub(super) flush: bool,
}

impl Summary {
    pub(super) fn reply(&self, superseded: bool) -> Reply {
        let Difference {
            after,
            added,
            removed,
            ..
        } = self.difference;
        Reply::Loaded(Load {
            entries: after.entries,
            added: added.entries,
            removed: removed.entries,
            forced: self.forced.is_some(),
            superseded,
        })
    }
}

/// A set as it is.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) saved: Saved,
    /// Entries that each giver gave, where two did.
    pub(super) shared: HashSet<Entry>,
}

impl Listed {
    /// Entries that `giver` gave.
    pub(super) fn given_by(&self, giver: Giver) -> impl Iterator<Item = Entry> {
        let is_his = move |entry: &Entry, note: &live::Note| {
            claims::giver_of(note) == Some(giver) || self.shared.contains(entry)
        };
        let dynamic = self.saved.listing.dynamic();
        dynamic
            .filter(move |(entry, note)| is_his(entry, note))
            .map(|(entry, _)| entry)
    }
}

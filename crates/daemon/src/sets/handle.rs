//! The asking side: sends requests to the keeper and does what takes long itself.

mod pending;

use super::claims::{self, Giver};
use super::config::KeeperConfig;
use super::fault::Force;
use super::guard::Guards;
use super::lines;
use super::name::SetName;
use super::past::Past;
use super::refusal::Refusal;
use super::reply::{Added, Flushed, Load, Reply, TestAnswer};
use super::request::{LoadedFrom, NewEntry, Origin, Request};
use super::restore::Keeping;
use super::save::Saved;
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use table::Entries;
use table::live::{self, Difference, Entry, Loaded, Rebuild, Replaced, Sorted};

pub use pending::PendingLoad;

use pending::Guarding;

/// What the keeper is asked, with the way back.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) ask: Ask,
    pub(super) answer: Answer,
}

/// Where the answer to one message goes. Dropped without one, it says that the keeper has ended.
pub(super) type Answer = SyncSender<Result<Told, Refusal>>;

/// What goes to the keeper.
#[derive(Debug)]
pub(super) enum Ask {
    /// As whoever asks has it; what takes long is not among these.
    Request(Box<Request>),
    /// To begin a load.
    Begin(SetName),
    /// A load whose turn to compile has come.
    Refresh(Box<Sorted>),
    /// A load that is compiled.
    Finish(Box<Finishing>),
    /// A load was refused.
    Refused(SetName, String),
    /// All entries of a set.
    Listing(SetName),
    /// What is known of sets beside their entries.
    Past,
    /// To give a set the past that it had with another keeper.
    Resume(Box<Past>),
    /// What a snapshot of the journal would hold.
    Keeping,
    /// A snapshot of the journal was written, or not.
    Compacted(Option<crate::journal::Compacted>),
    /// To end when all that came before is done.
    Stop,
}

/// A load that is compiled, with what the keeper notes of it.
#[derive(Debug)]
pub(super) struct Finishing {
    /// None for tables that are only built anew.
    pub(super) summary: Option<Summary>,
    pub(super) loaded: Loaded,
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

/// What comes back.
#[derive(Debug)]
pub(super) enum Told {
    /// For whoever asks.
    Reply(Reply),
    /// A load was begun.
    Begun(Box<Begun>),
    /// A load that knows what is new.
    Refreshed(Box<Sorted>),
    /// To be compiled once more.
    Again(Box<Again>),
    /// A load is in force; what it replaced is dropped by whoever asked.
    Finished(Reply, Option<Box<Replaced>>),
    /// A set as it is.
    Listing(Box<Listed>),
    /// What is known of sets beside their entries.
    Past(Vec<Past>),
    /// What a snapshot of the journal would hold.
    Keeping(Box<Keeping>),
    /// It was noted.
    Noted,
}

/// A load that was begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) set: usize,
    pub(super) load: live::Load,
    pub(super) guards: Guards,
}

/// What is to be compiled once more.
#[derive(Debug)]
pub(super) struct Again {
    pub(super) summary: Option<Summary>,
    pub(super) rebuild: Rebuild,
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
    fn given_by(&self, giver: Giver) -> impl Iterator<Item = Entry> {
        let is_his = move |entry: &Entry, note: &live::Note| {
            claims::giver_of(note) == Some(giver) || self.shared.contains(entry)
        };
        let dynamic = self.saved.listing.dynamic();
        dynamic
            .filter(move |(entry, note)| is_his(entry, note))
            .map(|(entry, _)| entry)
    }
}

/// Asks the keeper. Clones ask the same one, from any thread; each waits for its own answer.
#[derive(Clone, Debug)]
pub struct Handle {
    to_keeper: SyncSender<Message>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: KeeperConfig,
    /// Held by whoever compiles: two at once would need twice the memory.
    compiling: Mutex<()>,
    /// Nobody can force a list yet.
    starting: AtomicBool,
}

impl Handle {
    /// A handle, and where its messages arrive.
    pub(super) fn new(config: KeeperConfig) -> (Self, Receiver<Message>) {
        let (to_keeper, messages) = mpsc::sync_channel(config.queue_max);
        let shared = Shared {
            config,
            compiling: Mutex::new(()),
            starting: AtomicBool::new(false),
        };
        let shared = Arc::new(shared);
        (Self { to_keeper, shared }, messages)
    }

    /// Asks and waits for the answer: until the change is on every worker and in the journal.
    ///
    /// # Errors
    /// [`Refusal`], which says what has changed where that is not nothing.
    pub fn ask(&self, request: Request) -> Result<Reply, Refusal> {
        match request {
            Request::Load {
                set,
                entries,
                source,
                origin,
                force,
            } => self
                .begin_load(&set)?
                .finish(entries, source, origin, force),
            Request::Flush { set } => self.flush(&set),
            Request::Save { set } => {
                let listed = self.listed(&set)?;
                Ok(Reply::Saved(Box::new(listed.saved)))
            }
            Request::Replace {
                set,
                entries,
                origin,
            } => self.replace(set, entries, origin),
            Request::Test { address } => {
                let mut reply = self.reply(Request::Test { address })?;
                if let Reply::Test(answers) = &mut reply {
                    lines::find(answers, address);
                    let hits = &self.shared.config.recent_hits;
                    for (set, answer) in answers.iter_mut().enumerate() {
                        answer.hits = hits.recently_hit(set, address);
                    }
                }
                Ok(reply)
            }
            request => self.reply(request),
        }
    }

    /// Asks for single entries to be added or deleted, and leaves waiting for later: requests that
    /// are sent before the first is waited for are answered by one version of the tables.
    ///
    /// # Errors
    /// [`Refusal::Stopped`].
    pub fn send(&self, request: Request) -> Result<Waiting, Refusal> {
        if !matches!(request, Request::Add { .. } | Request::Delete { .. }) {
            return Ok(Waiting(Err(self.ask(request))));
        }
        self.deliver(Ask::Request(Box::new(request)))
            .map(|answered| Waiting(Ok(answered)))
    }

    /// Begins to replace the file part of a set: to be called before its source is opened.
    ///
    /// # Errors
    /// [`Refusal::NoSuchSet`], [`Refusal::Stopped`].
    pub fn begin_load(&self, set: &SetName) -> Result<PendingLoad, Refusal> {
        match self.tell(Ask::Begin(set.clone()))? {
            Told::Begun(begun) => Ok(PendingLoad {
                handle: self.clone(),
                name: set.clone(),
                begun,
            }),
            _ => Err(Refusal::Stopped),
        }
    }

    /// True when there is a set of this name.
    #[must_use]
    pub fn has(&self, set: &SetName) -> bool {
        self.ask(Request::Show { set: set.clone() }).is_ok()
    }

    /// The sets that have an address, and nothing more of it: no file is read.
    ///
    /// # Errors
    /// [`Refusal::Stopped`].
    pub fn sets_of(&self, address: IpAddr) -> Result<Vec<SetName>, Refusal> {
        let answers = self.look_up(address)?.into_iter();
        let holding = answers.filter(|set| !set.reasons.is_empty());
        Ok(holding.map(|set| set.name).collect())
    }

    /// What each set has of an address, without lines of files.
    ///
    /// # Errors
    /// [`Refusal::Stopped`].
    pub fn look_up(&self, address: IpAddr) -> Result<Vec<TestAnswer>, Refusal> {
        match self.reply(Request::Test { address })? {
            Reply::Test(answers) => Ok(answers),
            _ => Err(Refusal::Stopped),
        }
    }

    /// Says whether the daemon is starting: refusals then name no command, which nobody could give.
    pub fn set_starting(&self, starting: bool) {
        self.shared.starting.store(starting, Ordering::Relaxed);
    }

    fn force(&self, origin: Origin) -> Force {
        match origin {
            _ if self.shared.starting.load(Ordering::Relaxed) => Force::Never,
            Origin::Hand => Force::Again,
            _ => Force::Source,
        }
    }

    /// Takes the file part out by a load of nothing, and the dynamic part with it.
    fn flush(&self, set: &SetName) -> Result<Reply, Refusal> {
        let pending = self.begin_load(set)?;
        let listed = self.listed(set)?;
        let entries = listed.saved.counts().entries as u64;
        let from = LoadedFrom::named("flush");
        pending.compile(Entries::default(), from, Origin::Hand, Guarding::Flush)?;
        Ok(Reply::Flushed(Flushed { entries }))
    }

    fn replace(
        &self,
        set: SetName,
        entries: Vec<NewEntry>,
        origin: Origin,
    ) -> Result<Reply, Refusal> {
        let giver = Giver::of(origin).ok_or(Refusal::NotSingle { origin })?;
        let listed = self.listed(&set)?;
        let known: HashSet<Entry> = entries.iter().map(|new| new.entry).collect();
        let gone = listed
            .given_by(giver)
            .filter(|entry| !known.contains(entry));
        let gone: Vec<Entry> = gone.collect();
        drop(listed);
        let mut sum = Added::default();
        if !gone.is_empty() {
            let delete = Request::Delete {
                set: set.clone(),
                entries: gone,
                origin,
            };
            if let Reply::Deleted(deleted) = self.reply(delete)? {
                sum.deleted = deleted.deleted + deleted.still_there;
            }
        }
        let add = Request::Add {
            set,
            entries,
            origin,
        };
        if let Reply::Added(added) = self.reply(add)? {
            sum.added = added.added;
            sum.already_there = added.already_there;
            sum.made_permanent = added.made_permanent;
            sum.made_timed = added.made_timed;
        }
        Ok(Reply::Added(sum))
    }

    fn listed(&self, set: &SetName) -> Result<Box<Listed>, Refusal> {
        match self.tell(Ask::Listing(set.clone()))? {
            Told::Listing(listed) => Ok(listed),
            _ => Err(Refusal::Stopped),
        }
    }

    fn reply(&self, request: Request) -> Result<Reply, Refusal> {
        match self.tell(Ask::Request(Box::new(request)))? {
            Told::Reply(reply) => Ok(reply),
            _ => Err(Refusal::Stopped),
        }
    }

    /// Compiles until the keeper takes what was compiled.
    fn finish(&self, mut finishing: Finishing) -> Result<Reply, Refusal> {
        loop {
            match self.tell(Ask::Finish(Box::new(finishing)))? {
                Told::Again(again) => {
                    let Again { summary, rebuild } = *again;
                    let loaded = rebuild.compile().map_err(|error| Refusal::Table {
                        reason: error.to_string(),
                    })?;
                    finishing = Finishing { summary, loaded };
                }
                Told::Finished(reply, replaced) => {
                    // Takes time, which is ours.
                    drop(replaced);
                    return Ok(reply);
                }
                _ => return Err(Refusal::Stopped),
            }
        }
    }

    /// Builds all tables anew, which [`live::LiveLists::is_crowded`] asked for.
    pub(super) fn rebuild(&self, rebuild: Rebuild) -> Result<(), Refusal> {
        let compiling = self.shared.compiling.lock();
        let _compiling = compiling.unwrap_or_else(PoisonError::into_inner);
        let loaded = rebuild.compile().map_err(|error| Refusal::Table {
            reason: error.to_string(),
        })?;
        let finishing = Finishing {
            summary: None,
            loaded,
        };
        self.finish(finishing).map(|_| ())
    }

    pub(super) fn tell(&self, ask: Ask) -> Result<Told, Refusal> {
        let answered = self.deliver(ask)?;
        answered.recv().map_err(|_| Refusal::Stopped)?
    }

    fn deliver(&self, ask: Ask) -> Result<Answered, Refusal> {
        let (answer, answered) = mpsc::sync_channel(1);
        let message = Message { ask, answer };
        self.to_keeper.send(message).map_err(|_| Refusal::Stopped)?;
        Ok(answered)
    }
}

type Answered = Receiver<Result<Told, Refusal>>;

/// An answer that is to come.
#[derive(Debug)]
#[must_use = "the answer says whether it was done"]
pub struct Waiting(Result<Answered, Result<Reply, Refusal>>);

impl Waiting {
    /// Waits for it.
    ///
    /// # Errors
    /// As of [`Handle::ask`].
    pub fn wait(self) -> Result<Reply, Refusal> {
        match self.0 {
            Err(known) => known,
            Ok(answered) => match answered.recv().map_err(|_| Refusal::Stopped)?? {
                Told::Reply(reply) => Ok(reply),
                _ => Err(Refusal::Stopped),
            },
        }
    }
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

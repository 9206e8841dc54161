//! The asking side: sends requests to the keeper and does what takes long itself.

mod pending;

use super::claims::Giver;
use super::config::{KeeperConfig, NewSettings};
use super::fault::Force;
use super::lines;
use super::message::{
    Again, Amending, Answer, Answered, Finished, Finishing, Listed, Message, NewAction, SetEdit,
};
use super::name::SetName;
use super::refusal::Refusal;
use super::reply::{Added, Deleted, Flushed, Reply, TestAnswer};
use super::request::{LoadedFrom, NewEntry, Origin, Request};
use super::state::{Edit, Tally};
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use table::Entries;
use table::live::{Entry, Rebuild};

pub use pending::PendingLoad;

use pending::Guarding;

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
            Request::Test { address } => self.test(address).map(Reply::Test),
            Request::List => self.tell(Message::List).map(Reply::Sets),
            Request::Show { set } => {
                let facts = self.tell(|answer| Message::Show(set, answer))?;
                Ok(Reply::Set(Box::new(facts)))
            }
            Request::Add { .. } | Request::Delete { .. } => self.send(request)?.wait(),
            Request::Amend {
                set,
                amendment,
                origin,
            } => {
                let amending = Box::new(Amending {
                    set,
                    amendment,
                    origin,
                    own: (self.shared.config.own_addresses)(),
                });
                self.tell(|answer| Message::Amend(amending, answer))
                    .map(Reply::Amended)
            }
            Request::SetAction { set, action, at } => {
                let new = Box::new(NewAction { set, action, at });
                let before = self.tell(|answer| Message::SetAction(new, answer))?;
                Ok(Reply::ActionSet { before })
            }
            Request::Reload { sets, packet_rules } => {
                let new = NewSettings { sets, packet_rules };
                let changed = self.tell(|answer| Message::Reload(new, answer))?;
                Ok(Reply::Reloaded(changed))
            }
            Request::SetRules { packet_rules } => {
                self.tell(|answer| Message::SetRules(packet_rules, answer))?;
                Ok(Reply::RulesSet)
            }
        }
    }

    /// Asks for single entries to be added or deleted, and leaves waiting for later: requests that
    /// are sent before the first is waited for are answered by one version of the tables.
    ///
    /// # Errors
    /// [`Refusal::Stopped`].
    pub fn send(&self, request: Request) -> Result<Waiting, Refusal> {
        let (set, edit, origin, reply): (_, _, _, fn(Tally) -> Reply) = match request {
            Request::Add {
                set,
                entries,
                origin,
            } => (set, Edit::Add(entries), origin, added),
            Request::Delete {
                set,
                entries,
                origin,
            } => (set, Edit::Delete(entries), origin, deleted),
            request => return Ok(Waiting(Pending::Known(self.ask(request)))),
        };
        let edit = Box::new(SetEdit { set, edit, origin });
        let answered = self.deliver(|answer| Message::Edit(edit, answer))?;
        Ok(Waiting(Pending::Edit(answered, reply)))
    }

    /// Begins to replace the file part of a set: to be called before its source is opened.
    ///
    /// # Errors
    /// [`Refusal::NoSuchSet`], [`Refusal::Stopped`].
    pub fn begin_load(&self, set: &SetName) -> Result<PendingLoad, Refusal> {
        let begun = self.tell(|answer| Message::Begin(set.clone(), answer))?;
        Ok(PendingLoad {
            handle: self.clone(),
            name: set.clone(),
            begun: Box::new(begun),
        })
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
        self.tell(|answer| Message::Test(address, answer))
    }

    /// The same with lines of files, and with what was hit of late.
    fn test(&self, address: IpAddr) -> Result<Vec<TestAnswer>, Refusal> {
        let mut answers = self.look_up(address)?;
        lines::find(&mut answers, address);
        let hits = &self.shared.config.recent_hits;
        for (set, answer) in answers.iter_mut().enumerate() {
            answer.hits = hits.recently_hit(set, address);
        }
        Ok(answers)
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
            let edit = Edit::Delete(gone);
            let gone = self.edit(set.clone(), edit, origin)?;
            sum.deleted = gone.removed + gone.still_there;
        }
        let new = self.edit(set, Edit::Add(entries), origin)?;
        sum.added = new.added;
        sum.already_there = new.already_there;
        sum.made_permanent = new.made_permanent;
        sum.made_timed = new.made_timed;
        Ok(Reply::Added(sum))
    }

    fn edit(&self, set: SetName, edit: Edit, origin: Origin) -> Result<Tally, Refusal> {
        let edit = Box::new(SetEdit { set, edit, origin });
        self.tell(|answer| Message::Edit(edit, answer))
    }

    fn listed(&self, set: &SetName) -> Result<Listed, Refusal> {
        self.tell(|answer| Message::Listing(set.clone(), answer))
    }

    /// Compiles until the keeper takes what was compiled. No reply is to tables that were only
    /// built anew.
    fn finish(&self, mut finishing: Finishing) -> Result<Option<Reply>, Refusal> {
        loop {
            let boxed = Box::new(finishing);
            match self.tell(|answer| Message::Finish(boxed, answer))? {
                Finished::Again(again) => {
                    let Again { summary, rebuild } = *again;
                    let loaded = rebuild.compile().map_err(|error| Refusal::Table {
                        reason: error.to_string(),
                    })?;
                    finishing = Finishing { summary, loaded };
                }
                Finished::Done(reply, replaced) => {
                    // Takes time, which is ours.
                    drop(replaced);
                    return Ok(reply);
                }
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

    /// Sends a message and waits for its answer.
    pub(super) fn tell<T>(&self, message: impl FnOnce(Answer<T>) -> Message) -> Result<T, Refusal> {
        self.deliver(message)?.wait()
    }

    fn deliver<T>(
        &self,
        message: impl FnOnce(Answer<T>) -> Message,
    ) -> Result<Answered<T>, Refusal> {
        let (answer, answered) = Answer::channel();
        let sent = self.to_keeper.send(message(answer));
        sent.map_err(|_| Refusal::Stopped)?;
        Ok(answered)
    }
}

fn added(tally: Tally) -> Reply {
    Reply::Added(Added {
        added: tally.added,
        already_there: tally.already_there,
        made_permanent: tally.made_permanent,
        made_timed: tally.made_timed,
        deleted: 0,
    })
}

fn deleted(tally: Tally) -> Reply {
    Reply::Deleted(Deleted {
        deleted: tally.removed,
        was_not_there: tally.was_not_there,
        still_there: tally.still_there,
    })
}

/// An answer that is to come.
#[derive(Debug)]
#[must_use = "the answer says whether it was done"]
pub struct Waiting(Pending);

#[derive(Debug)]
enum Pending {
    Known(Result<Reply, Refusal>),
    Edit(Answered<Tally>, fn(Tally) -> Reply),
}

impl Waiting {
    /// Waits for it.
    ///
    /// # Errors
    /// As of [`Handle::ask`].
    pub fn wait(self) -> Result<Reply, Refusal> {
        match self.0 {
            Pending::Known(known) => known,
            Pending::Edit(answered, reply) => answered.wait().map(reply),
        }
    }
}

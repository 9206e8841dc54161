//! The asking side: sends requests to the keeper and does what takes long itself.

use super::name::SetName;
use super::refusal::Refusal;
use super::reply::Reply;
use super::request::Request;
use std::sync::mpsc::{self, Receiver, SyncSender};

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
    /// As whoever asks has it.
    Request(Box<Request>),
}

/// What comes back.
#[derive(Debug)]
pub(super) enum Told {
    /// For whoever asks.
    Reply(Reply),
}

/// Asks the keeper. Clones ask the same one, from any thread; each waits for its own answer.
#[derive(Clone, Debug)]
pub struct Handle {
    to_keeper: SyncSender<Message>,
}

impl Handle {
    /// A handle, and where its messages arrive.
    pub(super) fn new(queue_max: usize) -> (Self, Receiver<Message>) {
        let (to_keeper, messages) = mpsc::sync_channel(queue_max);
        (Self { to_keeper }, messages)
    }

    /// Asks and waits for the answer: until the change is on every worker and in the journal.
    ///
    /// # Errors
    /// [`Refusal`], which says what has changed where that is not nothing.
    pub fn ask(&self, request: Request) -> Result<Reply, Refusal> {
        let Told::Reply(reply) = self.tell(Ask::Request(Box::new(request)))?;
        Ok(reply)
    }

    /// True when there is a set of this name.
    #[must_use]
    pub fn has(&self, set: &SetName) -> bool {
        self.ask(Request::Show { set: set.clone() }).is_ok()
    }

    fn tell(&self, ask: Ask) -> Result<Told, Refusal> {
        let (answer, answered) = mpsc::sync_channel(1);
        let message = Message { ask, answer };
        self.to_keeper.send(message).map_err(|_| Refusal::Stopped)?;
        answered.recv().map_err(|_| Refusal::Stopped)?
    }
}

//! The control side of a port: finds a peer, agrees with it, and begins anew when it goes.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::listener::{Arrival, Listener, refuse};
use super::message::Message;
use super::shared::Shared;
use super::talk::{FollowerTalk, LeaderTalk, Step, check_init};
use super::{MemifRole, MemifSpec};
use crate::sys::memif_socket::{Received, Socket};

/// Messages taken in one go: an agreement over some queues has a dozen.
const MESSAGES_MAX: u32 = 1 << 10;
/// While a peer is agreed with, its next message is waited for so often, a millisecond each; a
/// slow one is heard the next time.
const WAITS_MAX: u32 = 10;

#[derive(Debug)]
pub(super) struct Control {
    spec: MemifSpec,
    queues: u16,
    listener: Option<Arc<Listener>>,
    stage: Stage,
    shared: Arc<Shared>,
    /// Why the last peer went, or did not become one.
    parted: Option<String>,
}

#[derive(Debug)]
enum Stage {
    Alone,
    Leading(Socket, LeaderTalk),
    Following(Socket, FollowerTalk),
    Connected(Socket),
}

/// What a look at the channel brought.
enum Heard {
    Message(Message, Option<OwnedFd>),
    Nothing,
    End(String),
}

impl Control {
    pub(super) fn new(
        spec: MemifSpec,
        listener: Option<Arc<Listener>>,
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            spec,
            queues: 0,
            listener,
            stage: Stage::Alone,
            shared,
            parted: None,
        }
    }

    pub(super) fn has_queues(&mut self, queues: u16) {
        self.queues = queues;
    }

    /// Goes on as far as it can without waiting for long.
    pub(super) fn attend(&mut self) {
        if self.queues == 0 {
            return;
        }
        if let Some(fault) = self.shared.accused() {
            self.part(Some(fault.reason()), fault.reason().to_owned());
        }
        let mut waits = 0;
        for _ in 0..MESSAGES_MAX {
            self.find_peer();
            match self.hear() {
                Heard::Message(message, file) => self.take(message, file),
                Heard::End(why) => {
                    self.part(None, why);
                    return;
                }
                Heard::Nothing if waits < WAITS_MAX && self.waits() => waits += 1,
                Heard::Nothing => return,
            }
        }
    }

    /// Whether the peer owes an answer, which is waited for, but not for long.
    fn waits(&self) -> bool {
        match &self.stage {
            Stage::Leading(socket, _) | Stage::Following(socket, _) => {
                socket.wait(1);
                true
            }
            Stage::Alone | Stage::Connected(_) => false,
        }
    }

    fn find_peer(&mut self) {
        let alone = matches!(self.stage, Stage::Alone);
        if let Some(listener) = &self.listener {
            let (id, entries) = (self.spec.id, self.spec.ring.ilog2() as u8);
            if let Some(arrival) = listener.attend(id, self.queues, entries, !alone) {
                self.admit(arrival, entries);
            }
        } else if alone && let Ok(socket) = Socket::connect(&self.spec.address()) {
            let talk = FollowerTalk::new(&self.spec, self.queues);
            self.stage = Stage::Following(socket, talk);
        }
    }

    fn admit(&mut self, arrival: Arrival, log2_entries_max: u8) {
        let Arrival { socket, init } = arrival;
        match check_init(&init, &self.spec) {
            Ok(()) => {
                if socket.send(&Message::Ack.emit(), None).is_ok() {
                    let talk = LeaderTalk::new(self.queues, log2_entries_max);
                    self.stage = Stage::Leading(socket, talk);
                }
            }
            Err(why) => {
                refuse(&socket, &why);
                self.parted = Some(why);
            }
        }
    }

    fn hear(&self) -> Heard {
        let socket = match &self.stage {
            Stage::Alone => return Heard::Nothing,
            Stage::Leading(socket, _) | Stage::Following(socket, _) | Stage::Connected(socket) => {
                socket
            }
        };
        match socket.receive() {
            Ok(Received::Nothing) => Heard::Nothing,
            Ok(Received::End) => Heard::End("the peer closed the connection".to_owned()),
            Ok(Received::Misshapen(bytes)) => {
                refuse(socket, "invalid message size");
                Heard::End(format!("a message of {bytes} bytes came"))
            }
            Ok(Received::Message(bytes, file)) => match Message::parse(&bytes) {
                Some(Message::Disconnect { reason, .. }) => {
                    Heard::End(format!("the peer says: {reason}"))
                }
                Some(message) => Heard::Message(message, file),
                None => {
                    refuse(socket, "unknown message type");
                    Heard::End("a message of an unknown type came".to_owned())
                }
            },
            Err(error) => Heard::End(error.to_string()),
        }
    }

    fn take(&mut self, message: Message, file: Option<OwnedFd>) {
        let step = match &mut self.stage {
            Stage::Leading(_, talk) => talk.take(message, file),
            Stage::Following(_, talk) => talk.take(message),
            Stage::Alone | Stage::Connected(_) => Err("unexpected message".to_owned()),
        };
        match step {
            Ok(Step::Say(message, file)) => self.say(&message, file.as_ref()),
            Ok(Step::Up(message, links)) => {
                if let Some(message) = message {
                    self.say(&message, None);
                }
                let stage = std::mem::replace(&mut self.stage, Stage::Alone);
                if let Stage::Leading(socket, _) | Stage::Following(socket, _) = stage {
                    self.stage = Stage::Connected(socket);
                    self.parted = None;
                    self.shared.offer(links.into_iter().map(Some).collect());
                }
            }
            Err(why) => self.part(Some(&why), why.clone()),
        }
    }

    fn say(&mut self, message: &Message, file: Option<&OwnedFd>) {
        let (Stage::Leading(socket, _) | Stage::Following(socket, _)) = &self.stage else {
            return;
        };
        if let Err(error) = socket.send(&message.emit(), file.map(AsFd::as_fd)) {
            self.part(None, error.to_string());
        }
    }

    /// Lets the peer go, with a reason where it is ours.
    fn part(&mut self, reason: Option<&str>, why: String) {
        let stage = std::mem::replace(&mut self.stage, Stage::Alone);
        let socket = match stage {
            Stage::Alone => return,
            Stage::Leading(socket, _) | Stage::Following(socket, _) => socket,
            Stage::Connected(socket) => {
                self.shared.offer(Vec::new());
                socket
            }
        };
        if let Some(reason) = reason {
            refuse(&socket, reason);
        }
        self.parted = Some(why);
    }

    /// Why there is no peer, as far as that is known.
    pub(super) fn parted(&self) -> Option<&str> {
        self.parted.as_deref()
    }

    pub(super) fn role(&self) -> MemifRole {
        self.spec.role
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.part(Some("port closed"), String::new());
        if let Some(listener) = &self.listener {
            listener.release(self.spec.id);
        }
    }
}

//! A peer made by hand, which says what a test wants it to say.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::ends::End;
use crate::Port;
use crate::memif::message::{AddRing, Init, MODE_ETHERNET, Message, Text, VERSION};
use crate::sys::memif_memory::SharedMemory;
use crate::sys::memif_socket::{Address, Interrupt, Received, Socket};

/// Entries of its rings, log2, and where they lie: frames to the leader first.
pub(super) const LOG2: u8 = 5;
pub(super) const RINGS: [u32; 2] = [0, 1024];
pub(super) const REGION_BYTES: usize = 1 << 16;
/// Looks that an end may take to answer: each waits for some milliseconds.
const LOOKS: u32 = 2000;

pub(super) struct Peer(pub(super) Socket);

pub(super) fn init() -> Init {
    Init {
        version: VERSION,
        id: 0,
        mode: MODE_ETHERNET,
        secret: Text::new(b""),
        name: Text::new(b"by hand"),
    }
}

pub(super) fn ring(to_leader: bool) -> Message {
    Message::AddRing(AddRing {
        to_leader,
        index: 0,
        region: 0,
        offset: RINGS[usize::from(!to_leader)],
        log2_entries: LOG2,
        private_bytes: 0,
    })
}

pub(super) fn region(bytes: usize) -> (Message, (Arc<SharedMemory>, OwnedFd)) {
    let (memory, file) = SharedMemory::create(bytes).unwrap();
    let memory = Arc::new(memory);
    for offset in RINGS {
        if let Some(ring) = memory.ring(offset, LOG2) {
            ring.initialise();
        }
    }
    let bytes = bytes as u64;
    (Message::AddRegion { index: 0, bytes }, (memory, file))
}

pub(super) fn interrupt() -> OwnedFd {
    Interrupt::new()
        .unwrap()
        .as_fd()
        .try_clone_to_owned()
        .unwrap()
}

impl Peer {
    pub(super) fn connect(path: &std::path::Path) -> Self {
        use std::os::unix::ffi::OsStrExt;
        let address = Address::File(path.as_os_str().as_bytes().to_vec());
        Self(Socket::connect(&address).unwrap())
    }

    pub(super) fn say(&self, message: &Message, file: Option<&OwnedFd>) {
        // The other side may have closed already.
        let _closed = self.0.send(&message.emit(), file.map(AsFd::as_fd));
    }

    /// What the end says next; `None` where it closed.
    #[track_caller]
    pub(super) fn hear(&self, end: &mut End) -> Option<(Message, Option<OwnedFd>)> {
        for _ in 0..LOOKS {
            match self.0.receive() {
                Ok(Received::Message(bytes, file)) => {
                    return Some((Message::parse(&bytes).unwrap(), file));
                }
                Ok(Received::Nothing) => {
                    end.port.attend();
                    self.0.wait(1);
                }
                _ => return None,
            }
        }
        panic!("no answer")
    }

    /// Says something and expects an acknowledgement.
    #[track_caller]
    pub(super) fn agreed(&self, end: &mut End, message: &Message, file: Option<&OwnedFd>) {
        self.say(message, file);
        assert_eq!(self.hear(end).unwrap().0, Message::Ack, "{message:?}");
    }

    /// Says something and expects to be sent away; why.
    #[track_caller]
    pub(super) fn refused(
        &self,
        end: &mut End,
        message: &Message,
        file: Option<&OwnedFd>,
    ) -> String {
        self.say(message, file);
        match self.hear(end) {
            Some((Message::Disconnect { reason, .. }, _)) => reason.to_string(),
            other => panic!("{message:?} is answered {other:?}"),
        }
    }
}

/// A follower by hand at the socket of `leader`, as far as INIT is agreed.
#[track_caller]
pub(super) fn begun(leader: &mut End, path: &std::path::Path) -> Peer {
    let peer = Peer::connect(path);
    assert!(matches!(peer.hear(leader).unwrap().0, Message::Hello(_)));
    peer.agreed(leader, &Message::Init(init()), None);
    peer
}

/// The same, connected; with its memory.
#[track_caller]
pub(super) fn connected(leader: &mut End, path: &std::path::Path) -> (Peer, Arc<SharedMemory>) {
    let peer = begun(leader, path);
    let (add, (memory, file)) = region(REGION_BYTES);
    peer.agreed(leader, &add, Some(&file));
    for to_leader in [true, false] {
        peer.agreed(leader, &ring(to_leader), Some(&interrupt()));
    }
    let name = Text::new(b"");
    peer.say(&Message::Connect { name }, None);
    let answer = peer.hear(leader).unwrap().0;
    assert!(matches!(answer, Message::Connected { .. }), "{answer:?}");
    (peer, memory)
}

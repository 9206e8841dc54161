//! A worker's queue of a port: one socket for each queue of the interface that is its share.

mod redirected;
mod warnings;

use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd};
use std::slice;
use std::thread::sleep;
use std::time::Duration;

use frame::{Burst, Frame, FramePool, Nanos};

use super::bypass::Standby;
use super::maps::Counted;
use super::member::Member;
use super::origin::Origin;
use super::sender::Sender;
use super::socket::Bound;
use super::{HEADER_BYTES, spread, told};
use crate::interface::{Finisher, Watch};
use crate::nic_clock::ClockReader;
use crate::sys::xdp_socket::Wake;
use crate::{Loss, PortError, PortQueue, PortStatistics, QueueLoss, RxState};

/// An Ethernet header: the kernel's paths take nothing shorter.
const FRAME_BYTES_MIN: usize = 14;

/// How often a bypass is told that the worker is there, nanoseconds: a system call a queue. The
/// program gives it twenty times as long.
const BEAT_EVERY: u64 = 50_000_000;

/// At the end: how often what still waits in TX is kicked, and for how long in between.
const FINISH_TRIES: u32 = 50;
const FINISH_NAP: Duration = Duration::from_millis(1);

/// The longest frame of an interface, bytes.
fn frame_bytes_max(mtu: u32) -> usize {
    mtu.saturating_add(HEADER_BYTES) as usize
}

pub(super) struct XdpQueue {
    origin: Origin,
    /// None while the interface is gone.
    members: Vec<Member>,
    /// Where there are several.
    wake: Option<Wake>,
    /// The member that is received from first.
    turn: usize,
    /// Whether this queue tells of what concerns the whole port.
    speaks: bool,
    busy_poll: bool,
    /// Whether the interface is asked about frames.
    asks: bool,
    /// By which times of the NIC are read.
    clock: Option<ClockReader>,
    /// As granted at the start.
    zero_copy: bool,
    /// Whether the interface is up and has somebody at its other end. Without, the kernel would
    /// keep frames in the ring and send them when the link is back, whatever has changed since, or
    /// drop them and call them sent.
    has_link: bool,
    /// Lengths of frames that the interface carries, bytes.
    carries: RangeInclusive<usize>,
    /// Frames on their way between a pool and a ring; empty between calls.
    spare: Burst,
    statistics: PortStatistics,
    /// Bytes of the longest frame that was received.
    longest: usize,
    /// Frames that the interface cannot carry, and how many of them the worker knows of.
    refused: u64,
    refused_told: u64,
    /// Frames that were given up, since there was no interface any more: to redirect them to, or to
    /// send what waited in the rings.
    stranded: u64,
    /// Frames that were redirected to it and that it did not take.
    lost: u64,
    /// Entries of the rings that one side did not understand.
    misunderstood: u64,
    /// Received frames that fitted no chunk, at sockets that are gone.
    too_long: u64,
    watch: Watch,
    /// Changes that the control side told of and that were looked at.
    changes: u32,
    /// Whether queues may have come that are not taken up yet.
    may_grow: bool,
    finisher: Finisher,
    /// When the program was last told that this worker is there.
    beaten: Nanos,
    /// How often the interface went away and came back.
    losses: u64,
    returns: u64,
    /// Why the last attempt to come back failed.
    failure: Option<PortError>,
    /// What sends without socket buffers.
    sender: Option<Sender>,
    /// Whether frames leave by it now.
    redirects: bool,
}

impl XdpQueue {
    pub(super) fn new(origin: Origin, sockets: Vec<Bound>, speaks: bool, mtu: u32) -> Self {
        let mut queue = Self {
            busy_poll: origin.spec.busy_poll_micros != 0,
            asks: origin.steering.asked().any(),
            clock: None,
            changes: origin.signal.changes(),
            may_grow: false,
            finisher: Finisher::new(origin.ready.may_leave_checksums()),
            zero_copy: sockets.iter().any(|bound| bound.granted.zero_copy),
            origin,
            members: Vec::new(),
            longest: 0,
            wake: None,
            turn: 0,
            speaks,
            has_link: true,
            carries: FRAME_BYTES_MIN..=frame_bytes_max(mtu),
            spare: Burst::new(),
            statistics: PortStatistics::default(),
            refused: 0,
            refused_told: 0,
            stranded: 0,
            lost: 0,
            misunderstood: 0,
            too_long: 0,
            watch: Watch::default(),
            beaten: Nanos(0),
            losses: 0,
            returns: 0,
            failure: None,
            sender: None,
            redirects: false,
        };
        queue.has_link = queue.origin.ready.has_link();
        queue.take_up(sockets);
        queue
    }

    /// With what sends without socket buffers.
    pub(super) fn with_sender(self, sender: Option<Sender>) -> Self {
        Self { sender, ..self }
    }

    fn take_up(&mut self, sockets: Vec<Bound>) {
        self.members.extend(sockets.into_iter().map(Member::new));
        self.clock = self.origin.ready.clock();
        // Without it the worker sleeps for a while instead of until a frame comes.
        self.wake = match &self.members[..] {
            [] | [_] => None,
            several => Wake::of(several.iter().map(Member::wake)).ok(),
        };
    }

    /// Frames as long as the interface sends them now may leave.
    fn follow_mtu(&mut self) {
        if let Ok(mtu) = self.origin.ready.mtu() {
            self.origin.signal.saw_mtu(mtu);
            self.carries = FRAME_BYTES_MIN..=frame_bytes_max(mtu);
        }
    }

    /// Looks after the interface where the control side saw a change.
    #[inline]
    fn heed(&mut self, pool: &mut FramePool) {
        let changes = self.origin.signal.changes();
        if self.changes != changes {
            self.changes = changes;
            self.may_grow = true;
            self.look(pool);
        }
    }

    /// Looks whether nothing comes because the interface is gone, and whether it is back.
    #[cold]
    fn look(&mut self, pool: &mut FramePool) {
        self.follow_mtu();
        self.has_link = self.origin.ready.has_link();
        if self.members.iter().any(Member::is_unbound) {
            self.losses += 1;
            self.turn = 0;
            self.wake = None;
            for mut member in self.members.drain(..) {
                member.complete(pool, &mut self.spare);
                // No socket is left to send these, nor an interface.
                let lost = u64::from(member.under_way());
                self.stranded += self.statistics.take_back(lost);
                self.misunderstood += member.misunderstood();
                member.free_all(pool);
                self.too_long += member.too_long();
                self.statistics.missed += member.missed();
            }
        }
        if !self.members.is_empty() {
            if self.may_grow {
                self.grow();
            }
            return;
        }
        match self.origin.come_back() {
            Ok(sockets) => {
                self.take_up(sockets);
                self.returns += 1;
                self.failure = None;
                self.watch.succeeded();
            }
            Err(error) => {
                self.failure = Some(error);
                self.watch.failed();
            }
        }
    }

    /// Takes up queues that the interface did not have before.
    fn grow(&mut self) {
        match self.origin.grow() {
            Ok(sockets) => {
                self.may_grow = false;
                if !sockets.is_empty() {
                    self.take_up(sockets);
                    self.failure = None;
                }
            }
            Err(error) => self.failure = Some(error),
        }
    }

    /// Tells the bypass of each queue of the share when its worker was last at work.
    fn tell(&self, now: Nanos) {
        for &number in &self.origin.numbers {
            // A worker that cannot tell is one that hangs, to the program.
            let _unheard = self.origin.steering.maps().beat(number, now.0);
        }
    }

    /// Takes a frame to be sent by a member that has room.
    #[inline]
    fn send(&mut self, place: usize, frame: Frame, pool: &mut FramePool) {
        let bytes = frame.len();
        let sent = if self.carries.contains(&bytes) {
            self.members[place].send(frame)
        } else {
            Err(frame)
        };
        match sent {
            Ok(()) => {
                self.statistics.tx_frames += 1;
                self.statistics.tx_bytes += bytes as u64;
            }
            Err(frame) => {
                self.refused += 1;
                pool.free(frame);
            }
        }
    }

    /// Sends by several members, each flow by one of them, until the next frame's has no room.
    fn send_spread(&mut self, several: usize, burst: &mut Burst, pool: &mut FramePool) {
        let mut frames = burst.drain();
        while let Some(frame) = frames.peek() {
            let place = spread::place(frame.bytes(), several);
            let frame = slice::from_ref(frame);
            if self.members[place].make_room(frame, pool, &mut self.spare) == 0 {
                break;
            }
            if let Some(frame) = frames.next() {
                self.send(place, frame, pool);
            }
        }
    }

    /// Tells the control side of a frame that is longer than all before.
    #[inline]
    fn note_longest(&mut self, frames: &[Frame]) {
        let longest = frames.iter().map(Frame::len).max().unwrap_or(0);
        if longest > self.longest {
            self.longest = longest;
            self.origin.signal.received(longest);
        }
    }

    /// Writes down what the interface told of frames that came on the queue whose turn it is.
    fn note_told(&mut self, burst: &mut Burst, first: usize) {
        let queue = self.origin.numbers.get(self.turn).copied().unwrap_or(0);
        let frames = burst.frames_mut().get_mut(first..).unwrap_or_default();
        if let Some(clock) = &mut self.clock {
            clock.follow();
        }
        let clock = self.clock.as_ref();
        told::note(frames, (self.origin.port, queue), |stamp| {
            clock.and_then(|clock| clock.kernel_time(stamp))
        });
    }
}

impl PortQueue for XdpQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        self.heed(pool);
        if let Some(sent) = self.sender.as_mut().and_then(Sender::turn) {
            self.note(sent);
        }
        let before = burst.len();
        let end = before + max.min(burst.room());
        let members = self.members.len();
        for _ in 0..members {
            let member = &mut self.members[self.turn];
            member.refill(pool, &mut self.spare);
            if self.busy_poll {
                member.poll();
            }
            let first = burst.len();
            member.receive(burst, end, pool, &mut self.statistics);
            if self.asks && burst.len() != first {
                self.note_told(burst, first);
            }
            self.turn = (self.turn + 1) % members;
            if burst.len() == end {
                break;
            }
        }
        if burst.len() == before {
            if self.watch.in_vain() {
                self.look(pool);
            }
        } else {
            self.note_longest(&burst.frames()[before..]);
            if self.finisher.finish(&mut burst.frames_mut()[before..]) {
                self.origin.signal.checksums_left();
            }
        }
        RxState::Open
    }

    fn begin(&mut self, pool: &mut FramePool) -> Result<(), PortError> {
        for member in &mut self.members {
            member.refill(pool, &mut self.spare);
        }
        self.origin.steer(self.members.iter().map(Member::wake))?;
        self.origin.begun(self.zero_copy)?;
        if let Some(sender) = &self.sender {
            sender.look();
        }
        Ok(())
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        match self.members.len() {
            0 => return,
            _ if self.redirects() => return self.send_redirected(burst, pool),
            _ if !self.has_link => return,
            1 => {
                let room = self.members[0].make_room(burst.frames(), pool, &mut self.spare);
                for frame in burst.drain_front(room) {
                    self.send(0, frame, pool);
                }
            }
            several => self.send_spread(several, burst, pool),
        }
        self.members.iter_mut().for_each(Member::publish);
    }

    fn take_refused(&mut self) -> u64 {
        let given_up = self.refused + self.stranded + self.lost;
        let refused = given_up - self.refused_told;
        self.refused_told = given_up;
        refused
    }

    fn reclaim(&mut self, pool: &mut FramePool) {
        self.heed(pool);
        for member in &mut self.members {
            member.complete(pool, &mut self.spare);
            member.kick();
        }
        if let Some(sent) = self.sender.as_mut().and_then(Sender::flush) {
            self.note(sent);
        }
    }

    fn beat(&mut self, now: Nanos) {
        let bypass = self.origin.steering.standby().is_some();
        // While the interface is away nobody receives.
        if bypass && !self.members.is_empty() && now.since(self.beaten) >= BEAT_EVERY {
            self.beaten = now;
            self.tell(now);
        }
    }

    fn leave(&mut self) -> bool {
        let bypass = self.origin.steering.standby().is_some();
        if bypass {
            self.beaten = Nanos(u64::MAX);
            self.tell(Nanos(0));
        }
        bypass
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        match &self.members[..] {
            [member] => Some(member.wake()),
            _ => self.wake.as_ref().map(Wake::as_fd),
        }
    }

    fn statistics(&self) -> PortStatistics {
        let missed: u64 = self.members.iter().map(Member::missed).sum();
        let too_long: u64 = self.members.iter().map(Member::too_long).sum();
        let mut statistics = PortStatistics {
            missed: self.statistics.missed + missed,
            missed_too_long: self.too_long + too_long,
            ..self.statistics
        };
        if self.speaks {
            let steering = &self.origin.steering;
            statistics.to_host = steering.counted(Counted::Kept);
            statistics.unfiltered = steering.counted(Counted::Bypassed);
            statistics.shortcut = steering.counted(Counted::Shortcut);
            let standby = steering.standby();
            statistics.unfiltered_before = standby.map_or(0, Standby::passed_before);
        }
        statistics
    }

    fn losses(&mut self) -> Vec<QueueLoss> {
        let mut losses = Vec::new();
        for (&number, member) in self.origin.numbers.iter().zip(&mut self.members) {
            losses.extend(QueueLoss::some(Some(number), member.losses()));
        }
        if self.speaks {
            let counted = [
                (Loss::NoSocket, Counted::Unclaimed),
                (Loss::TagLost, Counted::TagLost),
                (Loss::KeptLocal, Counted::Kept),
                (Loss::Bypassed, Counted::Bypassed),
                (Loss::Stranded, Counted::Stranded),
                (Loss::Shortcut, Counted::Shortcut),
            ];
            let counted = counted.map(|(loss, what)| (loss, self.origin.steering.counted(what)));
            losses.extend(QueueLoss::some(None, counted));
        }
        losses
    }

    fn in_flight(&self) -> u32 {
        let gathered = self.sender.as_ref().map_or(0, Sender::held);
        gathered + self.members.iter().map(Member::held).sum::<u32>()
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        self.follow_mtu();
        self.send_gathered();
        for _ in 0..FINISH_TRIES {
            let waits = |member: &mut Member| {
                member.kick();
                member.waiting() != 0
            };
            // Not `any`, which would leave those behind the first alone.
            if self
                .members
                .iter_mut()
                .map(waits)
                .filter(|&waits| waits)
                .count()
                == 0
            {
                break;
            }
            sleep(FINISH_NAP);
        }
        Ok(self.warnings())
    }
}

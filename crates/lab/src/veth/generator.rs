//! The sender: an XDP program that the kernel runs over frames of its own, on a CPU of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};

use engine::pin_to;
use frame::CpuId;
use port::{PortError, XdpMap, XdpMapKind, XdpProgram};

use crate::contest::refused;
use crate::experiment::LabError;
use crate::shuffle::Seeded;

const OBJECT: &[u8] = include_bytes!("../../../../bpf/generate.bpf.o");

/// Lanes at most.
const LANES: u32 = 64;

/// `struct state` of the program: its bytes, and where the count of frames is.
const STATE_BYTES: usize = 40;
const SENT_AT: usize = 8;

/// Ethernet, IPv4, UDP, and what fills a frame of 64 bytes with FCS. Nobody has its hardware
/// address. Addresses and the IPv4 checksum are the program's; a UDP checksum of 0 is none.
const FRAME: [u8; 60] = {
    let mut frame = [0; 60];
    let headers: [u8; 42] = [
        0x02, 0, 0, 0, 0, 0x09, 0x02, 0, 0, 0, 0, 0x08, 0x08, 0x00, // Ethernet
        0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // IPv4
        0x30, 0x39, 0, 9, 0, 26, 0, 0, // UDP
    ];
    let mut place = 0;
    while place < headers.len() {
        frame[place] = headers[place];
        place += 1;
    }
    frame
};

/// A thread that sends when it is told to.
pub(super) struct Generator {
    program: Arc<XdpProgram>,
    /// First and number of the addresses of each traffic, and a state of its own.
    traffics: Vec<(u32, u32)>,
    random: Seeded,
    /// How many frames to ask the kernel for; closed when the thread shall end.
    orders: Option<mpsc::Sender<u32>>,
    sending: Arc<AtomicBool>,
    rested: mpsc::Receiver<Result<(), PortError>>,
    thread: Option<JoinHandle<()>>,
}

impl Generator {
    /// One that sends from `cpu`. `samples` are addresses to draw hits from, a traffic each;
    /// traffic 0 is of random addresses alone.
    pub(super) fn start(cpu: CpuId, samples: &[Arc<[u32]>], seed: u64) -> Result<Self, LabError> {
        let (traffics, addresses) = laid_out(samples, seed);
        let map = |name, kind, entries| XdpMap {
            name,
            kind,
            entries,
        };
        let maps = [
            map("interfaces", XdpMapKind::Interfaces, LANES),
            map("state", XdpMapKind::Variable(STATE_BYTES), 1),
            map("samples", XdpMapKind::Array, addresses.len() as u32),
        ];
        let program = XdpProgram::load("generate", OBJECT, &maps).map_err(refused)?;
        let places: Vec<u32> = (0..addresses.len() as u32).collect();
        program
            .put("samples", &places, &addresses)
            .map_err(refused)?;
        // Nothing is sent yet: an old kernel says so here.
        program.run(&FRAME, 1).map_err(refused)?;
        let program = Arc::new(program);
        let sending = Arc::new(AtomicBool::new(false));
        let (orders, received) = mpsc::channel();
        let (done, rested) = mpsc::channel();
        let (kept, run) = (Arc::clone(&program), Arc::clone(&sending));
        let body = move || {
            // Begun or not, the one who waits is told by the end of the channel.
            if pin_to(cpu).is_ok() {
                obey(&kept, &run, &received, &done);
            }
        };
        let thread = Builder::new().name("sender".to_owned()).spawn(body);
        Ok(Self {
            program,
            traffics,
            random: Seeded::new(seed),
            orders: Some(orders),
            sending,
            rested,
            thread: Some(thread.map_err(refused)?),
        })
    }

    /// Makes an interface the entrance of a lane.
    pub(super) fn enter(&self, lane: u32, interface: &str) -> Result<(), String> {
        let entered = self.program.set_interface("interfaces", lane, interface);
        entered.map_err(|error| error.to_string())
    }

    /// Begins to send. The kernel is asked for this many frames at a time: between two times it
    /// pauses for some 20 ms, so they should last for a trial.
    pub(super) fn begin(&mut self, lane: u32, traffic: usize, frames: u32) -> Result<(), LabError> {
        let state = self.state(lane, traffic, true);
        let set = self.program.set_variable("state", &state);
        set.map_err(refused)?;
        self.sending.store(true, Ordering::Relaxed);
        let orders = self.orders.as_ref();
        let told = orders.is_some_and(|orders| orders.send(frames).is_ok());
        told.then_some(()).ok_or_else(lost)
    }

    /// Frames sent since [`Generator::begin`].
    pub(super) fn sent(&self) -> u64 {
        let state = self.program.variable("state").unwrap_or_default();
        let sent = state.get(SENT_AT..SENT_AT + 8);
        let sent = sent.and_then(|bytes| bytes.try_into().ok());
        sent.map_or(0, u64::from_ne_bytes)
    }

    /// Ends what [`Generator::begin`] began and waits until nothing more is sent.
    pub(super) fn end(&mut self) -> Result<(), LabError> {
        self.sending.store(false, Ordering::Relaxed);
        let state = self.state(0, 0, false);
        let set = self.program.set_variable("state", &state);
        set.map_err(refused)?;
        let ended = self.rested.recv().map_err(|_| lost())?;
        ended.map_err(refused)
    }

    fn state(&mut self, lane: u32, traffic: usize, running: bool) -> Vec<u8> {
        let (first, count) = self.traffics.get(traffic).copied().unwrap_or_default();
        let start = match count {
            0 => 0,
            _ => (self.random.next() % u64::from(count)) as u32,
        };
        let header = FRAME[14..34].chunks_exact(2);
        let checksum: u32 = header
            .map(|half| u32::from(u16::from_ne_bytes([half[0], half[1]])))
            .sum();
        let mut state = (self.random.next() | 1).to_ne_bytes().to_vec();
        state.extend(0_u64.to_ne_bytes());
        for word in [u32::from(running), lane, first, count, start, checksum] {
            state.extend(word.to_ne_bytes());
        }
        state
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        self.sending.store(false, Ordering::Relaxed);
        self.orders = None;
        let state = self.state(0, 0, false);
        let _ended_already = self.program.set_variable("state", &state);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

/// All addresses in one list, each traffic's in random order, so that they are read in order and
/// looked up without; and where each traffic's are.
fn laid_out(samples: &[Arc<[u32]>], seed: u64) -> (Vec<(u32, u32)>, Vec<u32>) {
    let mut seeded = Seeded::new(seed);
    let mut traffics = vec![(0, 0)];
    let mut addresses = Vec::new();
    for samples in samples {
        let first = addresses.len();
        addresses.extend(samples.iter().map(|address| address.to_be()));
        seeded.shuffle(&mut addresses[first..]);
        traffics.push((first as u32, samples.len() as u32));
    }
    (traffics, addresses)
}

fn obey(
    program: &XdpProgram,
    sending: &AtomicBool,
    orders: &mpsc::Receiver<u32>,
    done: &mpsc::Sender<Result<(), PortError>>,
) {
    for frames in orders {
        let mut outcome = Ok(());
        while outcome.is_ok() && sending.load(Ordering::Relaxed) {
            outcome = program.run(&FRAME, frames);
        }
        if done.send(outcome).is_err() {
            break;
        }
    }
}

fn lost() -> LabError {
    LabError("the sender is lost: its thread has ended or may not run on its CPU".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_each_traffic_are_together() {
        let samples: [Arc<[u32]>; 2] = [(1..=5).collect(), (10..=12).collect()];
        let (traffics, addresses) = laid_out(&samples, 7);
        assert_eq!(traffics, [(0, 0), (0, 5), (5, 3)]);
        let sorted = |range: std::ops::Range<usize>| {
            let mut part: Vec<u32> = addresses[range].iter().map(|a| u32::from_be(*a)).collect();
            part.sort_unstable();
            part
        };
        assert_eq!(sorted(0..5), [1, 2, 3, 4, 5]);
        assert_eq!(sorted(5..8), [10, 11, 12]);
    }

    #[test]
    fn the_frame_is_one_of_udp() {
        let parsed = wire::parse(&FRAME, FRAME.len());
        assert_eq!(parsed.fault, None);
    }
}

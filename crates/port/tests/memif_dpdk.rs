//! `memif:` judged by DPDK's driver of the interface, in both roles: testpmd forwards between two
//! ports, and what goes in by one must come out by the other as it was.
//!
//! Needs `dpdk-testpmd` (Debian: `apt-get install dpdk`) and two CPUs; elsewhere it says so.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use frame::{Burst, FramePool, PoolRequest, PortId, QueueId, Region};
use port::{OpenContext, Port, PortQueue, PortSpec, PortStatistics};

const PROGRAM: &str = "dpdk-testpmd";
/// A busy machine is slow to start it.
const PATIENCE: Duration = Duration::from_secs(60);
/// Nothing comes for so long: something is stuck.
const SILENCE: Duration = Duration::from_secs(15);
const STRIDE_BYTES: u32 = 10_240;

/// Tests of this file one after the other: each takes two CPUs.
static ONE: Mutex<()> = Mutex::new(());

/// A testpmd that forwards between two ports; it ends with this value.
struct Testpmd {
    child: Child,
    input: ChildStdin,
    said: Arc<Mutex<String>>,
}

impl Testpmd {
    fn start(folder: &Path, role: &str, options: &str, queues: usize) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["--no-huge", "-m", "400", "--no-pci", "--no-shconf"]);
        command.args(["--no-telemetry", "-l", "0,1"]);
        for (number, name) in ["a", "b"].into_iter().enumerate() {
            let socket = folder.join(name);
            let socket = socket.display();
            command.arg("--vdev");
            command.arg(format!(
                "net_memif{number},role={role},socket={socket},socket-abstract=no{options}"
            ));
        }
        command.args([
            "--",
            "-i",
            "--nb-cores=1",
            "--forward-mode=io",
            "--no-mlockall",
        ]);
        command.args(["--total-num-mbufs=8192", "--no-lsc-interrupt"]);
        // Frames of five of its buffers of 2,048 bytes crash testpmd 22.11 where it sends them.
        command.args(["--mbuf-size=10240", "--no-flush-rx"]);
        command.args([format!("--rxq={queues}"), format!("--txq={queues}")]);
        let pipe = Stdio::piped;
        let mut child = command
            .stdin(pipe())
            .stdout(pipe())
            .stderr(pipe())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let said = Arc::new(Mutex::new(String::new()));
        let outputs: [Box<dyn Read + Send>; 2] = [
            Box::new(child.stdout.take().unwrap()),
            Box::new(child.stderr.take().unwrap()),
        ];
        for mut output in outputs {
            let said = Arc::clone(&said);
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = output.read(&mut bytes) {
                    *said.lock().unwrap() += &String::from_utf8_lossy(&bytes[..count]);
                }
            });
        }
        let mut testpmd = Self { child, input, said };
        testpmd.wait_for("testpmd>");
        testpmd
    }

    fn wait_for(&mut self, wanted: &str) {
        let began = Instant::now();
        while !self.said.lock().unwrap().contains(wanted) {
            let ended = self.child.try_wait().unwrap().is_some();
            let late = began.elapsed() > PATIENCE;
            assert!(!ended && !late, "{PROGRAM}: {}", self.said.lock().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Frames that come before it begins wait in their ring.
    fn forward(&mut self) {
        writeln!(self.input, "start").unwrap();
    }
}

impl Drop for Testpmd {
    fn drop(&mut self) {
        let _asked = writeln!(self.input, "quit");
        let began = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if began.elapsed() > Duration::from_secs(5) {
                let _ended_already = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Our two ports, one at each end of what forwards.
struct Ends {
    ports: Vec<Box<dyn Port>>,
    queues: Vec<Vec<Box<dyn PortQueue>>>,
    pool: FramePool,
    burst: Burst,
    /// Frames under way: few enough that no ring is ever full, since testpmd would drop.
    window: usize,
}

impl Ends {
    fn open(folder: &Path, role: &str, options: &str, of: usize) -> Self {
        let context = OpenContext::default();
        let mut ends = Self {
            ports: Vec::new(),
            queues: Vec::new(),
            pool: pool(),
            burst: Burst::new(),
            window: 8,
        };
        for name in ["a", "b"] {
            let socket = folder.join(name);
            let socket = socket.display();
            let text = format!("memif:{socket},role={role},queues={of}{options}");
            let spec = PortSpec::parse(&text).unwrap();
            let mut port = port::open(&spec, PortId(0), &context).unwrap();
            let queues = (0..of).map(|queue| port.open_queue(QueueId(queue as u16), of).unwrap());
            ends.queues.push(queues.collect());
            ends.ports.push(port);
        }
        ends
    }

    /// Attends until both have a peer, and frames pass.
    fn meet(&mut self) {
        let began = Instant::now();
        let up = |port: &dyn Port| {
            let mut monitor = port.monitor().unwrap();
            monitor.look().link.is_up()
        };
        while !self.ports.iter().all(|port| up(&**port)) {
            assert!(began.elapsed() < PATIENCE, "no peer");
            self.ports.iter_mut().for_each(|port| port.attend());
        }
    }

    fn send(&mut self, end: usize, queue: usize, frames: &[Vec<u8>]) -> usize {
        for bytes in frames {
            let mut frame = self.pool.alloc().unwrap();
            frame.copy_from(bytes).unwrap();
            self.burst.push(frame).unwrap();
        }
        self.queues[end][queue].tx_burst(&mut self.burst, &mut self.pool);
        let left = self.burst.len();
        self.pool.free_burst(&mut self.burst);
        frames.len() - left
    }

    fn receive(&mut self, end: usize, queue: usize) -> Vec<Vec<u8>> {
        self.queues[end][queue].rx_burst(&mut self.pool, &mut self.burst, 64);
        let received = self.burst.frames().iter();
        let received = received.map(|frame| frame.bytes().to_vec()).collect();
        self.pool.free_burst(&mut self.burst);
        received
    }

    /// What goes in by one end comes out by the other.
    fn pass(&mut self, from: usize, queue: usize, frames: &[Vec<u8>]) {
        let (mut sent, mut seen) = (0, 0);
        let mut moved = Instant::now();
        while seen < frames.len() {
            let more = frames.len().min(seen + self.window) - sent;
            sent += self.send(from, queue, &frames[sent..sent + more]);
            for got in self.receive(1 - from, queue) {
                let wanted = &frames[seen];
                let lengths = (got.len(), wanted.len());
                assert!(got == *wanted, "frame {seen}, lengths {lengths:?}");
                seen += 1;
                moved = Instant::now();
            }
            assert!(moved.elapsed() < SILENCE, "{seen} of {sent} came");
        }
    }

    fn statistics(&self) -> PortStatistics {
        let queues = self.queues.iter().flatten();
        queues.map(|queue| queue.statistics()).sum()
    }
}

fn pool() -> FramePool {
    let request = PoolRequest {
        frames: 1024,
        stride_bytes: STRIDE_BYTES,
        headroom_bytes: 128,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request]).unwrap();
    pools.remove(0)
}

/// Whether there is a judge; a sentence where not.
fn judge() -> bool {
    let asked = Command::new(PROGRAM).arg("--version").output().is_ok();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if !asked || cpus < 2 {
        println!("skipped: {PROGRAM} is not installed (apt-get install dpdk), or has no two CPUs");
    }
    asked && cpus >= 2
}

/// Every size up to that of plain Ethernet, some of jumbo frames, short and long ones mixed.
fn frames() -> Vec<Vec<u8>> {
    let sizes = (60..1515).chain((1515..9015).step_by(211)).chain([9014]);
    let sizes = sizes.flat_map(|len| match len % 5 {
        0 => vec![len, 60, 9014 - len % 4000],
        _ => vec![len],
    });
    let frame = |(number, len): (usize, usize)| {
        (0..len)
            .map(|at| (number * 31 + at * 7 + (at >> 8)) as u8)
            .collect()
    };
    sizes.enumerate().map(frame).collect()
}

#[test]
fn we_follow_and_dpdk_leads() {
    let _one = ONE.lock();
    if !judge() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let frames = frames();
    let mut ends = Ends::open(folder.path(), "follower", "", 1);
    for (options, ours) in [("", ""), (",bsize=1024,rsize=6", ",buffer=600,ring=64")] {
        let mut testpmd = Testpmd::start(folder.path(), "server", options, 1);
        if !ours.is_empty() {
            ends = Ends::open(folder.path(), "follower", ours, 1);
            ends.window = 3;
        }
        ends.meet();
        testpmd.forward();
        ends.pass(0, 0, &frames);
        ends.pass(1, 0, &frames);
        assert_eq!(ends.statistics().missed, 0);
        if ours.is_empty() {
            // A leader that is started anew is found again.
            drop(testpmd);
            let mut testpmd = Testpmd::start(folder.path(), "server", options, 1);
            ends.ports.iter_mut().for_each(|port| port.attend());
            ends.meet();
            testpmd.forward();
            ends.pass(0, 0, &frames[..200]);
        }
    }
}

#[test]
fn we_lead_and_dpdk_follows() {
    let _one = ONE.lock();
    if !judge() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let frames = frames();
    let mut ends = Ends::open(folder.path(), "leader", "", 1);
    for options in ["", ",bsize=512,rsize=7", ",bsize=4096,rsize=5"] {
        let folder = folder.path().to_owned();
        let options = options.to_owned();
        ends.window = if options.is_empty() { 8 } else { 5 };
        // It connects as it starts.
        let starting = std::thread::spawn(move || Testpmd::start(&folder, "client", &options, 1));
        ends.meet();
        let mut testpmd = starting.join().unwrap();
        testpmd.forward();
        ends.pass(0, 0, &frames);
        ends.pass(1, 0, &frames);
        drop(testpmd);
        ends.ports.iter_mut().for_each(|port| port.attend());
        // The next follower is taken by the same ports.
    }
    assert_eq!(ends.statistics().missed, 0);
}

#[test]
fn several_queues_each_way() {
    let _one = ONE.lock();
    if !judge() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let frames: Vec<_> = frames().into_iter().step_by(9).collect();
    {
        let mut testpmd = Testpmd::start(folder.path(), "server", "", 3);
        let mut ends = Ends::open(folder.path(), "follower", "", 3);
        ends.meet();
        testpmd.forward();
        (0..3).for_each(|queue| ends.pass(0, queue, &frames));
        (0..3).for_each(|queue| ends.pass(1, queue, &frames));
    }
    let mut ends = Ends::open(folder.path(), "leader", "", 3);
    let place = folder.path().to_owned();
    let starting = std::thread::spawn(move || Testpmd::start(&place, "client", "", 3));
    ends.meet();
    let mut testpmd = starting.join().unwrap();
    testpmd.forward();
    (0..3).for_each(|queue| ends.pass(0, queue, &frames));
    (0..3).for_each(|queue| ends.pass(1, queue, &frames));
}

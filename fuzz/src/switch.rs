//! A switch: settings in words, then frames.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use daemon::switch::{NamedPort, PortNames, SwitchWords};
use frame::{Burst, FramePool, Nanos, PoolRequest, PortId, Region};
use plane::switch::{Switch, SwitchTable, VlanMode};
use plane::{DropReason, Forwarding, Links, Origin, Outbox, Verdict, Verdicts};

/// Few chunks, so that copies run out.
const CHUNKS: u32 = 24;
const BURST: usize = 16;
const FRAME_MAX: usize = 240;
/// Longer settings only take longer.
const TEXT_MAX: usize = 1024;
const PORTS_MAX: usize = 8;
const STATIONS: u32 = 32;

thread_local! {
    /// Frame memory is never unmapped, so all runs share it.
    static POOL: RefCell<FramePool> = RefCell::new(pool());
}

fn pool() -> FramePool {
    let request = PoolRequest {
        frames: CHUNKS,
        stride_bytes: 256,
        headroom_bytes: 8,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request]).expect("some memory");
    pools.remove(0)
}

/// Lines of words, `vlan 10=A,Bt` for instance, an empty line, and frames: whence, how long after
/// the one before, its length, its bytes. Behind a line `then` are words that are added later:
/// the switch goes from the one settings to the other and back.
pub fn switch(bytes: &[u8]) {
    let end = bytes.windows(2).position(|two| two == b"\n\n");
    let Some(end) = end.filter(|&end| end <= TEXT_MAX) else {
        return;
    };
    let (text, frames) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end + 2..]);
    let names = NAMES.map(|name| NamedPort {
        name: Some(name.to_owned()),
        spec: "null:".to_owned(),
    });
    let count = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("ports "));
    let count = count.and_then(|count| count.parse().ok()).unwrap_or(3);
    let names = names[..PORTS_MAX.min(count)].to_vec();
    let names = PortNames::new(names).expect("different names");
    let mut words = SwitchWords::default();
    let tables = text.split("\nthen\n").take(2).map(|text| {
        for (key, value) in text.lines().filter_map(|line| line.split_once(' ')) {
            add(&mut words, key, value);
        }
        let table = words.table(&names).map(Arc::new);
        table.inspect_err(|errors| assert!(errors.iter().all(|error| !error.sentence.is_empty())))
    });
    if let Ok(tables) = tables.collect::<Result<Vec<_>, _>>() {
        POOL.with_borrow_mut(|pool| Bench::new(tables, pool).run(frames));
    }
}

const NAMES: [&str; PORTS_MAX] = ["A", "B", "C", "D", "E", "F", "G", "H"];

fn add(words: &mut SwitchWords, key: &str, value: &str) {
    let list = match key {
        "vlan" => &mut words.vlan,
        "group" => &mut words.group,
        "pvid" => &mut words.pvid,
        "priority" => &mut words.priority,
        "accept" => &mut words.accept,
        "filter" => &mut words.filter,
        "tpid" => &mut words.tpid,
        "tunnel" => &mut words.tunnel,
        "isolated" => &mut words.isolated,
        "hairpin" => &mut words.hairpin,
        "storm" => &mut words.storm,
        "port-stations" => &mut words.port_stations,
        "static" => &mut words.r#static,
        "vlan-mode" => {
            words.vlan_mode = match value {
                "default" => Some(VlanMode::Default),
                "port" => Some(VlanMode::Port),
                _ => Some(VlanMode::Dot1q),
            };
            return;
        }
        "age" => {
            words.age = value.parse().ok().map(Duration::from_secs);
            return;
        }
        _ => {
            words.stations = Some(STATIONS);
            words.forward_reserved = key == "reserved";
            return;
        }
    };
    list.push(value.to_owned());
}

/// One frame of the input.
struct Arrival<'a> {
    port: u8,
    pause: u8,
    bytes: &'a [u8],
}

impl Arrival<'_> {
    /// The policy drops it.
    fn is_blocked(&self) -> bool {
        self.port & 0x40 != 0
    }
}

fn arrivals(mut bytes: &[u8]) -> Vec<Arrival<'_>> {
    let mut all = Vec::new();
    while let Some((&[port, pause, len], rest)) = bytes.split_first_chunk() {
        let (frame, rest) = rest.split_at(usize::from(len).min(rest.len()).min(FRAME_MAX));
        all.push(Arrival {
            port,
            pause,
            bytes: frame,
        });
        bytes = rest;
    }
    all
}

struct Bench<'a> {
    tables: Vec<Arc<SwitchTable>>,
    switch: Switch,
    pool: &'a mut FramePool,
    out: Outbox,
    now: Nanos,
}

impl<'a> Bench<'a> {
    fn new(tables: Vec<Arc<SwitchTable>>, pool: &'a mut FramePool) -> Self {
        let table = Arc::clone(&tables[0]);
        Self {
            switch: Switch::new(table, [1, 2], Links::alone()).expect("some memory"),
            tables,
            pool,
            out: Outbox::with_room(BURST),
            now: Nanos(1),
        }
    }

    /// Frames that follow each other by one port are a burst.
    fn run(&mut self, bytes: &[u8]) {
        let arrivals = arrivals(bytes);
        for same in arrivals.chunk_by(|one, other| one.port & 0xBF == other.port & 0xBF) {
            for burst in same.chunks(BURST) {
                self.burst(burst);
            }
        }
    }

    fn burst(&mut self, arrivals: &[Arrival<'_>]) {
        if arrivals[0].port & 0x80 != 0 {
            self.tables.rotate_left(1);
            self.switch.replace(Arc::clone(&self.tables[0]));
        }
        let ports = self.switch.table().ports().len();
        let from = PortId(arrivals[0].port & 7).0 % ports as u8;
        let from = PortId(from);
        self.now = self.now.after(u64::from(arrivals[0].pause) << 26);
        let (mut burst, mut verdicts) = (Burst::new(), Verdicts::new());
        for arrival in arrivals {
            let mut frame = self
                .pool
                .alloc()
                .expect("more chunks than a burst has frames");
            frame.copy_from(arrival.bytes).expect("it is short");
            burst.push(frame).expect("few frames");
            verdicts.push(match arrival.is_blocked() {
                true => Verdict::Drop(DropReason::BlockedSrc),
                false => Verdict::Forward(PortId(0)),
            });
        }
        let before = self.switch.counts();
        self.switch.poll(self.now);
        let mut cx = Forwarding {
            from,
            now: self.now,
            pool: self.pool,
            out: &mut self.out,
        };
        self.switch.forward(&mut cx, &mut burst, &mut verdicts);
        let counts = self.switch.counts();
        let copies = counts.copies - before.copies;
        assert_eq!(copies, self.out.len() as u64, "a copy that was not counted");
        let wanted = copies + counts.copies_failed - before.copies_failed;
        let flooded = counts.flooded - before.flooded;
        assert!(
            wanted <= flooded * (ports as u64 - 1),
            "copies of what was not flooded"
        );
        self.hold(from, arrivals, &burst, &verdicts);
        self.pool.free_burst(&mut burst);
        assert_eq!(self.pool.free_count(), CHUNKS, "a chunk is lost");
    }

    /// Each frame and each copy leaves by a port that it may leave by, once a port.
    fn hold(&mut self, from: PortId, arrivals: &[Arrival<'_>], burst: &Burst, verdicts: &Verdicts) {
        let judged = verdicts.as_slice();
        assert_eq!(judged.len(), arrivals.len());
        let mut left = Vec::new();
        for (at, (verdict, frame)) in judged.iter().zip(burst.frames()).enumerate() {
            let is_blocked = *verdict == Verdict::Drop(DropReason::BlockedSrc);
            assert_eq!(is_blocked, arrivals[at].is_blocked());
            match *verdict {
                Verdict::Forward(to) => {
                    self.hold_one(from, to, arrivals[at].bytes, frame.bytes());
                    left.push((at, to));
                }
                Verdict::Drop(_) => {}
                Verdict::Consume | Verdict::Hold => panic!("a switch keeps no frame"),
            }
        }
        for copy in std::mem::take(&mut self.out).drain() {
            let Verdict::Forward(to) = copy.verdict else {
                panic!("a copy that leaves by no port");
            };
            assert_eq!((copy.from, copy.origin), (from, Origin::Copy));
            self.hold_one(from, to, arrivals[copy.after].bytes, copy.frame.bytes());
            left.push((copy.after, to));
            self.pool.free(copy.frame);
        }
        self.out = Outbox::with_room(BURST);
        let count = left.len();
        left.sort_unstable();
        left.dedup();
        assert_eq!(left.len(), count, "a frame leaves twice by one port");
        let fdb = self.switch.fdb();
        assert!(fdb.len() <= self.switch.table().config().stations);
    }

    fn hold_one(&self, from: PortId, to: PortId, came: &[u8], left: &[u8]) {
        let config = self.switch.table().config();
        let [one, other] = [from, to].map(|port| &config.ports[port.index()]);
        match from == to {
            true => assert!(one.hairpin, "it leaves by the port that it came by"),
            false => assert!(!(one.isolated && other.isolated), "isolated ports talk"),
        }
        assert_eq!(came[..12], left[..12], "addresses stay");
        match config.mode {
            VlanMode::Dot1q => assert!(came.len().abs_diff(left.len()) <= 4),
            _ => assert_eq!(came, left),
        }
    }
}

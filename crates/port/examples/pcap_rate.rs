//! How long reading and writing captures takes: nanoseconds a frame of 64 bytes (with FCS) from the
//! page cache, and to a device that swallows everything.
//!
//! `cargo run --release -p linerate-port --example pcap_rate`

use std::time::Instant;

use frame::{Burst, PoolRequest, PortId, QueueId, Region};
use port::{OpenContext, PortQueue, PortSpec, RxState};

const FRAMES: u64 = 1 << 19;
const LOOPS: u64 = 8;
const BURST: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if cfg!(debug_assertions) {
        eprintln!("this is a debug build: its figures mean nothing; add --release");
    }
    let folder = std::env::temp_dir();
    let request = PoolRequest {
        frames: 2048,
        stride_bytes: 1920,
        headroom_bytes: 128,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request])?;
    let mut move_all = |from: &str, to: &str| -> Result<f64, Box<dyn std::error::Error>> {
        let (mut from, mut to) = (open(from)?, open(to)?);
        let (pool, mut burst) = (&mut pools[0], Burst::new());
        let start = Instant::now();
        while from.rx_burst(pool, &mut burst, BURST) == RxState::Open || !burst.is_empty() {
            to.tx_burst(&mut burst, pool);
        }
        to.finish()?;
        Ok(start.elapsed().as_nanos() as f64 / from.statistics().rx_frames as f64)
    };
    for ending in ["pcap", "pcapng"] {
        let name = format!("linerate-pcap-rate-{}.{ending}", std::process::id());
        let path = folder.join(name).display().to_string();
        move_all(&format!("gen:frames={FRAMES}"), &format!("pcap:out={path}"))?;
        let reading = move_all(&format!("pcap:in={path},loop={LOOPS}"), "null:")?;
        let generating = move_all(&format!("gen:frames={}", FRAMES * LOOPS), "null:")?;
        let to = format!("pcap:out=/dev/null,format={ending}");
        let writing = move_all(&format!("gen:frames={}", FRAMES * LOOPS), &to)? - generating;
        println!("{ending:<7} reading {reading:>5.1} ns, writing {writing:>5.1} ns a frame");
        std::fs::remove_file(path)?;
    }
    Ok(())
}

fn open(text: &str) -> Result<Box<dyn PortQueue>, Box<dyn std::error::Error>> {
    let spec = PortSpec::parse(text)?;
    let mut port = port::open(&spec, PortId(0), &OpenContext::default())?;
    Ok(port.open_queue(QueueId(0), 1)?)
}

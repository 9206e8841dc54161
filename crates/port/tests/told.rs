//! What a NIC tells of a frame, by way of a program in the driver of veth: the kernel's own hash,
//! which packet sockets tell of the same frames too.

#[path = "support/namespace.rs"]
mod namespace;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use frame::{Burst, FrameMeta, FramePool, PoolRequest, PortId, QueueId, Region};
use port::{OpenContext, PortError, PortQueue, PortSpec};

use namespace::Namespace;

const PATIENCE: Duration = Duration::from_secs(30);
const FLOWS: u16 = 8;

/// A UDP packet from port 1000 and on, with its flow's number in each byte of its payload.
fn packet(flow: u16) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];
    bytes.extend([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0]);
    bytes.extend([45, 83, 2, 1, 45, 83, 2, 2]);
    bytes.extend((1000 + flow).to_be_bytes());
    bytes.extend([0, 53, 0, 26, 0, 0]);
    bytes.resize(60, flow as u8);
    bytes
}

fn pools() -> (&'static Region, Vec<FramePool>) {
    let request = PoolRequest {
        frames: 8192,
        stride_bytes: 2112,
        headroom_bytes: 128,
        node: None,
    };
    Region::with_pools(&[request, request]).unwrap()
}

fn open(
    text: &str,
    id: u8,
    region: &'static Region,
    pool: &mut FramePool,
) -> Result<Box<dyn PortQueue>, PortError> {
    let spec = PortSpec::parse(text).unwrap();
    let mut port = port::open(&spec, PortId(id), &OpenContext::default())?;
    port.prepare(region)?;
    let mut queue = port.open_queue(QueueId(0), 1)?;
    queue.begin(pool)?;
    Ok(queue)
}

/// The records of one frame of each flow, received by `spec` while `packet:b` sends.
fn records(spec: &str) -> Result<BTreeMap<u16, FrameMeta>, PortError> {
    let (region, mut pools) = pools();
    let mut to = pools.remove(1);
    let mut from = pools.remove(0);
    let mut receiver = open(spec, 0, region, &mut from)?;
    let mut sender = open("packet:b", 1, region, &mut to)?;
    let mut records = BTreeMap::new();
    let mut burst = Burst::new();
    let began = Instant::now();
    while records.len() < usize::from(FLOWS) {
        assert!(began.elapsed() < PATIENCE, "{spec}: {records:?}");
        for flow in 0..FLOWS {
            let mut frame = to.alloc().unwrap();
            frame.copy_from(&packet(flow)).unwrap();
            burst.push(frame).unwrap();
        }
        sender.tx_burst(&mut burst, &mut to);
        to.free_burst(&mut burst);
        receiver.rx_burst(&mut from, &mut burst, 64);
        for frame in burst.frames() {
            let flow = u16::from(frame.bytes()[59]);
            if frame.bytes() == packet(flow) {
                records.insert(flow, *frame.meta().unwrap());
            }
        }
        from.free_burst(&mut burst);
    }
    receiver.finish()?;
    Ok(records)
}

/// Not every kernel has the function; that it is missing is said.
fn is_missing(error: &PortError) -> bool {
    let said = error.to_string();
    assert!(said.contains("leave out rx-hash"), "{said}");
    println!("skipped: {said}");
    true
}

#[test]
fn the_hash_of_a_frame_comes_with_it_and_is_that_of_packet_sockets() {
    let Some(_namespace) = Namespace::with_pair() else {
        return;
    };
    let told = match records("xdp:a,rx-hash") {
        Err(error) if is_missing(&error) => return,
        told => told.unwrap(),
    };
    let expect = records("packet:a,fanout=queue").unwrap();
    for (flow, record) in &told {
        assert_eq!(record.rss_hash, expect[flow].rss_hash, "flow {flow}");
        assert_ne!(record.rss_hash, 0);
        assert_eq!((record.port, record.queue), (PortId(0), QueueId(0)));
        // The kernel of these interfaces has no clock for them.
        assert_eq!(record.nic_time(), None);
    }
    let mut hashes: Vec<u32> = told.values().map(|record| record.rss_hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert!(hashes.len() > usize::from(FLOWS) / 2, "{hashes:?}");
}

#[test]
fn what_a_program_behind_the_driver_cannot_ask_is_refused() {
    let Some(_namespace) = Namespace::with_pair() else {
        return;
    };
    let refused = records("xdp:a,rx-hash,mode=generic,vlan=ignore")
        .err()
        .unwrap();
    let said = refused.to_string();
    assert!(
        said.contains("xdp:a") && said.contains("packet:a,fanout=queue"),
        "{said}"
    );
}

//! Frames that the kernel takes for stamped by a NIC, by way of its own ring.

#[path = "../../tests/support/namespace.rs"]
mod namespace;

use std::time::{Duration, Instant};

use frame::FrameMeta;

use super::attached::Attached;
use super::receive::{Taking, fill};
use super::spec::Fanout;
use crate::interface::Interface;
use crate::nic_clock::nic_clock_at;
use crate::sys::stamped_frame::StampedFrames;
use crate::tests_support::pool;

use namespace::Namespace;

const PATIENCE: Duration = Duration::from_secs(30);

/// 1,000,000 ns of the NIC's clock are 5,000 of the kernel's.
const CARD: u64 = 1_000_000;
const KERNEL: u64 = 5_000;

#[test]
fn the_kernel_says_of_each_frame_whether_a_nic_stamped_it() {
    let Some(_namespace) = Namespace::with_pair() else {
        return;
    };
    let index = |name: &str| Interface::named(name).unwrap().index().unwrap();
    let sender = match StampedFrames::by(index("b")) {
        Ok(sender) => sender,
        Err(error) => {
            println!("skipped: no program that sends can be loaded: {error}");
            return;
        }
    };
    let clock = Some(nic_clock_at(CARD, KERNEL));
    let attached = Attached::open(index("a"), false, Fanout::Flow, clock);
    let mut attached = attached.unwrap_or_else(|error| panic!("{error:?}"));
    attached.begin().unwrap_or_else(|error| panic!("{error:?}"));
    let mut pool = pool(1);
    for (number, stamp) in [(1, CARD + 300), (2, 0), (3, CARD + 700), (4, 0)] {
        let mut bytes = [0; 60];
        bytes[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5]);
        bytes[14] = number;
        if let Err(error) = sender.send(&bytes, stamp) {
            println!("skipped: the kernel takes no stamp of a frame to be sent: {error}");
            return;
        }
        let mut frame = pool.alloc().unwrap();
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < PATIENCE, "frame {number} did not come");
            let taking = Taking {
                sees_outgoing: attached.sees_outgoing,
                clock: attached.clock.as_ref(),
                meta: FrameMeta::default(),
            };
            if let Some(received) = attached.ring.next()
                && fill(&mut frame, &received, &taking).is_ok()
                && frame.bytes() == bytes
            {
                break;
            }
        }
        let meta = frame.meta().unwrap();
        match stamp {
            // As software stamps it, since 1970.
            0 => assert!(!meta.by_nic && meta.time_ns > 1_600_000_000_000_000_000),
            stamp => assert_eq!((meta.by_nic, meta.time_ns), (true, stamp - CARD + KERNEL)),
        }
        pool.free(frame);
    }
}

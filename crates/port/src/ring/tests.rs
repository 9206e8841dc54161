//! Two ends, one process.

use frame::Burst;

use super::*;
use crate::tests_support::{expect_whole, pool};
use crate::{PortSpec, RxState};

fn open(text: &str, id: u8, context: &OpenContext) -> Result<Box<dyn Port>, PortError> {
    crate::open(&PortSpec::parse(text).unwrap(), PortId(id), context)
}

fn frames(pool: &mut frame::FramePool, burst: &mut Burst, count: usize) {
    let before = burst.len();
    assert_eq!(pool.alloc_burst(burst, count), count);
    for (index, frame) in burst.frames_mut()[before..].iter_mut().enumerate() {
        frame.copy_from(&[index as u8; 60]).unwrap();
    }
}

#[test]
fn frames_cross_in_order_by_pointer_and_records_travel() {
    let context = OpenContext::default();
    let mut a = open("ring:x", 0, &context).unwrap();
    let mut b = open("ring:x", 1, &context).unwrap();
    assert_eq!(
        (a.spec(), b.spec()),
        ("ring:x,end=a,capacity=1024", "ring:x,end=b,capacity=1024")
    );
    let mut a = a.open_queue(QueueId(0), 1).unwrap();
    let mut b = b.open_queue(QueueId(0), 1).unwrap();
    let (mut pool, mut burst, mut received) = (pool(64), Burst::new(), Burst::new());
    frames(&mut pool, &mut burst, 10);
    burst.frames_mut()[3].meta_mut().time_ns = 99;
    let pointers: Vec<_> = burst
        .frames()
        .iter()
        .map(|frame| frame.header_ptr())
        .collect();
    a.tx_burst(&mut burst, &mut pool);
    assert!(burst.is_empty());
    assert_eq!((a.in_flight(), b.in_flight()), (10, 0));
    assert_eq!(pool.free_count() + a.in_flight(), pool.total());
    assert_eq!(b.rx_burst(&mut pool, &mut received, 4), RxState::Open);
    assert_eq!(b.rx_burst(&mut pool, &mut received, 100), RxState::Open);
    let crossed: Vec<_> = received
        .frames()
        .iter()
        .map(|frame| frame.header_ptr())
        .collect();
    assert_eq!(crossed, pointers);
    assert_eq!(received.frames()[3].meta().unwrap().time_ns, 99);
    let (sent, got) = (a.statistics(), b.statistics());
    assert_eq!((sent.tx_frames, sent.tx_bytes), (10, 600));
    assert_eq!((got.rx_frames, got.rx_bytes), (10, 600));
    assert_eq!(a.in_flight(), 0);
    expect_whole(&mut pool, &mut received);
}

#[test]
fn a_full_ring_keeps_the_rest_with_the_sender() {
    let context = OpenContext::default();
    let mut a = open("ring:x,capacity=8", 0, &context).unwrap();
    let mut b = open("ring:x,capacity=8", 1, &context).unwrap();
    let mut a = a.open_queue(QueueId(0), 1).unwrap();
    let mut b = b.open_queue(QueueId(0), 1).unwrap();
    let (mut pool, mut burst, mut received) = (pool(64), Burst::new(), Burst::new());
    frames(&mut pool, &mut burst, 20);
    a.tx_burst(&mut burst, &mut pool);
    assert_eq!((burst.len(), burst.frames()[0].bytes()[0]), (12, 8));
    assert!(!a.failed());
    b.rx_burst(&mut pool, &mut received, 100);
    a.tx_burst(&mut burst, &mut pool);
    assert_eq!(burst.len(), 4);
    b.rx_burst(&mut pool, &mut received, 100);
    assert_eq!(received.len(), 16);
    pool.free_burst(&mut burst);
    expect_whole(&mut pool, &mut received);
}

#[test]
fn an_end_is_seen_after_the_last_frame() {
    let context = OpenContext::default();
    let mut a = open("ring:x", 0, &context).unwrap();
    let mut b = open("ring:x", 1, &context).unwrap();
    let mut a = a.open_queue(QueueId(0), 1).unwrap();
    let mut b = b.open_queue(QueueId(0), 1).unwrap();
    let (mut pool, mut burst) = (pool(64), Burst::new());
    frames(&mut pool, &mut burst, 5);
    a.tx_burst(&mut burst, &mut pool);
    a.finish().unwrap();
    assert_eq!(b.rx_burst(&mut pool, &mut burst, 2), RxState::Open);
    assert_eq!(b.rx_burst(&mut pool, &mut burst, 100), RxState::Ended);
    assert_eq!(burst.len(), 5);
    // Nobody is there to send to once the other end is gone: frames stay, and it shows.
    drop(a);
    b.tx_burst(&mut burst, &mut pool);
    assert_eq!((burst.len(), b.failed()), (5, true));
    expect_whole(&mut pool, &mut burst);
}

#[test]
fn ends_meet_by_name_and_no_third_joins() {
    let context = OpenContext::default();
    let b = open("ring:x,end=b", 0, &context).unwrap();
    let a = open("ring:x", 1, &context).unwrap();
    assert_eq!(
        (a.spec(), b.spec()),
        ("ring:x,end=a,capacity=1024", "ring:x,end=b,capacity=1024")
    );
    let third = open("ring:x", 2, &context).err().unwrap().to_string();
    assert!(third.contains("both ends of ring:x are taken"), "{third}");
    let taken = open("ring:x,end=a", 2, &context).err().unwrap().to_string();
    assert!(taken.contains("end a of ring:x is taken"), "{taken}");
    open("ring:y", 3, &context).unwrap();
    let other = open("ring:y,capacity=2", 3, &context)
        .err()
        .unwrap()
        .to_string();
    assert!(other.contains("same capacity"), "{other}");
    // Another run has rings of its own.
    open("ring:x", 0, &OpenContext::default()).unwrap();
}

#[test]
fn queues_pair_up_and_agree_on_their_number() {
    let context = OpenContext::default();
    let mut a = open("ring:x", 0, &context).unwrap();
    let mut b = open("ring:x", 1, &context).unwrap();
    let mut a1 = a.open_queue(QueueId(1), 2).unwrap();
    let mut b1 = b.open_queue(QueueId(1), 2).unwrap();
    let again = a.open_queue(QueueId(1), 2).err().unwrap();
    assert_eq!(again.kind(), crate::PortErrorKind::Queue);
    assert_eq!(
        a.open_queue(QueueId(2), 2).err().unwrap().kind(),
        crate::PortErrorKind::Queue
    );
    let disagree = b.open_queue(QueueId(0), 3).err().unwrap().to_string();
    assert!(
        disagree.contains("has 3 queues and its other end 2"),
        "{disagree}"
    );
    let (mut pool, mut burst) = (pool(64), Burst::new());
    frames(&mut pool, &mut burst, 5);
    b1.tx_burst(&mut burst, &mut pool);
    a1.rx_burst(&mut pool, &mut burst, 100);
    assert_eq!(burst.len(), 5);
    expect_whole(&mut pool, &mut burst);
}

#[test]
fn what_nobody_fetched_is_still_accounted_for() {
    let context = OpenContext::default();
    let mut a = open("ring:x", 0, &context).unwrap();
    let _b = open("ring:x", 1, &context).unwrap();
    let mut a = a.open_queue(QueueId(0), 1).unwrap();
    let (mut pool, mut burst) = (pool(64), Burst::new());
    frames(&mut pool, &mut burst, 5);
    a.tx_burst(&mut burst, &mut pool);
    a.finish().unwrap();
    assert_eq!(pool.free_count() + a.in_flight(), pool.total());
}

//! The ring against a queue that needs no proof, and its ends.

use std::{collections::VecDeque, panic, sync::Arc, thread};

use proptest::prelude::*;

use super::{ring, ring_from};

#[test]
fn first_in_first_out_to_the_last_slot() {
    for capacity in 1..=5 {
        let (mut producer, mut consumer) = ring(capacity);
        assert_eq!(
            (producer.capacity(), consumer.capacity()),
            (capacity, capacity)
        );
        for value in 0..capacity {
            assert_eq!(producer.push(value), Ok(()));
        }
        assert_eq!((producer.push(99), producer.free_slots()), (Err(99), 0));
        assert_eq!((producer.len(), consumer.len()), (capacity, capacity));
        for value in 0..capacity {
            assert_eq!(consumer.pop(), Some(value));
        }
        assert_eq!((consumer.pop(), producer.free_slots()), (None, capacity));
        assert!(producer.is_empty() && consumer.is_empty());
    }
}

#[test]
fn a_capacity_of_nothing_is_one() {
    let (mut producer, _consumer) = ring(0);
    assert_eq!((producer.push(1), producer.push(2)), (Ok(()), Err(2)));
}

#[test]
fn bursts_take_what_fits_and_leave_the_rest() {
    let (mut producer, mut consumer) = ring(3);
    let mut values = 0..5;
    assert_eq!(producer.push_burst(&mut values), 3);
    assert_eq!((producer.push_burst(&mut values), values), (0, 3..5));
    let mut taken = Vec::new();
    assert_eq!(consumer.pop_burst(2, |value| taken.push(value)), 2);
    assert_eq!(consumer.pop_burst(9, |value| taken.push(value)), 1);
    assert_eq!(consumer.pop_burst(9, |value| taken.push(value)), 0);
    assert_eq!(taken, [0, 1, 2]);
}

#[test]
fn what_is_inside_is_dropped_with_the_ring() {
    let value = Arc::new(());
    for consumer_first in [false, true] {
        let (mut producer, mut consumer) = ring_from(4, usize::MAX - 1);
        assert_eq!(producer.push_burst((0..4).map(|_| Arc::clone(&value))), 4);
        drop(consumer.pop());
        assert_eq!(Arc::strong_count(&value), 4);
        assert!(!producer.is_closed() && !consumer.is_closed());
        if consumer_first {
            drop(consumer);
            assert!(producer.is_closed());
            drop(producer);
        } else {
            drop(producer);
            assert!(consumer.is_closed());
            assert!(consumer.pop().is_some());
            drop(consumer);
        }
        assert_eq!(Arc::strong_count(&value), 1);
    }
}

/// An iterator that promises more than it has, as safe code may.
struct Boastful(core::ops::Range<u32>);

impl Iterator for Boastful {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (7, Some(7))
    }
}

impl ExactSizeIterator for Boastful {}

#[test]
fn an_iterator_that_lies_is_not_believed() {
    let (mut producer, mut consumer) = ring(8);
    assert_eq!(producer.push_burst(Boastful(0..2)), 2);
    assert_eq!(producer.push_burst(Boastful(2..12)), 6); // 7 promised, room for 6
    let mut taken = Vec::new();
    assert_eq!(consumer.pop_burst(usize::MAX, |value| taken.push(value)), 8);
    assert_eq!(taken, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_panic_of_the_caller_loses_and_doubles_nothing() {
    let (mut producer, mut consumer) = ring(8);
    let pushed = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        producer.push_burst((0..5).map(|i| if i == 3 { panic!("on purpose") } else { i }))
    }));
    assert!(pushed.is_err());
    assert_eq!(consumer.len(), 3);
    let popped = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        consumer.pop_burst(3, |value| assert_ne!(value, 1, "on purpose"))
    }));
    assert!(popped.is_err());
    assert_eq!((consumer.pop(), consumer.pop()), (Some(2), None));
}

#[test]
fn two_threads_keep_the_order() {
    let count: u64 = if cfg!(miri) { 200 } else { 200_000 };
    let (mut producer, mut consumer) = ring_from(64, usize::MAX - 100);
    let sender = thread::spawn(move || {
        let mut values = 0..count as usize;
        while !values.is_empty() {
            if producer.push_burst(&mut values) == 0 {
                thread::yield_now();
            }
        }
    });
    let mut next = 0;
    loop {
        let closed = consumer.is_closed();
        let popped = consumer.pop_burst(37, |value| {
            assert_eq!(value, next);
            next += 1;
        });
        if popped == 0 && closed {
            break;
        }
        if popped == 0 {
            thread::yield_now();
        }
    }
    assert_eq!(next as u64, count);
    sender.join().expect("the sender ends");
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Push,
    Pop,
    PushBurst(usize),
    PopBurst(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        Just(Step::Push),
        Just(Step::Pop),
        (0usize..12).prop_map(Step::PushBurst),
        (0usize..12).prop_map(Step::PopBurst),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 8 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Boxes, so that Miri sees a value lost or taken twice.
    #[test]
    fn as_a_queue_would(capacity in 1usize..10, start in prop_oneof![Just(0), Just(usize::MAX - 5)],
            steps in steps()) {
        let (mut producer, mut consumer) = ring_from(capacity, start);
        let mut model = VecDeque::new();
        let mut fresh = (0u32..).map(Box::new);
        for step in steps {
            match step {
                Step::Push | Step::PushBurst(_) => {
                    let want = if let Step::PushBurst(want) = step { want } else { 1 };
                    let values: Vec<_> = fresh.by_ref().take(want).collect();
                    let fits = want.min(capacity - model.len());
                    model.extend(values[..fits].iter().cloned());
                    if let Step::Push = step {
                        let pushed = producer.push(values[0].clone());
                        prop_assert_eq!(pushed.is_ok(), fits == 1);
                    } else {
                        prop_assert_eq!(producer.push_burst(values.into_iter()), fits);
                    }
                }
                Step::Pop => prop_assert_eq!(consumer.pop(), model.pop_front()),
                Step::PopBurst(max) => {
                    let mut taken = Vec::new();
                    let count = consumer.pop_burst(max, |value| taken.push(value));
                    let expected: Vec<_> = model.drain(..max.min(model.len())).collect();
                    prop_assert_eq!((count, taken), (expected.len(), expected));
                }
            }
            prop_assert_eq!(producer.free_slots(), capacity - model.len());
            prop_assert_eq!(consumer.len(), model.len());
        }
    }
}

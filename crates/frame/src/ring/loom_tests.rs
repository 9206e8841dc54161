//! Every interleaving of a small ring: `RUSTFLAGS="--cfg loom" cargo test -p linerate-frame
//! --release loom`.

use loom::{sync::Arc, thread};

use super::ring_from;

/// Pushes `0..count` one by one from one thread, pops from another: order kept, nothing lost.
fn singles(capacity: usize, count: usize, start: usize) {
    loom::model(move || {
        let (mut producer, mut consumer) = ring_from(capacity, start);
        let pusher = thread::spawn(move || {
            for value in 0..count {
                let mut value = value;
                while let Err(back) = producer.push(value) {
                    value = back;
                    thread::yield_now();
                }
            }
        });
        for expected in 0..count {
            let value = loop {
                match consumer.pop() {
                    Some(value) => break value,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(value, expected);
        }
        assert_eq!(consumer.pop(), None);
        pusher.join().expect("the pusher ends");
    });
}

#[test]
fn one_slot_is_handed_back_and_forth() {
    singles(1, 3, 0);
}

#[test]
fn two_slots_wrap_around_with_the_indices() {
    singles(2, 3, usize::MAX - 1);
}

#[test]
fn a_capacity_between_powers_of_two() {
    singles(3, 4, usize::MAX);
}

#[test]
fn bursts_are_published_whole_and_in_order() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring_from(2, usize::MAX - 1);
        let pusher = thread::spawn(move || {
            let mut values = 0..4;
            while !values.is_empty() {
                if producer.push_burst(&mut values) == 0 {
                    thread::yield_now();
                }
            }
        });
        let mut next = 0;
        while next < 4 {
            let popped = consumer.pop_burst(2, |value| {
                assert_eq!(value, next);
                next += 1;
            });
            if popped == 0 {
                thread::yield_now();
            }
        }
        pusher.join().expect("the pusher ends");
    });
}

/// The producer leaves: the consumer that saw it leave finds everything that was pushed.
#[test]
fn the_last_values_are_seen_before_the_end() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring_from(4, 0);
        let pusher = thread::spawn(move || {
            assert_eq!(producer.push_burst(0..2), 2);
            assert_eq!(producer.push(2), Ok(()));
        });
        let mut taken = 0;
        loop {
            let closed = consumer.is_closed();
            let popped = consumer.pop_burst(9, |_| taken += 1);
            if popped == 0 && closed {
                break;
            }
            if popped == 0 {
                thread::yield_now();
            }
        }
        assert_eq!(taken, 3);
        pusher.join().expect("the pusher ends");
    });
}

/// Either end is dropped first, with values inside: each value is dropped once.
#[test]
fn values_inside_are_dropped_by_the_last_end() {
    loom::model(|| {
        let value = Arc::new(());
        let (mut producer, mut consumer) = ring_from(2, usize::MAX);
        let given = [Arc::clone(&value), Arc::clone(&value)];
        let pusher = thread::spawn(move || {
            assert_eq!(producer.push_burst(given.into_iter()), 2);
        });
        drop(consumer.pop());
        drop(consumer);
        pusher.join().expect("the pusher ends");
        assert_eq!(Arc::strong_count(&value), 1);
    });
}

/// What either end believes about the other is on the safe side.
#[test]
fn counts_are_bounds() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring_from(2, 0);
        let popper = thread::spawn(move || {
            let there = consumer.len();
            assert!(there <= 1);
            assert!(consumer.pop_burst(there, drop) == there);
        });
        assert_eq!(producer.push(1), Ok(()));
        assert!((1..=2).contains(&producer.free_slots()));
        popper.join().expect("the popper ends");
    });
}

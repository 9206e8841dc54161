//! Every interleaving of chunks going home.

use loom::{sync::Arc, sync::mpsc, thread};

use super::Returns;
use crate::sync::UnsafeCell;

/// Two workers free one chunk each while the owner looks: each chunk comes home once, and what the
/// worker wrote to it is seen.
#[test]
fn loom_two_workers_free_at_once() {
    loom::model(|| {
        let returns = Arc::new(Returns::new(2));
        let bytes = Arc::new([UnsafeCell::new(0_u32), UnsafeCell::new(0_u32)]);
        let workers = [0_u32, 1].map(|chunk| {
            let (returns, bytes) = (Arc::clone(&returns), Arc::clone(&bytes));
            thread::spawn(move || {
                // SAFETY: this worker owns the chunk until it is sent home.
                bytes[chunk as usize].with_mut(|byte| unsafe { *byte = chunk + 10 });
                returns.send([chunk].into_iter());
            })
        });
        let (mut taken, mut home) = (0, Vec::new());
        while home.len() < 2 {
            taken = returns.receive(taken, |chunk| {
                // SAFETY: the chunk came home: the owner has it.
                let byte = bytes[chunk as usize].with(|byte| unsafe { *byte });
                assert_eq!(byte, chunk + 10);
                home.push(chunk);
            });
            if home.len() < 2 {
                thread::yield_now();
            }
        }
        home.sort_unstable();
        assert_eq!((home, taken, returns.sent()), (vec![0, 1], 2, 2));
        for worker in workers {
            worker.join().expect("the worker ends");
        }
    });
}

/// One place, used over and over: the next chunk to land on it never meets the owner's clearing.
#[test]
fn loom_a_place_is_cleared_before_it_is_used_again() {
    const ROUNDS: usize = 3;
    loom::model(|| {
        let returns = Arc::new(Returns::new(1));
        let (lend, lent) = mpsc::channel();
        let worker = {
            let returns = Arc::clone(&returns);
            thread::spawn(move || {
                for _ in 0..ROUNDS {
                    let chunk: u32 = lent.recv().expect("the owner lends");
                    returns.send([chunk].into_iter());
                }
            })
        };
        let mut taken = 0;
        for round in 0..ROUNDS {
            lend.send(0).expect("the worker listens");
            while taken == round {
                taken = returns.receive(taken, |chunk| assert_eq!(chunk, 0));
                thread::yield_now();
            }
        }
        assert_eq!((taken, returns.sent()), (ROUNDS, ROUNDS));
        worker.join().expect("the worker ends");
    });
}

/// A burst of two and a single one, of three chunks over four places that wrap.
#[test]
fn loom_bursts_share_the_places() {
    loom::model(|| {
        let returns = Arc::new(Returns::new(3));
        let workers = [vec![0_u32, 1], vec![2]].map(|chunks| {
            let returns = Arc::clone(&returns);
            thread::spawn(move || returns.send(chunks.into_iter()))
        });
        let mut home = Vec::new();
        let mut taken = returns.receive(0, |chunk| home.push(chunk));
        for worker in workers {
            worker.join().expect("the worker ends");
        }
        taken = returns.receive(taken, |chunk| home.push(chunk));
        home.sort_unstable();
        assert_eq!((home, taken), (vec![0, 1, 2], 3));
        returns.send([2, 0].into_iter());
        assert_eq!(returns.receive(taken, |_| ()), 5);
    });
}

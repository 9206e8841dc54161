//! Every interleaving of chunks going home.

use loom::{sync::Arc, sync::mpsc, thread};

use super::Homeward;
use crate::sync::UnsafeCell;

/// Two workers free one chunk each while the owner looks: each chunk comes home once, and what the
/// worker wrote to it is seen.
#[test]
fn loom_two_workers_free_at_once() {
    loom::model(|| {
        let homeward = Arc::new(Homeward::new(2));
        let bytes = Arc::new([UnsafeCell::new(0_u32), UnsafeCell::new(0_u32)]);
        let workers = [0_u32, 1].map(|chunk| {
            let (homeward, bytes) = (Arc::clone(&homeward), Arc::clone(&bytes));
            thread::spawn(move || {
                // SAFETY: this worker owns the chunk until it is sent home.
                bytes[chunk as usize].with_mut(|byte| unsafe { *byte = chunk + 10 });
                homeward.send([chunk].into_iter());
            })
        });
        let (mut taken, mut home) = (0, Vec::new());
        while home.len() < 2 {
            taken = homeward.receive(taken, |chunk| {
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
        assert_eq!((home, taken, homeward.sent()), (vec![0, 1], 2, 2));
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
        let homeward = Arc::new(Homeward::new(1));
        let (lend, lent) = mpsc::channel();
        let worker = {
            let homeward = Arc::clone(&homeward);
            thread::spawn(move || {
                for _ in 0..ROUNDS {
                    let chunk: u32 = lent.recv().expect("the owner lends");
                    homeward.send([chunk].into_iter());
                }
            })
        };
        let mut taken = 0;
        for round in 0..ROUNDS {
            lend.send(0).expect("the worker listens");
            while taken == round {
                taken = homeward.receive(taken, |chunk| assert_eq!(chunk, 0));
                thread::yield_now();
            }
        }
        assert_eq!((taken, homeward.sent()), (ROUNDS, ROUNDS));
        worker.join().expect("the worker ends");
    });
}

/// A burst of two and a single one, of three chunks over four places that wrap.
#[test]
fn loom_bursts_share_the_places() {
    loom::model(|| {
        let homeward = Arc::new(Homeward::new(3));
        let workers = [vec![0_u32, 1], vec![2]].map(|chunks| {
            let homeward = Arc::clone(&homeward);
            thread::spawn(move || homeward.send(chunks.into_iter()))
        });
        let mut home = Vec::new();
        let mut taken = homeward.receive(0, |chunk| home.push(chunk));
        for worker in workers {
            worker.join().expect("the worker ends");
        }
        taken = homeward.receive(taken, |chunk| home.push(chunk));
        home.sort_unstable();
        assert_eq!((home, taken), (vec![0, 1, 2], 3));
        homeward.send([2, 0].into_iter());
        assert_eq!(homeward.receive(taken, |_| ()), 5);
    });
}

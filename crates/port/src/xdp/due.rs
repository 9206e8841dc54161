//! When frames that are gathered for a run of the program that sends are due.
//!
//! A run costs some 10 us before its first frame, and a page of the kernel's, taken and given back,
//! for each of the first [`KERNEL_BATCH`](super::sender::KERNEL_BATCH). All that a worker does
//! included, runs of 64 frames of 60 bytes took 630 ns a frame, of 256 some 440, of 512 some 400
//! and of 1,024 some 390 (medians of interleaved runs between veths, 6 million entries).

/// Enough frames for a run: half of what a socket's ring holds, so that it does not run over while
/// they are sent. Of frames beyond 120 bytes a batch has room for fewer.
const GATHERED: u32 = 1_024;
/// Frames wait for others for so many turns of the worker at most: as many as bring so many frames
/// in full bursts.
const TURNS_MAX: u32 = 16;
/// A worker that receives from no port, since another one cannot send, flushes and has no turns.
const FLUSHES_MAX: u32 = 16;

/// Of the frames of one sender.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// Whether frames came since the last turn.
    fresh: bool,
    /// Turns since the first frame.
    turns: u32,
    /// Flushes since the last turn.
    flushes: u32,
}

impl Due {
    /// A frame came.
    #[inline]
    pub(super) fn came(&mut self) {
        self.fresh = true;
    }

    /// A turn of the worker is over, in which more frames came if more are likely to come at once.
    /// Whether those held should leave.
    #[inline]
    pub(super) fn at_turn(&mut self, held: u32) -> bool {
        self.flushes = 0;
        if held == 0 {
            return false;
        }
        self.turns += 1;
        let waits = self.fresh && self.turns < TURNS_MAX;
        self.fresh = false;
        !waits
    }

    /// The worker flushes, which it does several times a turn. Whether the frames held should
    /// leave.
    #[inline]
    pub(super) fn at_flush(&mut self, held: u32) -> bool {
        self.flushes += 1;
        held >= GATHERED || held != 0 && self.flushes > FLUSHES_MAX
    }

    /// All frames have left.
    pub(super) fn left(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the queue of a worker does in a turn in which so many frames come by it, and between
    /// two flushes by each of `others` ports. Sizes of the runs go to `runs`.
    fn turn(due: &mut Due, held: &mut u32, frames: u32, others: usize, runs: &mut Vec<u32>) {
        let mut run = |due: &mut Due, held: &mut u32| {
            runs.push(std::mem::take(held));
            due.left();
        };
        if due.at_flush(*held) {
            run(due, held);
        }
        for port in 0..=others {
            if port == others && due.at_turn(*held) {
                run(due, held);
            }
            for _ in 0..if port == 0 { frames } else { 0 } {
                *held += 1;
                due.came();
            }
            if due.at_flush(*held) {
                run(due, held);
            }
        }
    }

    #[test]
    fn frames_are_gathered_over_turns_that_bring_more() {
        for others in 0..3 {
            let (mut due, mut held, mut runs) = (Due::default(), 0, Vec::new());
            for _ in 0..10 * GATHERED / 64 {
                turn(&mut due, &mut held, 64, others, &mut runs);
            }
            assert_eq!(runs, [GATHERED; 10], "{others}");
            assert_eq!(held, 0);
        }
    }

    #[test]
    fn frames_leave_when_a_turn_brings_none() {
        let (mut due, mut held, mut runs) = (Due::default(), 0, Vec::new());
        turn(&mut due, &mut held, 3, 1, &mut runs);
        turn(&mut due, &mut held, 0, 1, &mut runs);
        turn(&mut due, &mut held, 0, 1, &mut runs);
        assert_eq!((&runs[..], held), (&[3][..], 0));
    }

    #[test]
    fn frames_that_trickle_wait_for_few_turns() {
        let (mut due, mut held, mut runs) = (Due::default(), 0, Vec::new());
        for _ in 0..10 * TURNS_MAX {
            turn(&mut due, &mut held, 1, 1, &mut runs);
        }
        assert!(runs.len() >= 9, "{runs:?}");
        assert!(runs.iter().all(|&run| run <= TURNS_MAX), "{runs:?}");
    }

    #[test]
    fn frames_leave_where_there_are_no_turns() {
        let (mut due, held) = (Due::default(), 5);
        due.came();
        let flushes = (1..100).find(|_| due.at_flush(held));
        assert_eq!(flushes, Some(FLUSHES_MAX + 1));
    }
}

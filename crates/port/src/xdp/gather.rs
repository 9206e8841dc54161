//! Frames that come in several pieces, each in a chunk of its own, made linear: the pieces are
//! copied behind the first, in whose chunk there is room. Frames in one piece pass untouched.

use frame::{Frame, FramePool};

/// The frame that is coming in pieces at one socket, if one is.
#[derive(Debug, Default)]
pub(super) struct Gather {
    state: State,
    /// Frames that did not fit the chunk of their first piece.
    too_long: u64,
}

#[derive(Debug, Default)]
enum State {
    /// The next piece begins a frame.
    #[default]
    Between,
    /// What has come of a frame.
    Begun(Frame),
    /// The rest of a frame that fits nowhere is left out.
    Skipping,
}

impl Gather {
    /// The whole frame, when this piece ends it. Other pieces' chunks go to `pool`.
    #[inline]
    pub(super) fn take(
        &mut self,
        piece: Frame,
        continues: bool,
        pool: &mut FramePool,
    ) -> Option<Frame> {
        if !continues && matches!(self.state, State::Between) {
            return Some(piece);
        }
        self.take_piece(piece, continues, pool)
    }

    #[inline(never)]
    fn take_piece(&mut self, piece: Frame, continues: bool, pool: &mut FramePool) -> Option<Frame> {
        let state = match std::mem::take(&mut self.state) {
            State::Between => State::Begun(piece),
            State::Begun(frame) => self.joined(frame, piece, pool),
            State::Skipping => {
                pool.free(piece);
                State::Skipping
            }
        };
        match state {
            state if continues => {
                self.state = state;
                None
            }
            State::Begun(frame) => Some(frame),
            State::Between | State::Skipping => None,
        }
    }

    fn joined(&mut self, mut frame: Frame, piece: Frame, pool: &mut FramePool) -> State {
        let before = frame.len();
        let fits = frame.set_len(before + piece.len()).is_ok();
        if fits {
            frame.bytes_mut()[before..].copy_from_slice(piece.bytes());
        }
        pool.free(piece);
        if fits {
            return State::Begun(frame);
        }
        pool.free(frame);
        self.too_long += 1;
        State::Skipping
    }

    /// Frames that fitted no chunk, of however many pieces.
    pub(super) fn too_long(&self) -> u64 {
        self.too_long
    }

    /// Frames held: what has come of one.
    pub(super) fn held(&self) -> u32 {
        u32::from(matches!(self.state, State::Begun(_)))
    }

    /// Lets what has come of a frame go: its other pieces never will.
    pub(super) fn give_up(&mut self, pool: &mut FramePool) {
        if let State::Begun(frame) = std::mem::take(&mut self.state) {
            pool.free(frame);
            self.too_long += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests_support::pool;

    fn piece(pool: &mut FramePool, len: usize, first: u8) -> Frame {
        let mut frame = pool.alloc().unwrap();
        frame.set_len(len).unwrap();
        let bytes = frame.bytes_mut().iter_mut();
        bytes
            .zip(0_usize..)
            .for_each(|(byte, place)| *byte = first.wrapping_add(place as u8));
        frame
    }

    /// What comes out of pieces of these lengths, and how many frames were too long.
    fn gathered(gather: &mut Gather, pool: &mut FramePool, lens: &[usize]) -> Option<Vec<u8>> {
        let mut whole = None;
        let mut before = 0;
        for (place, &len) in lens.iter().enumerate() {
            assert!(whole.is_none());
            let piece = piece(pool, len, before as u8);
            whole = gather.take(piece, place + 1 < lens.len(), pool);
            before += len;
        }
        whole.map(|frame| {
            let bytes = frame.bytes().to_vec();
            pool.free(frame);
            bytes
        })
    }

    #[test]
    fn pieces_become_one_frame_and_no_chunk_is_lost() {
        let mut pool = pool(4);
        let mut gather = Gather::default();
        let cases: [(&[usize], bool); 8] = [
            (&[60], true),
            (&[700, 700, 300], true),
            (&[1_000, 792], true),
            (&[1_000, 793], false),
            (&[1_000, 1_000, 1_000, 5], false),
            (&[1], true),
            (&[1_792, 0], true),
            (&[1_792, 1], false),
        ];
        for (lens, fits) in cases {
            let total = lens.iter().sum::<usize>();
            let expect = fits.then(|| (0..total).map(|place| place as u8).collect());
            assert_eq!(gathered(&mut gather, &mut pool, lens), expect, "{lens:?}");
            assert_eq!((pool.free_count(), gather.held()), (4, 0), "{lens:?}");
        }
        assert_eq!(gather.too_long(), 3);
    }

    #[test]
    fn a_frame_whose_rest_never_comes_is_given_up_and_counted() {
        let mut pool = pool(2);
        let mut gather = Gather::default();
        let first = piece(&mut pool, 100, 0);
        assert!(gather.take(first, true, &mut pool).is_none());
        assert_eq!((pool.free_count(), gather.held()), (1, 1));
        gather.give_up(&mut pool);
        gather.give_up(&mut pool);
        assert_eq!(
            (pool.free_count(), gather.held(), gather.too_long()),
            (2, 0, 1)
        );
        assert_eq!(gathered(&mut gather, &mut pool, &[60]).unwrap().len(), 60);
    }
}

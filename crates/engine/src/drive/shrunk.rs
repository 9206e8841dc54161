//! Frames that were sent while the interface they were for had a smaller MTU than at the start.

/// Counts them, from the look before to the look behind.
#[derive(Debug, Default)]
pub(super) struct ShrunkWatch {
    is_shrunk: bool,
    /// Frames that the trial had dealt with at the last look.
    at: u64,
    frames: u64,
}

impl ShrunkWatch {
    /// Takes note of whether it is so, when the trial has dealt with so many frames.
    pub(super) fn look(&mut self, is_shrunk: bool, frames: u64) {
        let more = frames.saturating_sub(std::mem::replace(&mut self.at, frames));
        if std::mem::replace(&mut self.is_shrunk, is_shrunk) || is_shrunk {
            self.frames += more;
        }
    }

    /// How many there were, of a trial that dealt with so many frames.
    pub(super) fn frames(&self, all: u64) -> u64 {
        let rest = all.saturating_sub(self.at);
        self.frames + if self.is_shrunk { rest } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_from_the_look_before_to_the_look_behind() {
        // Looks: whether it was so, and frames by then; how many of 100 were sent meanwhile.
        let table: [(&[(bool, u64)], u64); 4] = [
            (&[(false, 10), (false, 50)], 0),
            (&[(true, 0)], 100),
            (&[(false, 10), (true, 30), (true, 60), (false, 80)], 70),
            (&[(false, 10), (true, 30)], 90),
        ];
        for (looks, expected) in table {
            let mut watch = ShrunkWatch::default();
            looks
                .iter()
                .for_each(|&(is, frames)| watch.look(is, frames));
            assert_eq!(watch.frames(100), expected, "{looks:?}");
        }
    }
}

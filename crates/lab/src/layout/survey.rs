//! Which layouts differ: many are tried in few rounds, and the best and the worst of them in rounds
//! of their own, so that chance does not choose and confirm at once.

use super::bench::Bench;
use super::shim::Layout;
use crate::{Interleaved, LabError, Ratio};

/// Offsets a block, compounding: odd and even lines, and whole pages.
const OFFSETS: [u64; 6] = [64, 192, 832, 1088, 4096, 4160];
/// Offsets begin anew from here on: all sets of L1 and L2 caches have been met, and blocks that
/// grew by much would lie in other memory.
const OFFSET_END: u64 = 64 << 10;
/// Distances of the stack: all lines of a page, at four places in a line.
const STACKS: usize = 29;
const STACK_STEP: usize = 2 * 64 + 16;
/// Smaller differences are none, however quiet the machine is.
const LEAST: f64 = 0.03;

/// What was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Each large block by this much more than the one before, bytes.
    Blocks(u64),
    /// The stack, bytes.
    Stack(usize),
}

impl Moved {
    /// The layout, of so many blocks.
    pub(super) fn layout(self, blocks: usize) -> Layout {
        match self {
            Self::Blocks(offset) => Layout {
                offsets: (0..blocks as u64)
                    .map(|order| order * offset % OFFSET_END)
                    .collect(),
                stack: 0,
            },
            Self::Stack(stack) => Layout {
                offsets: Vec::new(),
                stack,
            },
        }
    }
}

/// A layout against the default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// What was moved.
    pub moved: Moved,
    /// How many times as fast as the default.
    pub speed: Ratio,
    /// Whether that is a difference.
    pub differs: bool,
}

/// What was found of all layouts.
#[derive(Clone, Debug)]
pub(super) struct Survey {
    /// The best and the worst of each kind.
    pub(super) compared: Vec<Compared>,
    /// A smaller difference could not have been seen.
    pub(super) visible: f64,
    /// Speed of the default.
    pub(super) default: crate::Samples,
}

impl Survey {
    /// Tries all that is asked for.
    pub(super) fn take(bench: &mut Bench<'_>, blocks: usize) -> Result<Self, LabError> {
        let mut all = Vec::new();
        if bench.request.blocks && blocks > 0 {
            all.extend(OFFSETS.map(Moved::Blocks));
        }
        if bench.request.stack {
            all.extend((1..STACKS).map(|step| Moved::Stack(step * STACK_STEP)));
        }
        let rounds = (bench.request.rounds / 3).max(2);
        let tried = compare(bench, "trying layouts", &all, blocks, rounds)?;
        let speeds: Vec<f64> = tried.samples.iter().map(crate::Samples::median).collect();
        let mut chosen = Vec::new();
        for of_blocks in [true, false] {
            let kind = |moved: &Moved| matches!(moved, Moved::Blocks(_)) == of_blocks;
            let mut order: Vec<usize> = (0..all.len()).filter(|&at| kind(&all[at])).collect();
            order.sort_by(|&a, &b| speeds[a + 1].total_cmp(&speeds[b + 1]));
            chosen.extend(order.first().map(|&worst| all[worst]));
            chosen.extend(order[order.len().min(1)..].last().map(|&best| all[best]));
        }
        Self::confirm(bench, &chosen, blocks)
    }

    fn confirm(bench: &mut Bench<'_>, chosen: &[Moved], blocks: usize) -> Result<Self, LabError> {
        let rounds = bench.request.rounds;
        let found = compare(bench, "confirming", chosen, blocks, rounds)?;
        let visible = found.noise.share().max(LEAST);
        let compared = chosen.iter().zip(&found.samples[1..]);
        let compared = compared.filter_map(|(&moved, speeds)| {
            let speed = Ratio::paired(speeds, &found.samples[0])?;
            let differs = speed.differs(visible);
            Some(Compared {
                moved,
                speed,
                differs,
            })
        });
        Ok(Self {
            compared: compared.collect(),
            visible,
            default: found.samples[0].clone(),
        })
    }

    /// The layout of blocks that differs most from the default, a faster one first.
    pub(super) fn decisive(&self) -> Option<Compared> {
        let blocks = self
            .compared
            .iter()
            .filter(|compared| compared.differs && matches!(compared.moved, Moved::Blocks(_)));
        let best = blocks.clone().find(|compared| compared.speed.median > 1.0);
        best.or_else(|| blocks.clone().next()).copied()
    }
}

fn compare(
    bench: &mut Bench<'_>,
    stage: &str,
    moved: &[Moved],
    blocks: usize,
    rounds: usize,
) -> Result<Interleaved, LabError> {
    let mut layouts = vec![Layout::default()];
    layouts.extend(moved.iter().map(|moved| moved.layout(blocks)));
    bench.compare(stage, &layouts, rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_tried_at_each_place_of_a_line() {
        let tried = (1..STACKS).map(|step| step * STACK_STEP);
        let mut places: Vec<usize> = tried.clone().map(|bytes| bytes % 64).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places, [0, 16, 32, 48]);
        assert_eq!(tried.max().map(|last| (last + STACK_STEP) / 4096), Some(1));
    }

    #[test]
    fn offsets_compound() {
        let layout = Moved::Blocks(64).layout(4);
        assert_eq!(layout.offsets, [0, 64, 128, 192]);
        let far = Moved::Blocks(4160).layout(1024).offsets;
        assert_eq!((far[15], far[16]), (62_400, 1024));
        assert!(far.iter().all(|&offset| offset < OFFSET_END));
        assert_eq!(Moved::Stack(16).layout(4).stack, 16);
    }

    #[test]
    fn a_gain_is_explained_before_a_loss() {
        let compared = |moved, median, differs| Compared {
            moved,
            speed: Ratio {
                median,
                low: median,
                high: median,
            },
            differs,
        };
        let (worse, better) = (Moved::Blocks(64), Moved::Blocks(192));
        for (rows, expected) in [
            (vec![(worse, 0.5, true), (better, 1.5, true)], Some(better)),
            (vec![(worse, 0.5, true), (better, 1.0, false)], Some(worse)),
            (
                vec![(worse, 0.9, false), (Moved::Stack(16), 2.0, true)],
                None,
            ),
        ] {
            let rows = rows
                .into_iter()
                .map(|(moved, median, differs)| compared(moved, median, differs));
            let survey = Survey {
                compared: rows.collect(),
                visible: 0.03,
                default: crate::Samples::default(),
            };
            assert_eq!(survey.decisive().map(|row| row.moved), expected);
        }
    }
}

//! The whole investigation: whether layout matters, which blocks make it matter, why, and a remedy.

use super::bench::{Bench, Progress};
use super::block::Block;
use super::cause::{Cause, cause};
use super::remedy::Remedy;
use super::shim::{Layout, Ran};
use super::smallest::smallest;
use super::survey::{Compared, Survey};
use super::{Measured, Request};
use crate::caches::Caches;
use crate::paired::paired;
use crate::{Better, LabError, Samples};

/// Rounds of each step of the search: it is confirmed by more.
const ROUNDS: usize = 5;
/// A set of blocks explains a difference that it alone makes to this share.
const EXPLAINS: f64 = 0.8;
/// And undoes it where so much is left at most.
const UNDOES: f64 = 0.2;
/// Distances that are tried for all blocks of a set alike, bytes.
const APART: [u64; 5] = [64, 256, 1024, 2048, 4096];

/// The blocks that make the difference.
#[derive(Clone, Debug)]
pub struct Blame {
    /// The layout that is explained: a faster one, or a slower one where none is faster.
    pub compared: Compared,
    /// Moving these alone makes the difference; by order of allocation.
    pub blocks: Vec<usize>,
    /// Moving these by as much as those undoes it: what the first are too near to.
    pub partners: Vec<usize>,
    /// The share of the difference that they make.
    pub explained: f64,
    /// Why.
    pub cause: Cause,
    /// What helps; none where the default is the faster layout.
    pub remedy: Option<Remedy>,
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file that ran.
    pub program: String,
    /// What was measured.
    pub measured: Measured,
    /// Runs that it took.
    pub runs: usize,
    /// Large blocks, as they lay without being moved.
    pub blocks: Vec<Block>,
    /// Where the stack began.
    pub stack: u64,
    /// Large allocations, of which the first are in `blocks`.
    pub seen: u64,
    /// The figure of the default layout, a round each; nanoseconds for times.
    pub default: Samples,
    /// A smaller difference could not have been seen: a share.
    pub visible: f64,
    /// The best and the worst layout of blocks and of the stack.
    pub compared: Vec<Compared>,
    /// Which blocks.
    pub blame: Option<Blame>,
    /// What a reader must know, a sentence each.
    pub notes: Vec<String>,
}

/// Runs the program until it is known whether layout decides how fast it is.
///
/// # Errors
/// The program cannot be measured, as a sentence.
pub fn investigate(request: &Request, progress: Progress<'_>) -> Result<Report, LabError> {
    let (mut bench, first) = Bench::begin(request, progress)?;
    let survey = Survey::take(&mut bench, first.blocks.len())?;
    let mut notes = notes(&bench, &first);
    let blame = match survey.decisive() {
        Some(compared) if bench.same_order => {
            let mut search = Search::new(&mut bench, compared, first.blocks.len());
            Some(search.blame()?)
        }
        Some(_) => {
            notes.push(
                "the program does not make the same large allocations in each run, so that blocks \
                 cannot be told apart by their order: no single ones were looked for"
                    .to_owned(),
            );
            None
        }
        None => None,
    };
    Ok(Report {
        program: bench.program.display().to_string(),
        measured: bench.measured,
        runs: bench.runs,
        seen: first.seen,
        stack: first.stack,
        blocks: first.blocks,
        default: figures(&survey.default, request.better),
        visible: survey.visible,
        compared: survey.compared,
        blame,
        notes,
    })
}

fn figures(speeds: &Samples, better: Better) -> Samples {
    let mut figures = Samples::default();
    for &speed in speeds.all() {
        figures.push(match better {
            Better::Higher => speed,
            Better::Lower => 1.0 / speed,
        });
    }
    figures
}

fn notes(bench: &Bench<'_>, first: &Ran) -> Vec<String> {
    let mut notes = Vec::new();
    if first.random {
        notes.push(
            "addresses differ from run to run, since their randomisation could not be turned off \
             here (personality(2) is refused): what depends on the stack shows less clearly"
                .to_owned(),
        );
    }
    if bench.measured == Measured::Wall {
        notes.push(
            "the program does not end by exit(3) or _exit(2), so that its CPU time is unknown: \
             time by the clock is measured, which other programs disturb; if it only starts \
             another one in its place (as env and 'sh -c' do), name that one, since nothing \
             of it is moved"
                .to_owned(),
        );
    }
    if first.children_ns > first.cpu_ns.unwrap_or(f64::INFINITY) {
        notes.push(
            "programs that it starts compute more than it does itself, and nothing of them is \
             moved: name one of them"
                .to_owned(),
        );
    }
    if first.seen == 0 && bench.request.blocks {
        notes.push(format!(
            "the program makes no allocation of {} bytes or more through the C library: only the \
             stack could be moved (--from sets the size)",
            bench.request.from_bytes
        ));
    }
    if first.seen > first.blocks.len() as u64 {
        notes.push(format!(
            "of {} large allocations the first {} were moved",
            first.seen,
            first.blocks.len()
        ));
    }
    if first.kept > 0 {
        notes.push(format!(
            "{} blocks could not be moved: too many lived at once",
            first.kept
        ));
    }
    notes
}

/// The search for the blocks that make one layout differ.
struct Search<'a, 'b> {
    bench: &'a mut Bench<'b>,
    compared: Compared,
    target: Layout,
    /// The logarithm of what is to be explained.
    gain: f64,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(bench: &'a mut Bench<'b>, compared: Compared, blocks: usize) -> Self {
        Self {
            bench,
            compared,
            target: compared.moved.layout(blocks),
            gain: compared.speed.median.ln(),
        }
    }

    fn blame(&mut self) -> Result<Blame, LabError> {
        let all: Vec<usize> = (0..self.target.offsets.len())
            .filter(|&order| self.target.offsets[order] > 0)
            .collect();
        let blocks = smallest(all, |sets| self.explaining(sets))?;
        let apart = match self.gain > 0.0 {
            true => self.apart(&blocks)?,
            false => None,
        };
        let together = apart.or_else(|| match blocks[..] {
            [one] => Some(self.target.offsets[one]),
            _ => None,
        });
        let partners = match together {
            Some(offset) => self.partners(&blocks, offset)?,
            None => Vec::new(),
        };
        let (explained, remedy) = self.confirmed(&blocks, apart)?;
        // What collides lies so where it is slow.
        let slow = match self.gain > 0.0 {
            true => Layout::default(),
            false => self.own(&blocks),
        };
        let slow = self.bench.run(&slow, false)?;
        Ok(Blame {
            compared: self.compared,
            cause: cause(&slow.blocks, &blocks, &partners, Caches::read()),
            blocks,
            partners,
            explained,
            remedy,
        })
    }

    /// These blocks moved as the target has them, all others as by default.
    fn own(&self, blocks: &[usize]) -> Layout {
        let mut offsets = vec![0; self.target.offsets.len()];
        blocks
            .iter()
            .for_each(|&order| offsets[order] = self.target.offsets[order]);
        Layout { offsets, stack: 0 }
    }

    /// These blocks moved alike.
    fn alike(&self, blocks: &[usize], offset: u64) -> Layout {
        let mut offsets = vec![0; self.target.offsets.len()];
        blocks.iter().for_each(|&order| offsets[order] = offset);
        Layout { offsets, stack: 0 }
    }

    /// Which share of the difference each layout makes.
    fn shares(&mut self, stage: &str, layouts: Vec<Layout>) -> Result<Vec<f64>, LabError> {
        let mut all = vec![Layout::default()];
        all.extend(layouts);
        let found = self.bench.compare(stage, &all, ROUNDS)?;
        Ok(found.samples[1..]
            .iter()
            .map(|speeds| share(speeds, &found.samples[0], self.gain))
            .collect())
    }

    /// The smallest set that explains the difference; the better one of two alike.
    fn explaining(&mut self, sets: &[Vec<usize>]) -> Result<Option<usize>, LabError> {
        let layouts = sets.iter().map(|set| self.own(set)).collect();
        let shares = self.shares("finding blocks", layouts)?;
        let able = (0..sets.len()).filter(|&set| shares[set] >= EXPLAINS);
        Ok(able.min_by(|&a, &b| {
            let size = sets[a].len().cmp(&sets[b].len());
            size.then(shares[b].total_cmp(&shares[a]))
        }))
    }

    /// The smallest distance that does it for all blocks alike.
    fn apart(&mut self, blocks: &[usize]) -> Result<Option<u64>, LabError> {
        let layouts = APART.map(|offset| self.alike(blocks, offset));
        let shares = self.shares("trying distances", layouts.to_vec())?;
        let first = shares.iter().position(|&share| share >= EXPLAINS);
        Ok(first.map(|at| APART[at]))
    }

    /// Blocks that undo the difference when they move along.
    fn partners(&mut self, blocks: &[usize], offset: u64) -> Result<Vec<usize>, LabError> {
        let others: Vec<usize> = (0..self.target.offsets.len())
            .filter(|order| !blocks.contains(order))
            .collect();
        let mut undoing = |sets: &[Vec<usize>]| -> Result<Option<usize>, LabError> {
            let with = |set: &Vec<usize>| self.alike(&[blocks, set].concat(), offset);
            let layouts = sets.iter().map(with).collect();
            let shares = self.shares("finding what they are too near to", layouts)?;
            let able = (0..sets.len()).filter(|&set| shares[set] <= UNDOES);
            Ok(able.min_by_key(|&set| sets[set].len()))
        };
        if others.is_empty() || undoing(std::slice::from_ref(&others))?.is_none() {
            return Ok(Vec::new());
        }
        smallest(others, undoing)
    }

    /// With as many rounds as decide: what the blocks explain, and whether the remedy works.
    fn confirmed(
        &mut self,
        blocks: &[usize],
        apart: Option<u64>,
    ) -> Result<(f64, Option<Remedy>), LabError> {
        let mut layouts = vec![Layout::default(), self.target.clone(), self.own(blocks)];
        layouts.extend(apart.map(|offset| self.alike(blocks, offset)));
        let rounds = self.bench.request.rounds;
        let found = self
            .bench
            .compare("checking the remedy", &layouts, rounds)?;
        let default = &found.samples[0];
        let gain = share(&found.samples[1], default, 1.0);
        let explained = share(&found.samples[2], default, gain);
        let remedy = (self.gain > 0.0).then(|| {
            let speeds = found.samples.last().unwrap_or(default);
            Remedy::checked(apart, speeds, default, found.noise.share())
        });
        Ok((explained, remedy.flatten()))
    }
}

/// The logarithm of how many times as fast, as a share of `gain`.
fn share(speeds: &Samples, default: &Samples, gain: f64) -> f64 {
    paired(speeds, default, |ours, default| (ours / default).ln()).median() / gain
}

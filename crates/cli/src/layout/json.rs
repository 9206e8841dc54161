//! An investigation as programs read it.

use lab::Ratio;
use lab::layout::{Block, Measured, Moved, Report};
use serde::Serialize;

use super::sentences::{findings, is_neutral};
use crate::build::VERSION;

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    version: &'static str,
    program: String,
    neutral: bool,
    measured: &'static str,
    default: Vec<f64>,
    default_median: f64,
    visible_share: f64,
    runs: usize,
    layouts: Vec<Layout>,
    blame: Option<Blame>,
    stack: u64,
    large_blocks: u64,
    blocks: Vec<NamedBlock>,
    findings: Vec<String>,
}

/// A layout against the default.
#[derive(Debug, Serialize)]
struct Layout {
    moved: &'static str,
    bytes: u64,
    speed: Speed,
    differs: bool,
}

/// How many times as fast.
#[derive(Debug, Serialize)]
struct Speed {
    median: f64,
    low: f64,
    high: f64,
}

#[derive(Debug, Serialize)]
struct Blame {
    blocks: Vec<usize>,
    partners: Vec<usize>,
    explained_share: f64,
    cause: &'static str,
    remedy: Option<Remedy>,
}

#[derive(Debug, Serialize)]
struct Remedy {
    apart_bytes: Option<u64>,
    speed: Speed,
    works: bool,
}

#[derive(Debug, Serialize)]
struct NamedBlock {
    order: usize,
    address: u64,
    bytes: u64,
    kind: &'static str,
    /// Of those that are blamed: looking up all would take long.
    site: Option<String>,
}

impl Found {
    pub(super) fn new(report: &Report) -> Self {
        let layouts = report.compared.iter().map(|compared| {
            let (moved, bytes) = match compared.moved {
                Moved::Blocks(offset) => ("blocks", offset),
                Moved::Stack(bytes) => ("stack", bytes as u64),
            };
            Layout {
                moved,
                bytes,
                speed: Speed::new(compared.speed),
                differs: compared.differs,
            }
        });
        let blocks = report.blocks.iter().map(|block| named(report, block));
        Self {
            version: VERSION,
            program: report.program.clone(),
            neutral: is_neutral(report),
            measured: match report.measured {
                Measured::Cpu => "cpu_ns",
                Measured::Wall => "wall_ns",
                Measured::Figure => "figure",
            },
            default: report.default.all().to_vec(),
            default_median: report.default.median(),
            visible_share: report.visible,
            runs: report.runs,
            layouts: layouts.collect(),
            blame: report.blame.as_ref().map(Blame::new),
            stack: report.stack,
            large_blocks: report.seen,
            blocks: blocks.collect(),
            findings: findings(report),
        }
    }
}

impl Speed {
    fn new(ratio: Ratio) -> Self {
        Self {
            median: ratio.median,
            low: ratio.low,
            high: ratio.high,
        }
    }
}

impl Blame {
    fn new(blame: &lab::layout::Blame) -> Self {
        Self {
            blocks: blame.blocks.clone(),
            partners: blame.partners.clone(),
            explained_share: blame.explained,
            cause: blame.cause.name(),
            remedy: blame.remedy.map(|remedy| Remedy {
                apart_bytes: remedy.apart_bytes,
                speed: Speed::new(remedy.speed),
                works: remedy.works,
            }),
        }
    }
}

fn named(report: &Report, block: &Block) -> NamedBlock {
    let blamed = report.blame.as_ref().is_some_and(|blame| {
        [&blame.blocks, &blame.partners]
            .iter()
            .any(|orders| orders.contains(&block.order))
    });
    NamedBlock {
        order: block.order,
        address: block.address,
        bytes: block.size,
        kind: block.kind.name(),
        site: blamed.then(|| block.site()).flatten(),
    }
}

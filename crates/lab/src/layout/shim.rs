//! The preloaded library, and the plan that it shares with us.
//!
//! Both are files in memory without a name: nothing is left behind, however a run ends. What the
//! plan has after a run was written by the program that ran: it is read as bytes, within bounds.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::fs::{MemfdFlags, memfd_create};

use super::block::{Block, BlockKind, Site};

/// Compiled by `build.rs` from `shim/layout.c`.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/layout.so"));
const MAGIC: u64 = 0x6c69_6e65_7261_746a;
/// Blocks that can be moved and recorded.
pub(super) const BLOCKS_MAX: usize = 1024;
/// Calls that lead to an allocation.
const FRAMES: usize = 12;
/// Words of the plan, as in `struct plan`: head, offsets, records.
const HEAD_WORDS: usize = 11;
const BLOCK_WORDS: usize = 4 + FRAMES;
const PLAN_WORDS: usize = HEAD_WORDS + BLOCKS_MAX + BLOCKS_MAX * BLOCK_WORDS;
/// Of the list of mappings.
const MAPPINGS_BYTES_MAX: u64 = 4 << 20;
/// Of what the program prints, from its end.
const PRINTED_BYTES_MAX: usize = 256 << 10;

/// Where things are to lie in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// By order of allocation, bytes; 0 beyond.
    pub(super) offsets: Vec<u64>,
    /// The stack lies this much lower, bytes.
    pub(super) stack: usize,
}

/// What came of one run.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    /// How it ended: none for success.
    pub(super) failure: Option<String>,
    /// The end of what it printed.
    pub(super) printed: String,
    /// From start to end.
    pub(super) wall_ns: f64,
    /// What it computed from before `main` to its end, all threads; none where it ended otherwise.
    pub(super) cpu_ns: Option<f64>,
    /// What programs that it started computed.
    pub(super) children_ns: f64,
    /// Whether the shim was there.
    pub(super) shimmed: bool,
    /// Whether addresses differ from run to run.
    pub(super) random: bool,
    /// Where the stack began.
    pub(super) stack: u64,
    /// Large allocations, more than are recorded perhaps.
    pub(super) seen: u64,
    /// Blocks that could not be moved for want of room.
    pub(super) kept: u64,
    /// In order.
    pub(super) blocks: Vec<Block>,
}

/// The library and the plan.
#[derive(Debug)]
pub(super) struct Shim {
    library: File,
    plan: File,
    from_bytes: u64,
}

impl Shim {
    pub(super) fn new(from_bytes: u64) -> io::Result<Self> {
        // Without the flag that closes it: the program that is started gets it.
        let make = |name| memfd_create(name, MemfdFlags::empty()).map(File::from);
        let mut library = make("linerate-layout")?;
        library.write_all(LIBRARY)?;
        Ok(Self {
            library,
            plan: make("linerate-plan")?,
            from_bytes,
        })
    }

    /// Runs the program once. With `stacks` its allocations get the calls that led to them.
    pub(super) fn run(
        &self,
        command: &[OsString],
        layout: &Layout,
        stacks: bool,
    ) -> io::Result<Ran> {
        self.write_plan(layout, stacks)?;
        let (mut printed, writer) = io::pipe()?;
        let mut child = self.command(command, layout);
        child.stdin(Stdio::null());
        child.stdout(writer.try_clone()?).stderr(writer);
        let begun = Instant::now();
        let mut child = {
            let started = child.spawn();
            // Its ends of the pipe go with it, or the pipe would never end.
            drop(child);
            started?
        };
        let printed = last_of(&mut printed);
        let status = child.wait()?;
        let wall_ns = begun.elapsed().as_nanos() as f64;
        let failure = (!status.success()).then(|| status.to_string());
        let mut ran = self.read_plan(stacks)?;
        (ran.failure, ran.printed, ran.wall_ns) = (failure, printed?, wall_ns);
        Ok(ran)
    }

    fn command(&self, command: &[OsString], layout: &Layout) -> Command {
        let (library, plan) = (self.library.as_raw_fd(), self.plan.as_raw_fd());
        let mut preload = OsString::from(format!("/proc/self/fd/{library}"));
        if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
            preload.push(":");
            preload.push(others);
        }
        let (program, arguments) = match command.split_first() {
            Some((program, arguments)) => (program.as_os_str(), arguments),
            None => (OsStr::new(""), command),
        };
        let mut child = Command::new(program);
        child.args(arguments).env("LD_PRELOAD", preload);
        child.env("LINERATE_LAYOUT", format!("{plan},{library}"));
        // The strings of the environment lie above the stack.
        child.env("LINERATE_STACK", "x".repeat(layout.stack));
        child
    }

    fn write_plan(&self, layout: &Layout, stacks: bool) -> io::Result<()> {
        let mut words = vec![0; PLAN_WORDS];
        words[..4].copy_from_slice(&[MAGIC, self.from_bytes, u64::from(stacks), 1]);
        for (word, &offset) in words[HEAD_WORDS..][..BLOCKS_MAX]
            .iter_mut()
            .zip(&layout.offsets)
        {
            *word = offset;
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.plan.set_len(bytes.len() as u64)?;
        self.plan.write_all_at(&bytes, 0)
    }

    fn read_plan(&self, stacks: bool) -> io::Result<Ran> {
        let mut bytes = vec![0; PLAN_WORDS * 8];
        self.plan.read_exact_at(&mut bytes, 0)?;
        let (words, _) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|&word| u64::from_ne_bytes(word)).collect();
        let head = |index: usize| words[index];
        let recorded = head(4).min(BLOCKS_MAX as u64) as usize;
        let mappings = if stacks {
            self.mappings()?
        } else {
            String::new()
        };
        let records = words[HEAD_WORDS + BLOCKS_MAX..].chunks_exact(BLOCK_WORDS);
        let block = |(order, words): (usize, &[u64])| Block {
            order,
            address: words[0],
            size: words[1],
            kind: BlockKind::of(words[2]),
            offset: words[3],
            sites: Site::of_all(&words[4..], &mappings),
        };
        Ok(Ran {
            failure: None,
            printed: String::new(),
            wall_ns: 0.0,
            cpu_ns: Some(head(7) as f64).filter(|&ns| ns > 0.0),
            children_ns: head(10) as f64,
            shimmed: head(5) == 1,
            random: head(8) != 0,
            stack: head(9),
            seen: head(4),
            kept: head(6),
            blocks: records.take(recorded).enumerate().map(block).collect(),
        })
    }

    /// As `/proc/PID/maps` had it when the program ended.
    fn mappings(&self) -> io::Result<String> {
        let start = PLAN_WORDS as u64 * 8;
        let length = self.plan.metadata()?.len().saturating_sub(start);
        let mut bytes = vec![0; length.min(MAPPINGS_BYTES_MAX) as usize];
        self.plan.read_exact_at(&mut bytes, start)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The end of what comes, in bounded memory.
fn last_of(reader: &mut impl Read) -> io::Result<String> {
    let mut kept = Vec::new();
    let mut piece = [0; 16 << 10];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(got) => kept.extend_from_slice(&piece[..got]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if kept.len() > 2 * PRINTED_BYTES_MAX {
            kept.drain(..kept.len() - PRINTED_BYTES_MAX);
        }
    }
    Ok(String::from_utf8_lossy(&kept).into_owned())
}

#[cfg(test)]
mod tests;

//! From runs to index, nodes and values.

use super::node::{self, CLASSES_MAX, Line, TWIG_CHANGES, Value};
use super::{NODE, Tree};
use crate::address::Address;
use crate::class::Classes;
use crate::compiled::CompileError;
use crate::flatten::Runs;
use crate::memory::copy_of;

/// The tree of `runs`; `None` when it has more different answers than values can name.
pub(super) fn tree<A: Address>(runs: &Runs<A>) -> Result<Option<Tree>, CompileError> {
    let mut interned = Classes::new();
    let classes: Vec<u32> = runs
        .masks
        .iter()
        .map(|&mask| interned.intern(mask))
        .collect();
    let masks = interned.into_masks();
    if masks.len() > CLASSES_MAX {
        return Ok(None);
    }
    let classes: Vec<u16> = classes.into_iter().map(|class| class as u16).collect();
    let mut builder = Builder {
        starts: &runs.starts,
        classes: &classes,
        lines: Vec::new(),
        values: Vec::new(),
    };
    let index = builder.index();
    Ok(Some(Tree {
        index: copy_of(&index)?,
        lines: copy_of(&builder.lines)?,
        values: copy_of(&builder.values)?,
        masks,
    }))
}

struct Builder<'a, A> {
    starts: &'a [A],
    classes: &'a [u16],
    lines: Vec<Line>,
    values: Vec<u16>,
}

/// A block of addresses and the runs that reach into it: `runs.0` holds at `first`; up to
/// `runs.1` (excluded) begin within it.
#[derive(Clone, Copy)]
struct Block<A> {
    first: A,
    runs: (usize, usize),
}

impl<A: Address> Builder<'_, A> {
    /// Fills the blocks between changes in one go; only blocks with a change need a look.
    fn index(&mut self) -> Vec<u32> {
        let mut index = vec![0; 1 << 16];
        let (mut at, mut done) = (0, 0);
        loop {
            let change = self
                .starts
                .get(at + 1)
                .map_or(1 << 16, |start| start.top16());
            index[done..change].fill(u32::from(self.classes[at]));
            if change == index.len() {
                return index;
            }
            let first = A::from_top16(change as u16);
            let block = self.block(first, first.last_in(16), at);
            index[change] = self.word(block);
            at = block.runs.1 - 1;
            done = change + 1;
        }
    }

    /// The index word of a block.
    fn word(&mut self, block: Block<A>) -> u32 {
        if block.is_plain() {
            return u32::from(self.classes[block.runs.0]);
        }
        let line = self.lines.len();
        self.lines.push([0; 8]);
        self.lines[line] = self.line(block, 2);
        NODE | line as u32
    }

    /// The runs within `first..=last`; the run at index `at` begins at or before `first`.
    fn block(&self, first: A, last: A, mut at: usize) -> Block<A> {
        while self.starts.get(at + 1).is_some_and(|&start| start <= first) {
            at += 1;
        }
        let mut end = at + 1;
        while self.starts.get(end).is_some_and(|&start| start <= last) {
            end += 1;
        }
        Block {
            first,
            runs: (at, end),
        }
    }

    /// The line of a block of `depth` bytes whose answer changes within.
    fn line(&mut self, block: Block<A>, depth: u32) -> Line {
        let (from, to) = block.runs;
        // In IPv4 a node ends after at most two bytes more and holds as many changes inline.
        if A::BITS == 128 && to - from - 1 <= TWIG_CHANGES {
            return node::twig(&self.starts[from + 1..to], &self.classes[from..to]);
        }
        let mut at = from;
        let mut children = Vec::new();
        let slots: [u16; 256] = std::array::from_fn(|slot| {
            let first = block.first.with_byte(depth, slot as u8);
            let inner = self.block(first, first.last_in((8 * depth + 8) as u8), at);
            at = inner.runs.1 - 1;
            if inner.is_plain() {
                return Value::Class(self.classes[inner.runs.0]).pack();
            }
            children.push(inner);
            Value::Child(children.len() as u16 - 1).pack()
        });
        let first_child = self.lines.len();
        self.lines.resize(first_child + children.len(), [0; 8]);
        for (index, &inner) in children.iter().enumerate() {
            self.lines[first_child + index] = self.line(inner, depth + 1);
        }
        node::node(&slots, first_child as u32, &mut self.values)
    }
}

impl<A> Block<A> {
    fn is_plain(&self) -> bool {
        self.runs.1 - self.runs.0 == 1
    }
}

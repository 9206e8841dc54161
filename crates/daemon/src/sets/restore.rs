//! From the journal at the start, and into its snapshots.

use super::claims::{Giver, Tag};
use super::clock::Now;
use super::name::SetName;
use super::refusal::Refusal;
use super::state::Sets;
use crate::journal::{Kept, KeptSet, KeptSets, Op, Operations, Pieces, deletion, kept_op};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use table::live::{Entry, Listing, Note};

/// Entries put back at a time.
const PIECE: usize = 1 << 16;

impl Sets {
    /// Puts back live actions; those that have ended are written to `journal`.
    pub(super) fn restore_actions(
        &mut self,
        kept: &KeptSets,
        ports: &[String],
        journal: &mut Operations,
    ) {
        for (name, kept) in &kept.sets {
            if let Ok(place) = self.place(name) {
                self.sets[place].restore_actions(kept, ports, journal);
            }
        }
    }

    /// Puts back all else that was kept. What is left is of sets that the configuration does not
    /// have.
    pub(super) fn restore_all(&mut self, kept: KeptSets, now: Now) -> Result<KeptSets, Refusal> {
        let mut left = KeptSets::default();
        for (name, kept) in kept.sets {
            match self.place(&name) {
                Ok(place) => {
                    self.restore_set(place, &kept, now)?;
                }
                Err(_) => {
                    left.sets.insert(name, kept);
                }
            }
        }
        self.renew_policy()?;
        Ok(left)
    }

    fn restore_set(&mut self, place: usize, kept: &KeptSet, now: Now) -> Result<(), Refusal> {
        self.sets[place].forced = kept.forced;
        self.sets[place].list.clone_from(&kept.list);
        let mut piece = Vec::new();
        for (&entry, kept) in &kept.entries {
            for kept in kept {
                if let Some((giver, note)) = note_of(kept, now) {
                    // Two claims of one entry meet only across pieces.
                    if kept_twice(&piece, entry) {
                        self.restore(place, &piece, now)?;
                        piece.clear();
                    }
                    piece.push((giver, entry, note));
                }
            }
            if piece.len() >= PIECE {
                self.restore(place, &piece, now)?;
                piece.clear();
            }
        }
        self.restore(place, &piece, now)
    }

    /// All that a snapshot needs, cheap to take and free to go to another thread.
    pub(super) fn kept(&self, left: &Arc<KeptSets>, now: Now) -> Keeping {
        let sets = self.sets.iter().enumerate();
        Keeping {
            sets: sets
                .map(|(place, set)| (set.name.clone(), set.ops(), self.live.listing(place)))
                .collect(),
            pairs: self.claims.pairs(),
            left: Arc::clone(left),
            now,
        }
    }
}

/// True when the last of a piece is about the same entry.
fn kept_twice(piece: &[(Giver, Entry, Note)], entry: Entry) -> bool {
    piece.last().is_some_and(|&(_, last, _)| last == entry)
}

fn note_of(kept: &Kept, now: Now) -> Option<(Giver, Note)> {
    let giver = Giver::from_code(kept.giver)?;
    let tag = Tag {
        giver,
        since_ms: kept.since_ms,
    };
    let ends = |expires_ms| now.end_of(kept.since_ms, expires_ms);
    let note = Note {
        expires: kept.expires_ms.map(ends),
        comment: kept.comment.clone(),
        tag: tag.word(),
    };
    Some((giver, note))
}

/// All dynamic entries at one moment.
#[derive(Debug)]
pub(super) struct Keeping {
    sets: Vec<(SetName, Vec<Op>, Listing)>,
    pairs: HashMap<(usize, Entry), [Note; 2]>,
    left: Arc<KeptSets>,
    now: Now,
}

impl Keeping {
    /// Tells all of it, some thousand operations at a time.
    pub(super) fn write(
        &self,
        tell: &mut dyn FnMut(&Operations) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut pieces = Pieces::new(tell);
        for (place, (name, ops, listing)) in self.sets.iter().enumerate() {
            ops.iter().try_for_each(|op| pieces.push(name, op))?;
            if ops.iter().any(|op| matches!(op, Op::List { .. })) {
                let mut removed = listing.removed();
                removed.try_for_each(|entry| pieces.push(name, &deletion(entry)))?;
            }
            for (entry, note) in listing.dynamic() {
                let pair = self.pairs.get(&(place, entry));
                let notes = pair.map_or(std::slice::from_ref(&note), |pair| &pair[..]);
                for op in notes.iter().filter_map(|note| self.op(entry, note)) {
                    pieces.push(name, &op)?;
                }
            }
        }
        self.left.write(&mut pieces)?;
        pieces.finish()
    }

    fn op(&self, entry: Entry, note: &Note) -> Option<Op> {
        let Tag { giver, since_ms } = Tag::of(note.tag)?;
        let kept = Kept {
            giver: giver as u8,
            since_ms,
            expires_ms: note.expires.map(|expires| self.now.wall_of(expires)),
            comment: note.comment.clone(),
        };
        Some(kept_op(entry, kept))
    }
}

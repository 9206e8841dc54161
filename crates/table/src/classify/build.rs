//! How a classifier is made: the classes of each field, within bounds of memory.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::bitmap::{Bitmaps, Dense};
use super::lookup::{Classes, Column};
use super::ranges::by_field;
use super::{Classifier, ENTRIES_MAX, Entry, Field, Values};

/// Memory of a classifier, at most.
const BYTES_MAX: usize = 256 << 20;
/// Words that are compared while classes are made, at most: some seconds.
const WORK_MAX: usize = 1 << 30;
/// Fields that have all their values in one array have no more than these.
const DIRECT_MAX: u128 = 65_535;

/// Why no classifier was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// More rules, with jumps resolved, than [`ENTRIES_MAX`].
    Entries(usize),
    /// The bitmaps take more memory than is allowed, in bytes.
    Bytes(usize),
    /// The classes take more steps to make than are allowed.
    Work(usize),
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entries(entries) => write!(
                f,
                "{entries} rules with jumps resolved, and there may be {ENTRIES_MAX}: jump to \
                 long lists from fewer rules"
            ),
            Self::Bytes(bytes) => write!(
                f,
                "the rules take more than {bytes} bytes, and {BYTES_MAX} are allowed: put \
                 addresses that share an action into a set"
            ),
            Self::Work(steps) => write!(
                f,
                "the rules take {steps} steps to classify, and {WORK_MAX} are allowed: put \
                 addresses that share an action into a set"
            ),
        }
    }
}

impl std::error::Error for TooLarge {}

/// The values of one field, by the number of the rule that has them.
type FieldRules = Vec<(usize, Values)>;

/// A classifier in the making.
struct Build {
    len: usize,
    bitmaps: Bitmaps,
    known: HashMap<Dense, u32>,
    work: usize,
}

impl Classifier {
    /// A classifier of these rules.
    ///
    /// # Errors
    ///
    /// They take more memory or time than is allowed.
    pub fn new(entries: &[Entry]) -> Result<Self, TooLarge> {
        if entries.len() > ENTRIES_MAX {
            return Err(TooLarge::Entries(entries.len()));
        }
        let mut build = Build {
            len: entries.len(),
            bitmaps: Bitmaps::new(entries.len()),
            known: HashMap::new(),
            work: 0,
        };
        let mut possible = Dense::empty(entries.len());
        let mut fields: BTreeMap<Field, FieldRules> = BTreeMap::new();
        for (number, entry) in entries.iter().enumerate() {
            let Some(conditions) = by_field(entry) else {
                continue;
            };
            possible.set(number, true);
            for (field, values) in conditions {
                fields.entry(field).or_default().push((number, values));
            }
        }
        let base = build.number(&possible)?;
        let columns = fields.iter().map(|(&field, rules)| {
            let column = build.column(field, rules, &possible);
            build.known.clear();
            column
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            columns,
            bitmaps: build.bitmaps,
            base,
        })
    }
}

impl Build {
    fn column(
        &mut self,
        field: Field,
        rules: &FieldRules,
        possible: &Dense,
    ) -> Result<Column, TooLarge> {
        let mut any = possible.clone();
        rules.iter().for_each(|&(rule, _)| any.set(rule, false));
        let absent = self.number(&any)?;
        let (starts, classes) = self.cut(rules, any, field.value_max())?;
        let classes = match field.value_max() {
            max if max <= DIRECT_MAX => Classes::Direct(spread(&starts, &classes, max as usize)),
            max if max <= u128::from(u32::MAX) => Classes::narrow(&starts, classes),
            _ => Classes::Wide(starts, classes),
        };
        Ok(Column {
            field,
            classes,
            absent,
        })
    }

    /// Cuts a field into intervals; the first value of each and the number of its bitmap.
    fn cut(
        &mut self,
        rules: &FieldRules,
        mut now: Dense,
        max: u128,
    ) -> Result<(Vec<u128>, Vec<u32>), TooLarge> {
        let mut changes: Vec<(u128, usize, bool)> = Vec::new();
        for (rule, values) in rules {
            for &(first, last) in values {
                changes.push((first, *rule, true));
                if last < max {
                    changes.push((last + 1, *rule, false));
                }
            }
        }
        changes.sort_unstable();
        let (mut starts, mut classes) = (vec![0], vec![]);
        let groups = changes.chunk_by(|left, right| left.0 == right.0);
        for group in groups {
            if group[0].0 != 0 {
                classes.push(self.number(&now)?);
                starts.push(group[0].0);
            }
            // Ranges of one rule do not touch, so that it does not begin and end at one value.
            group.iter().for_each(|&(_, rule, to)| now.set(rule, to));
        }
        classes.push(self.number(&now)?);
        Ok((starts, classes))
    }

    /// The number of a bitmap.
    fn number(&mut self, dense: &Dense) -> Result<u32, TooLarge> {
        self.work += dense.0.len() + 1;
        if self.work > WORK_MAX {
            return Err(TooLarge::Work(self.work));
        }
        if let Some(&number) = self.known.get(dense) {
            return Ok(number);
        }
        let number = self.bitmaps.push(dense);
        let kept = self.known.len() * self.len.div_ceil(8);
        let bytes = self.bitmaps.bytes() + kept;
        if bytes > BYTES_MAX {
            return Err(TooLarge::Bytes(bytes));
        }
        self.known.insert(dense.clone(), number);
        Ok(number)
    }
}

/// The class of every value.
fn spread(starts: &[u128], classes: &[u32], max: usize) -> Vec<u32> {
    let mut all = Vec::with_capacity(max + 1);
    for (at, &class) in classes.iter().enumerate() {
        let end = starts.get(at + 1).map_or(max + 1, |&next| next as usize);
        all.resize(end, class);
    }
    all
}

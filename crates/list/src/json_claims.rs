//! What a JSON text says of how much of it there is: that it has so many records, or that there are
//! more elsewhere. A list that says so and has fewer was cut off, or is one page of several.
//!
//! What an object says is about the arrays below it, or about those beside it where it has no
//! entries of its own (`meta`, `pagination`). An element of an array speaks for itself alone: what
//! it says may count something else, and is a reason to warn.

use crate::json_key::words_of;
use crate::json_scalar::Scalar;
use std::fmt;

/// Claims that are kept of one text.
const CLAIMS_MAX: usize = 64;

/// What stands before or behind the name of what is counted.
const NUMBERS: [&str; 5] = ["total", "count", "numberof", "number", "num"];
/// Names of what a list has.
const RECORDS: [&str; 10] = [
    "cidrs", "elements", "entries", "found", "items", "networks", "objects", "prefixes", "records",
    "results",
];
/// Names of what may be bytes, or single addresses.
const SIZES: [&str; 8] = [
    "addresses",
    "bytes",
    "hosts",
    "ips",
    "length",
    "lines",
    "rows",
    "size",
];

/// True where there is more.
const MORE: [&str; 13] = [
    "hasmore",
    "hasmoreitems",
    "hasmoreresults",
    "hasnext",
    "hasnextpage",
    "incomplete",
    "incompleteresults",
    "istruncated",
    "more",
    "moreavailable",
    "moreresults",
    "partial",
    "truncated",
];
/// False where there is more.
const WHOLE: [&str; 5] = ["complete", "iscomplete", "islast", "islastpage", "lastpage"];
/// Leads to the next part.
const NEXT: [&str; 13] = [
    "next",
    "nextcursor",
    "nexthref",
    "nextkey",
    "nextlink",
    "nextmarker",
    "nextoffset",
    "nextpage",
    "nextpagetoken",
    "nexttoken",
    "nexturi",
    "nexturl",
    "odatanextlink",
];
/// A number of pages, of which a text is one.
const PAGES: [&str; 5] = ["lastpage", "numpages", "pagecount", "pages", "totalpages"];

/// What one key says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// There are so many records.
    Records(u64),
    /// There are so many of something that may be records.
    Size(u64),
    /// More is elsewhere.
    More,
}

/// What a text says of itself.
#[derive(Clone, Debug)]
struct Claim {
    says: Says,
    /// The key with its value, as in `total: 500`.
    shown: String,
}

/// How much there is of what claims may be about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extents {
    /// Elements of the longest array that is in no other one.
    pub(crate) longest: u64,
    /// Elements of all arrays.
    pub(crate) elements: u64,
    /// Texts that are entries.
    pub(crate) entries: u64,
}

/// What objects say that are not judged yet, in the order of the text.
#[derive(Default)]
pub(crate) struct Claims(Vec<Claim>);

/// What lines say that are no records: how many records there are.
#[derive(Default)]
pub(crate) struct Announced {
    counted: Option<Counted>,
    /// What is said beside, and the number of that.
    other: Option<(String, Option<u64>)>,
}

/// Numbers of records, of all lines that tell one.
struct Counted {
    /// The first.
    claim: String,
    sum: u64,
    least: u64,
    greatest: u64,
}

/// A list that has less than it says, or may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// What it says: a key and its value, made printable.
    claim: String,
    /// How many records it announces, where it does.
    announced: Option<u64>,
    /// How many were read.
    read: u64,
    /// What it says may be about something else.
    is_doubtful: bool,
}

impl Says {
    fn of(key: &str, value: &Scalar<'_>) -> Option<Self> {
        let all = words_of(key).concat();
        let is = |keys: &[&str]| keys.contains(&all.as_str());
        let more = match value {
            Scalar::Whole(0) => false,
            Scalar::Whole(number) if is(&PAGES) => *number > 1,
            Scalar::Whole(_) => is(&MORE) || is(&NEXT),
            Scalar::Other(text) => (text == "true" && is(&MORE)) || (text == "false" && is(&WHOLE)),
            Scalar::Text(text) => {
                let text = text.trim();
                let is_said = |word: &str| text.eq_ignore_ascii_case(word);
                let is_empty =
                    text.is_empty() || ["null", "none", "false"].iter().any(|of| is_said(of));
                (is(&NEXT) && !is_empty) || (is(&MORE) && is_said("true"))
            }
            Scalar::Several => is(&NEXT),
            Scalar::Null => false,
        };
        match value {
            _ if more => Some(Self::More),
            Scalar::Whole(number) => Self::of_number(&all, *number),
            _ => None,
        }
    }

    /// What a number says under a key, which is in small letters without marks.
    fn of_number(key: &str, number: u64) -> Option<Self> {
        let mut name = key;
        while let Some(rest) = NUMBERS
            .iter()
            .find_map(|of| name.strip_prefix(of).or(name.strip_suffix(of)))
        {
            name = rest;
        }
        let is_one = |of: &&str| of.strip_suffix("s") == Some(name);
        let is_record = RECORDS.contains(&name)
            || (name != key && (RECORDS.iter().any(is_one) || matches!(name, "entry" | "prefix")));
        if matches!(key, "number" | "num" | "numberof") {
            None
        } else if name.is_empty() || is_record {
            Some(Self::Records(number))
        } else {
            SIZES.contains(&name).then_some(Self::Size(number))
        }
    }
}

impl Claims {
    /// How many there are: where those of an object begin.
    pub(crate) fn mark(&self) -> usize {
        self.0.len()
    }

    /// Sees a field of an object.
    pub(crate) fn see(&mut self, key: &str, value: &Scalar<'_>) {
        if self.0.len() < CLAIMS_MAX
            && let Some(says) = Says::of(key, value)
        {
            let key = crate::excerpt::of(key.as_bytes());
            let value = match value {
                Scalar::Text(text) => format!("\"{}\"", crate::excerpt::of(text.as_bytes())),
                Scalar::Whole(number) => number.to_string(),
                Scalar::Other(text) => text.clone(),
                Scalar::Null | Scalar::Several => "...".to_owned(),
            };
            let shown = format!("{key}: {value}");
            self.0.push(Claim { says, shown });
        }
    }

    /// Forgets those behind `mark`: they are about something else.
    pub(crate) fn forget(&mut self, mark: usize) {
        self.0.truncate(mark);
    }

    /// Takes those behind `mark`; the first that there is less than it says. Where they are
    /// `doubtful`, they may be about something else.
    pub(crate) fn judge(
        &mut self,
        mark: usize,
        found: Extents,
        doubtful: bool,
    ) -> Option<Incomplete> {
        let claims = self.0.split_off(mark.min(self.0.len()));
        let is_counted = claims
            .iter()
            .any(|claim| matches!(claim.says, Says::Records(_)));
        let faults = claims.into_iter().filter_map(|claim| {
            let (announced, is_size) = match claim.says {
                Says::Records(count) => (Some(count), false),
                Says::Size(_) if is_counted => return None,
                Says::Size(count) => (Some(count), true),
                Says::More => (None, false),
            };
            if announced.is_some_and(|count| found.has(count)) {
                return None;
            }
            Some(Incomplete {
                claim: claim.shown,
                announced,
                read: found.records(),
                is_doubtful: doubtful || is_size,
            })
        });
        faults.min_by_key(|fault| fault.is_doubtful)
    }
}

impl Extents {
    /// Records, by the one measure that tells most.
    fn records(self) -> u64 {
        match self.longest {
            0 => self.entries,
            longest => longest,
        }
    }

    /// Whether `count` records are no more than there are, by any measure that fits.
    fn has(self, count: u64) -> bool {
        count <= self.records() || count == self.entries || count == self.elements
    }

    /// What came since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            longest: self.longest,
            elements: self.elements - before.elements,
            entries: self.entries - before.entries,
        }
    }
}

impl Announced {
    /// Takes what a line says that is no record.
    pub(crate) fn add(&mut self, claims: Claims) {
        let count = claims.0.iter().find_map(|claim| match claim.says {
            Says::Records(count) => Some((count, claim)),
            _ => None,
        });
        if let Some((count, claim)) = count {
            let counted = self.counted.get_or_insert_with(|| Counted {
                claim: claim.shown.clone(),
                sum: 0,
                least: count,
                greatest: count,
            });
            counted.sum = counted.sum.saturating_add(count);
            counted.least = counted.least.min(count);
            counted.greatest = counted.greatest.max(count);
        }
        let is_counted = count.is_some();
        let others = claims.0.into_iter().find_map(|claim| match claim.says {
            Says::Records(_) => None,
            Says::Size(_) if is_counted => None,
            Says::Size(size) => Some((claim.shown, Some(size))),
            Says::More => Some((claim.shown, None)),
        });
        self.other = self.other.take().or(others);
    }

    /// What is wrong where `read` records were read. Files that were joined have a line each; one
    /// that has a line at either end says the same twice.
    pub(crate) fn judge(self, read: u64) -> Option<Incomplete> {
        let fault = |claim, announced, is_doubtful| Incomplete {
            claim,
            announced,
            read,
            is_doubtful,
        };
        let is_right = |of: &Counted| of.sum == read || (of.least, of.greatest) == (read, read);
        match (self.counted.filter(|of| !is_right(of)), self.other) {
            (Some(of), _) => Some(fault(of.claim, Some(of.sum), of.sum < read)),
            (None, Some((claim, None))) => Some(fault(claim, None, false)),
            (None, Some((claim, Some(size)))) if size > read => {
                Some(fault(claim, Some(size), true))
            }
            _ => None,
        }
    }
}

impl Incomplete {
    /// Whether it may have all, since what it says may be about something else.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { claim, read, .. } = self;
        let records = if *read == 1 { "1 record was" } else { "" };
        match self.announced {
            Some(count) => write!(f, "announces {count} records ({claim}), and ")?,
            None => write!(f, "says that there is more of it ({claim}), and ")?,
        }
        match records {
            "" => write!(f, "{read} records were read"),
            one => write!(f, "{one} read"),
        }
    }
}

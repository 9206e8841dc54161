//! What a cache makes of a list of addresses: sets, ways and aliases, by arithmetic alone.

use std::collections::HashMap;
use std::str::FromStr;

use crate::caches::{self, Cache};

/// Lines that are counted at most: 1 GiB of memory by lines of 64 bytes.
pub const LINES_MAX: u64 = 1 << 24;
/// Addresses are below this, as those of user space are.
const ADDRESS_MAX: u64 = 1 << 56;

/// Objects at a fixed distance: `BASE:STRIDE:COUNT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Address of the first.
    pub base: u64,
    /// From one to the next.
    pub stride_bytes: u64,
    /// How many.
    pub count: u64,
}

impl FromStr for Stream {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<Option<u64>> = text.split(':').map(caches::size).collect();
        let [Some(base), Some(stride_bytes), Some(count)] = parts[..] else {
            return Err(format!(
                "'{text}' is no BASE:STRIDE:COUNT, as in 0:2048:512 or 0x7f0000001000:4K:16"
            ));
        };
        if count == 0 || count > LINES_MAX {
            return Err(format!(
                "'{text}' has {count} addresses: 1 to {LINES_MAX} can be checked"
            ));
        }
        let span = stride_bytes.checked_mul(count - 1);
        let end = span.and_then(|span| span.checked_add(base));
        if end.is_none_or(|end| end >= ADDRESS_MAX) {
            return Err(format!(
                "'{text}' ends above 2^56: no address of a program is there"
            ));
        }
        Ok(Self {
            base,
            stride_bytes,
            count,
        })
    }
}

impl Stream {
    /// Each address.
    pub fn addresses(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |index| self.base + index * self.stride_bytes)
    }
}

/// How one cache takes all lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The cache.
    pub cache: Cache,
    /// Different lines that are touched.
    pub lines: u64,
    /// Sets that they fall into.
    pub sets_used: u64,
    /// Most lines in one set.
    pub lines_a_set_max: u64,
    /// Lines beyond the ways of their sets: they cannot be there at the same time.
    pub lines_beyond: u64,
}

impl Fit {
    /// What cannot be kept for want of room, however the lines are spread.
    #[must_use]
    pub fn beyond_capacity(&self) -> u64 {
        self.lines.saturating_sub(self.cache.lines())
    }

    /// Whether spreading the lines better would keep more of them.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.lines_beyond > self.beyond_capacity()
    }
}

/// Addresses that are equal modulo some power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aliases {
    /// The power of two, bytes.
    pub distance_bytes: u64,
    /// Objects that share their offset with another one.
    pub objects: u64,
    /// The largest number that share one.
    pub group_max: u64,
    /// That offset.
    pub offset: u64,
}

/// The lines that objects of `bytes` bytes touch, each once, in order.
///
/// # Errors
/// More than [`LINES_MAX`] lines, as a sentence.
pub fn lines(streams: &[Stream], bytes: u64, line_bytes: u64) -> Result<Vec<u64>, String> {
    let each = bytes.max(1).div_ceil(line_bytes).saturating_add(1);
    let objects: u64 = streams.iter().map(|stream| stream.count).sum();
    if objects.saturating_mul(each) > 2 * LINES_MAX {
        return Err(format!(
            "{objects} objects of {bytes} bytes touch more than {LINES_MAX} lines: check fewer, \
             the pattern repeats"
        ));
    }
    let mut lines = Vec::new();
    for stream in streams {
        for address in stream.addresses() {
            let last = (address + bytes.max(1) - 1) / line_bytes;
            lines.extend(address / line_bytes..=last);
        }
    }
    lines.sort_unstable();
    lines.dedup();
    Ok(lines)
}

/// How the cache takes these lines, where sets are chosen by the low bits of line numbers.
#[must_use]
pub fn fit(cache: Cache, lines: &[u64]) -> Fit {
    let mut sets: HashMap<u64, u64> = HashMap::new();
    for line in lines {
        *sets.entry(line % cache.sets).or_default() += 1;
    }
    Fit {
        cache,
        lines: lines.len() as u64,
        sets_used: sets.len() as u64,
        lines_a_set_max: sets.values().copied().max().unwrap_or(0),
        lines_beyond: sets
            .values()
            .map(|lines| lines.saturating_sub(cache.ways))
            .sum(),
    }
}

/// Objects whose addresses are equal modulo `distance_bytes`.
#[must_use]
pub fn aliases(streams: &[Stream], distance_bytes: u64) -> Aliases {
    let mut offsets: HashMap<u64, u64> = HashMap::new();
    for stream in streams {
        for address in stream.addresses() {
            *offsets.entry(address % distance_bytes).or_default() += 1;
        }
    }
    let shared = offsets.iter().filter(|&(_, &count)| count > 1);
    // The lowest offset of the most crowded: a map has no order of its own.
    let most = shared
        .clone()
        .max_by_key(|&(&offset, &count)| (count, u64::MAX - offset));
    Aliases {
        distance_bytes,
        objects: shared.map(|(_, count)| count).sum(),
        group_max: most.map_or(1, |(_, &count)| count),
        offset: most.map_or(0, |(&offset, _)| offset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const L1: Cache = Cache {
        sets: 64,
        ways: 8,
        line_bytes: 64,
    };

    fn streams(texts: &[&str]) -> Vec<Stream> {
        let parsed = texts.iter().map(|text| text.parse().expect(text));
        parsed.collect()
    }

    /// Each column by hand: sets used, most lines in one, lines beyond the ways.
    #[test]
    fn sets_and_ways() {
        for (texts, bytes, lines_used, expected) in [
            (&["0:64:512"][..], 64, 512, (64, 8, 0)),
            (&["0:64:513"], 64, 513, (64, 9, 1)),
            (&["0:4096:8"], 64, 8, (1, 8, 0)),
            (&["0:4096:16"], 64, 16, (1, 16, 8)),
            (&["0:2048:512"], 64, 512, (2, 256, 496)),
            (&["0:2112:512"], 64, 512, (64, 8, 0)),
            (&["0:4K:8", "1M:4K:8"], 64, 16, (1, 16, 8)),
            (&["0:4K:8", "0x100040:4K:8"], 64, 16, (2, 8, 0)),
            // The same lines named twice are there once.
            (&["0:64:4", "0:64:4"], 64, 4, (4, 1, 0)),
            // One byte over the end of a line touches the next.
            (&["60:4096:4"], 8, 8, (2, 4, 0)),
            (&["0:0:100"], 64, 1, (1, 1, 0)),
        ] {
            let lines = lines(&streams(texts), bytes, 64).expect("few");
            let fit = fit(L1, &lines);
            assert_eq!(fit.lines, lines_used, "{texts:?}");
            let found = (fit.sets_used, fit.lines_a_set_max, fit.lines_beyond);
            assert_eq!(found, expected, "{texts:?}");
        }
    }

    #[test]
    fn crowded_is_more_than_too_many() {
        for (text, crowded, beyond) in [
            ("0:64:512", false, 0),
            ("0:64:1024", false, 512),
            ("0:4096:9", true, 0),
            ("0:128:1024", true, 512),
        ] {
            let lines = lines(&streams(&[text]), 64, 64).expect("few");
            let fit = fit(L1, &lines);
            assert_eq!(
                (fit.is_crowded(), fit.beyond_capacity()),
                (crowded, beyond),
                "{text}"
            );
        }
    }

    #[test]
    fn equal_offsets() {
        for (texts, distance, objects, group, offset) in [
            (&["0:4096:16"][..], 4096, 16, 16, 0),
            (&["16:2048:8"], 4096, 8, 4, 16),
            (&["0:64:64"], 4096, 0, 1, 0),
            (&["0:64:65"], 4096, 2, 2, 0),
            (&["0:4096:16"], 65536, 0, 1, 0),
            (&["0:4096:32"], 65536, 32, 2, 0),
            (&["0x10:0:1", "0x5010:0:1"], 4096, 2, 2, 16),
        ] {
            let found = aliases(&streams(texts), distance);
            assert_eq!(
                (found.objects, found.group_max, found.offset),
                (objects, group, offset),
                "{texts:?}"
            );
        }
    }

    #[test]
    fn streams_that_are_none() {
        for (text, reason) in [
            ("", "is no BASE:STRIDE:COUNT"),
            ("0:64", "is no BASE:STRIDE:COUNT"),
            ("0:64:1:1", "is no BASE:STRIDE:COUNT"),
            ("0:-64:1", "is no BASE:STRIDE:COUNT"),
            ("x:64:1", "is no BASE:STRIDE:COUNT"),
            ("0:64:0", "has 0 addresses"),
            ("0:64:1G", "has 1073741824 addresses"),
            ("0:0xffffffffffffffff:3", "ends above"),
            ("0xffffffffffffffff:1:1", "ends above"),
        ] {
            let refused = text.parse::<Stream>().expect_err(text);
            assert!(refused.contains(reason), "{text}: {refused}");
        }
        let many = streams(&["0:64:16M"]);
        let refused = lines(&many, 1 << 20, 64).expect_err("too many");
        assert!(refused.contains("check fewer"), "{refused}");
        assert!(lines(&many, u64::MAX, 64).is_err());
    }
}

//! How many lines a cache holds and which set an address goes to, by arithmetic.

use std::fs;
use std::str::FromStr;

const LINE_BYTES: u64 = 64;
/// A cache of more is a slip of the pen.
const BYTES_MAX: u64 = 1 << 40;

/// A cache: `sets` indexes an address can have, `ways` lines in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Sets.
    pub sets: u64,
    /// Lines a set.
    pub ways: u64,
    /// Bytes a line.
    pub line_bytes: u64,
}

/// Data caches by level; none where the kernel does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// L1, of data.
    pub first: Option<Cache>,
    /// L2.
    pub second: Option<Cache>,
    /// L3.
    pub third: Option<Cache>,
}

impl Caches {
    /// Asks the kernel about the first CPU.
    #[must_use]
    pub fn read() -> Self {
        let mut caches = Self::default();
        for index in 0..8 {
            let field = |name: &str| {
                let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
                fs::read_to_string(path).map(|text| text.trim().to_owned())
            };
            let number = |name: &str| field(name).ok()?.parse::<u64>().ok();
            let (Some(sets), Some(ways)) =
                (number("number_of_sets"), number("ways_of_associativity"))
            else {
                continue;
            };
            if sets == 0 || ways == 0 {
                continue;
            }
            let line_bytes = number("coherency_line_size").unwrap_or(LINE_BYTES);
            let cache = Some(Cache {
                sets,
                ways,
                line_bytes: line_bytes.max(1),
            });
            let instructions = field("type").is_ok_and(|kind| kind == "Instruction");
            match number("level") {
                Some(1) if !instructions => caches.first = cache,
                Some(2) => caches.second = cache,
                Some(3) => caches.third = cache,
                _ => {}
            }
        }
        caches
    }
}

impl Cache {
    /// Lines it holds.
    #[must_use]
    pub fn lines(self) -> u64 {
        self.sets * self.ways
    }

    /// Bytes it holds.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.lines() * self.line_bytes
    }

    /// The set of an address, where sets are chosen by the low bits of line numbers.
    #[must_use]
    pub fn set(self, address: u64) -> u64 {
        address / self.line_bytes % self.sets
    }

    /// How many headers stay here at most when frames are this far apart: the line numbers of
    /// headers step by the stride's lines, so they meet `sets / gcd(lines, sets)` of the sets.
    pub(crate) fn frames(self, stride_bytes: u64) -> u64 {
        sets_used(stride_bytes, self.sets) * self.ways
    }
}

/// `SIZE/WAYS/LINE`, as in `32K/8/64`; the line may be left out.
impl FromStr for Cache {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is no cache: write SIZE/WAYS/LINE, as in 32K/8/64");
        let mut parts = text.split('/');
        let mut part = || parts.next().map(|part| size(part).ok_or_else(wrong));
        let bytes = part().ok_or_else(wrong)??;
        let ways = part().ok_or_else(wrong)??;
        let line_bytes = part().transpose()?.unwrap_or(LINE_BYTES);
        if parts.next().is_some() || ways == 0 || !line_bytes.is_power_of_two() {
            return Err(wrong());
        }
        if bytes > BYTES_MAX {
            return Err(format!("'{text}' has more than 1 TiB: no cache has"));
        }
        let a_way = ways.checked_mul(line_bytes).ok_or_else(wrong)?;
        if bytes == 0 || bytes % a_way != 0 {
            return Err(format!(
                "'{text}' has no whole number of sets: SIZE must be a multiple of WAYS times LINE"
            ));
        }
        Ok(Self {
            sets: bytes / a_way,
            ways,
            line_bytes,
        })
    }
}

/// A number of bytes: decimal with `K`, `M` or `G` behind it, or hexadecimal with `0x` before it.
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return plain(digits, 16);
    }
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    plain(digits, 10)?.checked_mul(1 << shift)
}

/// Digits alone: `from_str_radix` takes a sign, too.
fn plain(digits: &str, radix: u32) -> Option<u64> {
    let all_digits = digits.chars().all(|digit| digit.is_digit(radix));
    (all_digits && !digits.is_empty())
        .then(|| u64::from_str_radix(digits, radix).ok())
        .flatten()
}

/// Sets that headers at this distance fall into.
pub(crate) fn sets_used(stride_bytes: u64, sets: u64) -> u64 {
    let (mut a, mut b) = (stride_bytes / LINE_BYTES, sets);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    sets / a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_strides_use_every_set() {
        let used = [1920, 1984, 2048, 2112, 4096].map(|stride| sets_used(stride, 64));
        assert_eq!(used, [32, 64, 2, 64, 1]);
        let second = Cache {
            sets: 1024,
            ways: 16,
            line_bytes: 64,
        };
        assert_eq!((second.frames(2048), second.frames(2112)), (512, 16_384));
    }

    #[test]
    fn the_kernel_may_say_nothing() {
        let caches = Caches::read();
        for cache in [caches.first, caches.second, caches.third]
            .into_iter()
            .flatten()
        {
            assert!(cache.sets > 0 && cache.ways > 0 && cache.line_bytes > 0);
        }
    }

    #[test]
    fn caches_as_they_are_written() {
        for (text, sets, ways, line_bytes) in [
            ("32K/8/64", 64, 8, 64),
            ("32768/8", 64, 8, 64),
            ("0x8000/8/64", 64, 8, 64),
            ("1M/16/64", 1024, 16, 64),
            ("36M/12/64", 49_152, 12, 64),
            ("64k/4/128", 128, 4, 128),
        ] {
            let cache: Cache = text.parse().expect(text);
            assert_eq!(
                (cache.sets, cache.ways, cache.line_bytes),
                (sets, ways, line_bytes),
                "{text}"
            );
        }
        for (text, reason) in [
            ("", "write SIZE/WAYS/LINE"),
            ("32K", "write SIZE/WAYS/LINE"),
            ("32K/0/64", "write SIZE/WAYS/LINE"),
            ("32K/8/0", "write SIZE/WAYS/LINE"),
            ("32K/8/48", "write SIZE/WAYS/LINE"),
            ("32K/8/64/1", "write SIZE/WAYS/LINE"),
            ("-1/8/64", "write SIZE/WAYS/LINE"),
            ("+32K/8/64", "write SIZE/WAYS/LINE"),
            ("32K/18446744073709551615/64", "write SIZE/WAYS/LINE"),
            ("99999999999G/8/64", "write SIZE/WAYS/LINE"),
            ("2048G/8/64", "more than 1 TiB"),
            ("0/8/64", "no whole number of sets"),
            ("1000/8/64", "no whole number of sets"),
        ] {
            let refused = text.parse::<Cache>().expect_err(text);
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("4096", Some(4096)),
            ("4k", Some(4096)),
            ("0x10", Some(16)),
            ("2M", Some(2 << 20)),
            ("1G", Some(1 << 30)),
            ("", None),
            ("K", None),
            ("0x", None),
            ("1T", None),
            ("+1", None),
            ("18446744073709551615K", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }
}

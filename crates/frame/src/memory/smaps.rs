//! What pages a mapping is really in, from `/proc/self/smaps`.

use std::{
    fs::File,
    io::{BufRead, BufReader},
};

/// Bytes of the mapping that holds `address` which are in transparent huge pages; `None` when the
/// kernel does not say. Reads up to the mapping and no further.
pub(super) fn anonymous_huge_bytes(address: usize) -> Option<u64> {
    if cfg!(miri) {
        return None;
    }
    find(
        BufReader::new(File::open("/proc/self/smaps").ok()?),
        address,
    )
}

fn find(smaps: impl BufRead, address: usize) -> Option<u64> {
    let mut inside = false;
    for line in smaps.lines() {
        let line = line.ok()?;
        if let Some(range) = range(&line) {
            inside = range.contains(&address);
        } else if inside && let Some(size) = line.strip_prefix("AnonHugePages:") {
            let kib: u64 = size.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
            return kib.checked_mul(1024);
        }
    }
    None
}

/// The head of a mapping: `7f0000000000-7f0000200000 rw-p ...`.
fn range(line: &str) -> Option<core::ops::Range<usize>> {
    let (start, rest) = line.split_once('-')?;
    let (end, _) = rest.split_once(' ')?;
    let hex = |text| usize::from_str_radix(text, 16).ok();
    Some(hex(start)?..hex(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
1000-3000 r--p 00000000 fe:00 42   /usr/lib/some-library.so
Size:                  8 kB
AnonHugePages:         0 kB
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
Size:               4096 kB
AnonHugePages:      2048 kB
";

    #[test]
    fn the_mapping_of_the_address_counts() {
        assert_eq!(find(SMAPS.as_bytes(), 0x1000), Some(0));
        assert_eq!(find(SMAPS.as_bytes(), 0x7f00_003f_ffff), Some(2 << 20));
        assert_eq!(find(SMAPS.as_bytes(), 0x7f00_0040_0000), None);
        assert_eq!(find("nonsense".as_bytes(), 0), None);
    }
}

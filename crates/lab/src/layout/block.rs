//! Large allocations of the measured program, and what they are called.

use std::path::Path;
use std::process::{Command, Stdio};

/// How a block was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// `malloc`, `calloc`, `realloc`, `new`.
    Heap,
    /// With an alignment of its own.
    Aligned,
    /// By an anonymous `mmap`.
    Mapping,
}

impl BlockKind {
    pub(super) fn of(word: u64) -> Self {
        match word {
            1 => Self::Aligned,
            2 => Self::Mapping,
            _ => Self::Heap,
        }
    }

    /// As it stands in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Heap => "heap",
            Self::Aligned => "aligned",
            Self::Mapping => "mmap",
        }
    }
}

/// A large allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The how-manieth, from 0.
    pub order: usize,
    /// Where it lay.
    pub address: u64,
    /// Bytes that were asked for.
    pub size: u64,
    /// How it was asked for.
    pub kind: BlockKind,
    /// By how much it was moved.
    pub offset: u64,
    /// Calls that led to it, the innermost first.
    pub(super) sites: Vec<Site>,
}

/// A place in code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    module: String,
    offset: u64,
}

impl Site {
    /// Places of return addresses in the files that were mapped.
    pub(super) fn of_all(frames: &[u64], mappings: &str) -> Vec<Self> {
        let known = frames.iter().take_while(|&&frame| frame != 0);
        // A return address is behind the call: one less is in it.
        known
            .filter_map(|&frame| Self::of(frame - 1, mappings))
            .collect()
    }

    pub(crate) fn of(address: u64, mappings: &str) -> Option<Self> {
        // `start-end perms offset device inode path`; other lines are none of files.
        mappings.lines().find_map(|line| {
            let (start, rest) = line.split_once('-')?;
            let (end, rest) = rest.split_once(' ')?;
            let number = |text| u64::from_str_radix(text, 16).ok();
            if !(number(start)?..number(end)?).contains(&address) {
                return None;
            }
            let module = &rest[rest.find('/')?..];
            let offset = number(rest.split(' ').nth(1)?)?;
            Some(Self {
                module: module.to_owned(),
                offset: (address - number(start)?).checked_add(offset)?,
            })
        })
    }

    /// Whether it is of what allocates for others.
    fn is_allocator(&self) -> bool {
        let name = self.module.rsplit('/').next().unwrap_or_default();
        let libraries = [
            "memfd:linerate-layout",
            "libc.so",
            "libstdc++.so",
            "libc++.so",
            "ld-linux",
            "libgcc_s.so",
        ];
        libraries.iter().any(|library| name.starts_with(library))
    }

    /// Function, file and line by addr2line(1); none where it is not installed or knows nothing.
    fn looked_up(&self) -> Option<String> {
        let output = Command::new("addr2line")
            .args(["-f", "-C", "-s", "-e", &self.module])
            .arg(format!("{:#x}", self.offset))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let (function, place) = text.trim_end().split_once('\n')?;
        let place = place
            .split(' ')
            .next()
            .filter(|place| !place.starts_with("??"));
        if function.starts_with("??") {
            return None;
        }
        Some(place.map_or_else(
            || function.to_owned(),
            |place| format!("{function} ({place})"),
        ))
    }

    pub(crate) fn plain(&self) -> String {
        let name = Path::new(&self.module).file_name().unwrap_or_default();
        format!("{}+{:#x}", name.display(), self.offset)
    }
}

/// Whether a function of this name allocates for the one that calls it.
fn allocates_for_others(name: &str) -> bool {
    [
        "alloc::",
        "<alloc::",
        "__rust",
        "core::",
        "<core::",
        "std::vector",
        "operator new",
    ]
    .iter()
    .any(|head| name.starts_with(head))
}

impl Block {
    /// Whether another one has the same size and the same calls led to it.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.size == other.size && self.kind == other.kind && self.sites == other.sites
    }

    /// Where the program asked for it: the innermost call that is not an allocator's, by name where
    /// symbols have one.
    #[must_use]
    pub fn site(&self) -> Option<String> {
        let mut outer = self.sites.iter().filter(|site| !site.is_allocator());
        let first = outer.clone().next()?;
        let named = outer
            .by_ref()
            .filter_map(Site::looked_up)
            .find(|name| !allocates_for_others(name));
        Some(named.unwrap_or_else(|| first.plain()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPINGS: &str = "\
55550000-55552000 r--p 00000000 08:01 123                        /opt/a program
55552000-55554000 r-xp 00002000 08:01 123                        /opt/a program
7f000000-7f001000 r-xp 00001000 00:01 9                          /memfd:linerate-layout (deleted)
7f100000-7f101000 r-xp 00000000 08:01 77                         /usr/lib/libc.so.6
7ffe0000-7fff0000 rw-p 00000000 00:00 0                          [stack]
nonsense
zz-yy r-xp
";

    #[test]
    fn places_of_addresses() {
        for (frame, module, offset) in [
            (0x5555_2011, "/opt/a program", 0x2010),
            (0x5555_0001, "/opt/a program", 0),
            (0x7f10_0101, "/usr/lib/libc.so.6", 0x100),
        ] {
            let sites = Site::of_all(&[frame, 0, 0x5555_0005], MAPPINGS);
            assert_eq!(sites.len(), 1, "{frame:#x}");
            assert_eq!((&*sites[0].module, sites[0].offset), (module, offset));
        }
        assert_eq!(Site::of_all(&[0x7ffe_0001, 1, u64::MAX], MAPPINGS), []);
    }

    #[test]
    fn allocators_are_passed_over() {
        let block = Block {
            order: 0,
            address: 0,
            size: 0,
            kind: BlockKind::Heap,
            offset: 0,
            sites: Site::of_all(&[0x7f00_0001, 0x7f10_0101, 0x5555_2011], MAPPINGS),
        };
        assert_eq!(block.sites.len(), 3);
        assert_eq!(block.site().as_deref(), Some("a program+0x2010"));
        let none = Block {
            sites: Vec::new(),
            ..block
        };
        assert_eq!(none.site(), None);
        assert!(allocates_for_others("alloc::vec::from_elem (vec.rs:3)"));
        assert!(!allocates_for_others("allocate_grid (grid.c:7)"));
    }
}

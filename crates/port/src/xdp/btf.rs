//! The kernel's own types (`/sys/kernel/btf/vmlinux`, BTF): by which number a program calls a
//! function of the kernel. Read without trust: what is no BTF has no functions.

use std::fs;

/// Five megabytes on kernel 6.18.
const KERNEL: &str = "/sys/kernel/btf/vmlinux";

const MAGIC: u16 = 0xeb9f;
const TYPE_BYTES: usize = 12;

// Kinds of types, and what follows the first 12 bytes of one.
const INT: u32 = 1;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const FUNCTION: u32 = 12;
const PROTOTYPE: u32 = 13;
const VARIABLE: u32 = 14;
const SECTION: u32 = 15;
const TAG: u32 = 17;
const ENUM_64: u32 = 19;
const KIND_LAST: u32 = 19;

/// The kernel's functions that the program asks the driver by, as far as the running kernel has
/// them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Functions {
    /// Of a VLAN tag beside the frame; since Linux 6.8.
    pub(super) tag: Option<i32>,
    /// Of the time by the interface's clock; since Linux 6.3.
    pub(super) stamp: Option<i32>,
    /// Of the receive hash; since Linux 6.3.
    pub(super) hash: Option<i32>,
}

impl Functions {
    /// Their names, in the order of the fields.
    pub(super) const NAMES: [&str; 3] = [
        "bpf_xdp_metadata_rx_vlan_tag",
        "bpf_xdp_metadata_rx_timestamp",
        "bpf_xdp_metadata_rx_hash",
    ];

    /// Those of the running kernel; none where it does not say.
    pub(super) fn of_kernel() -> Self {
        let Ok(file) = fs::read(KERNEL) else {
            return Self::default();
        };
        let [tag, stamp, hash] = Self::NAMES.map(|name| function(&file, name));
        Self { tag, stamp, hash }
    }

    /// The number of one by its name.
    pub(super) fn number(&self, name: &str) -> Option<i32> {
        let numbers = [self.tag, self.stamp, self.hash];
        let named = Self::NAMES.iter().zip(numbers);
        named.filter(|&(&own, _)| own == name).find_map(|own| own.1)
    }

    /// Whether there is any.
    pub(super) fn any(&self) -> bool {
        self.tag.or(self.stamp).or(self.hash).is_some()
    }
}

fn function(file: &[u8], name: &str) -> Option<i32> {
    if u16::from_ne_bytes(file.get(..2)?.try_into().ok()?) != MAGIC {
        return None;
    }
    let word = |place: usize| Some(number(file, place * 4)? as usize);
    let (header, types, types_len, names, names_len) =
        (word(1)?, word(2)?, word(3)?, word(4)?, word(5)?);
    let types = part(file, header.checked_add(types)?, types_len)?;
    let names = part(file, header.checked_add(names)?, names_len)?;
    let name = place_of(names, name)?;
    // Number 0 is `void`, which is not in the file.
    let (mut id, mut at) = (1, 0);
    while let Some(info) = number(types, at + 4) {
        let (kind, count) = (info >> 24 & 0x1f, info as usize & 0xffff);
        if kind == FUNCTION && number(types, at)? == name {
            return Some(id);
        }
        at += TYPE_BYTES + more_bytes(kind, count)?;
        id += 1;
    }
    None
}

/// Bytes of a type behind its first 12.
fn more_bytes(kind: u32, count: usize) -> Option<usize> {
    Some(match kind {
        INT | VARIABLE | TAG => 4,
        ARRAY => 12,
        STRUCT | UNION | SECTION | ENUM_64 => 12 * count,
        ENUM | PROTOTYPE => 8 * count,
        0 => return None,
        1..=KIND_LAST => 0,
        _ => return None,
    })
}

/// Where a name begins among names that each end in zero, the first of them empty.
fn place_of(names: &[u8], name: &str) -> Option<u32> {
    let whole = [b"\0", name.as_bytes(), b"\0"].concat();
    let before = names
        .windows(whole.len())
        .position(|window| window == whole)?;
    u32::try_from(before + 1).ok()
}

fn part(file: &[u8], start: usize, len: usize) -> Option<&[u8]> {
    file.get(start..start.checked_add(len)?)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with `void`, a type of every kind, and last the function `wanted`.
    fn file() -> Vec<u8> {
        let names = b"\0other\0unwanted\0wanted\0";
        let mut types = Vec::new();
        let kinds = (1..=KIND_LAST).map(|kind| (1, kind, 3));
        for (name, kind, count) in kinds.chain([(7, FUNCTION, 1), (16, FUNCTION, 1)]) {
            types.extend([name, kind << 24 | count, 0].map(u32::to_ne_bytes).concat());
            types.resize(
                types.len() + more_bytes(kind, count as usize).unwrap(),
                0xff,
            );
        }
        let header = [
            0x0001_eb9f,
            24,
            0,
            types.len() as u32,
            types.len() as u32,
            names.len() as u32,
        ];
        let mut file = header.map(u32::to_ne_bytes).concat();
        file.extend(types);
        file.extend(names);
        file
    }

    #[test]
    fn a_function_has_the_number_of_its_place() {
        let file = file();
        let last = KIND_LAST as i32 + 2;
        assert_eq!(function(&file, "wanted"), Some(last));
        assert_eq!(function(&file, "unwanted"), Some(last - 1));
        assert_eq!(function(&file, "want"), None);
        // Its name is that of other types too, of which one is a function.
        assert_eq!(function(&file, "other"), Some(FUNCTION as i32));
    }

    #[test]
    fn broken_bytes_give_another_answer_never_a_panic() {
        let whole = file();
        for end in 0..whole.len() {
            assert_eq!(function(&whole[..end], "wanted"), None, "{end} bytes");
        }
        for place in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut broken = whole.clone();
                broken[place] = value;
                let _answer = function(&broken, "wanted");
            }
        }
    }

    #[test]
    fn this_kernel_is_understood_where_it_says() {
        if fs::metadata(KERNEL).is_err() {
            println!("skipped: this kernel has no {KERNEL}");
            return;
        }
        // No kernel that has interfaces is without.
        let file = fs::read(KERNEL).unwrap();
        assert!(function(&file, "register_netdev").is_some_and(|id| id > 0));
        assert_eq!(function(&file, "no_such_function"), None);
        let functions = Functions::of_kernel();
        for (name, number) in
            Functions::NAMES
                .iter()
                .zip([functions.tag, functions.stamp, functions.hash])
        {
            assert_eq!(functions.number(name), number, "{name}");
        }
        assert_eq!(functions.number("register_netdev"), None);
    }
}

//! The committed object of the XDP program: as much of ELF as one program without debug information
//! is made of. Read without trust, like any bytes: a broken object is an error.

use std::ffi::{CStr, CString};

/// The section that holds the program; the kernel is told of the suffix by a flag.
const PROGRAM_SECTION: &str = "xdp.frags";
const LICENCE_SECTION: &str = "license";

/// Where things are in the headers of a 64-bit file.
const SECTION_TABLE_AT: usize = 0x28;
const SECTION_COUNT_AT: usize = 0x3c;
const SECTION_NAMES_AT: usize = 0x3e;
const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const RELOCATION_BYTES: usize = 16;

const SYMBOL_TABLE: u32 = 2;
const RELOCATIONS: u32 = 9;
/// The 64-bit constant of a load instruction (`R_BPF_64_64`), and the target of a call
/// (`R_BPF_64_32`).
const RELOCATION_LOAD: u32 = 1;
const RELOCATION_CALL: u32 = 10;

/// The first half of the instruction that loads a 64-bit constant, and the register field's value
/// that makes the constant the descriptor of a map (`BPF_PSEUDO_MAP_FD`) or the address of the only
/// value of one (`BPF_PSEUDO_MAP_VALUE`; the offset is in the second half).
const LOAD_CONSTANT: u8 = 0x18;
const MAP_DESCRIPTOR: u8 = 1;
const MAP_VALUE: u8 = 2;

/// The instruction that calls, and the register field's value that makes it call a function of the
/// kernel by its number (`BPF_PSEUDO_KFUNC_CALL`).
const CALL: u8 = 0x85;
const KERNEL_FUNCTION: u8 = 2;

/// `r0 = -EOPNOTSUPP`: what such a function answers where a driver has none.
const ANSWER_UNSUPPORTED: [u8; 8] = {
    let [a, b, c, d] = (-libc::EOPNOTSUPP).to_le_bytes();
    [0xb7, 0, 0, 0, a, b, c, d]
};

/// What a name in the program stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A map, by its descriptor.
    Map(i32),
    /// The only value of the map of this descriptor.
    Value(i32),
}

/// A program, and where it names maps and functions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) instructions: Vec<[u8; 8]>,
    pub(super) licence: CString,
    /// Index of an instruction, and the name of the map it loads.
    pub(super) maps: Vec<(usize, String)>,
    /// Index of an instruction, and the name of the kernel's function it calls.
    pub(super) calls: Vec<(usize, String)>,
}

struct Section<'a> {
    name: &'a str,
    kind: u32,
    bytes: &'a [u8],
}

impl Object {
    /// The XDP program of a file; `None` where the bytes are no such object.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        Self::of_section(file, PROGRAM_SECTION)
    }

    /// The program in one section of a file; `None` where the bytes are no such object.
    pub(super) fn of_section(file: &[u8], section: &str) -> Option<Self> {
        let little_endian_64 = b"\x7fELF\x02\x01";
        if !file.starts_with(little_endian_64) {
            return None;
        }
        let sections = sections(file)?;
        let named = |name: &str| sections.iter().find(|section| section.name == name);
        let program = named(section)?;
        let (instructions, []) = program.bytes.as_chunks() else {
            return None;
        };
        let licence = CStr::from_bytes_until_nul(named(LICENCE_SECTION)?.bytes).ok()?;
        let symbols = sections
            .iter()
            .find(|section| section.kind == SYMBOL_TABLE)?;
        let names = named(".strtab")?.bytes;
        let target = format!(".rel{section}");
        let relocations = sections
            .iter()
            .filter(|section| section.kind == RELOCATIONS && section.name == target);
        let (mut maps, mut calls) = (Vec::new(), Vec::new());
        for relocation in relocations.flat_map(|section| section.bytes.chunks(RELOCATION_BYTES)) {
            let (kind, place, name) = relocated(relocation, symbols.bytes, names)?;
            match (kind, instructions.get(place)?[0]) {
                (RELOCATION_LOAD, LOAD_CONSTANT) => maps.push((place, name)),
                (RELOCATION_CALL, CALL) => calls.push((place, name)),
                _ => return None,
            }
        }
        Some(Self {
            instructions: instructions.to_vec(),
            licence: licence.to_owned(),
            maps,
            calls,
        })
    }

    /// The instructions with every map in its place; `None` where a map is not known.
    /// Calls have the function's number in theirs, or the answer that there is no such function.
    pub(super) fn linked(
        &self,
        named: impl Fn(&str) -> Option<Named>,
        function: impl Fn(&str) -> Option<i32>,
    ) -> Option<Vec<[u8; 8]>> {
        let mut instructions = self.instructions.clone();
        for (place, name) in &self.maps {
            let [load, second] = instructions.get_mut(*place..place + 2)? else {
                return None;
            };
            let (kind, descriptor) = match named(name)? {
                Named::Map(descriptor) => (MAP_DESCRIPTOR, descriptor),
                Named::Value(descriptor) => (MAP_VALUE, descriptor),
            };
            // Where the symbol has an offset, the compiler left it in the first half.
            second[4..].copy_from_slice(&load[4..]);
            load[1] = load[1] & 0x0f | kind << 4;
            load[4..].copy_from_slice(&descriptor.to_le_bytes());
        }
        for (place, name) in &self.calls {
            let call = instructions.get_mut(*place)?;
            let Some(number) = function(name) else {
                *call = ANSWER_UNSUPPORTED;
                continue;
            };
            call[1] = KERNEL_FUNCTION << 4;
            call[4..].copy_from_slice(&number.to_le_bytes());
        }
        Some(instructions)
    }
}

fn sections(file: &[u8]) -> Option<Vec<Section<'_>>> {
    let table = usize::try_from(u64_at(file, SECTION_TABLE_AT)?).ok()?;
    let count = usize::from(u16_at(file, SECTION_COUNT_AT)?);
    let headers = file.get(table..)?.chunks_exact(SECTION_BYTES).take(count);
    let headers: Vec<&[u8]> = headers.collect();
    let names = headers.get(usize::from(u16_at(file, SECTION_NAMES_AT)?))?;
    let names = section_bytes(file, names)?;
    let section = |header: &&[u8]| {
        Some(Section {
            name: name_at(names, u32_at(header, 0)?)?,
            kind: u32_at(header, 4)?,
            bytes: section_bytes(file, header)?,
        })
    };
    headers.iter().map(section).collect()
}

fn section_bytes<'a>(file: &'a [u8], header: &[u8]) -> Option<&'a [u8]> {
    let start = usize::try_from(u64_at(header, 0x18)?).ok()?;
    let length = usize::try_from(u64_at(header, 0x20)?).ok()?;
    file.get(start..start.checked_add(length)?)
}

/// What a relocation is: its kind, the index of an instruction, and the name that belongs there.
fn relocated(relocation: &[u8], symbols: &[u8], names: &[u8]) -> Option<(u32, usize, String)> {
    let at = usize::try_from(u64_at(relocation, 0)?).ok()?;
    let (kind, symbol) = (u32_at(relocation, 8)?, u32_at(relocation, 12)? as usize);
    let symbol = symbols.chunks_exact(SYMBOL_BYTES).nth(symbol)?;
    let name = name_at(names, u32_at(symbol, 0)?)?;
    at.is_multiple_of(8)
        .then(|| (kind, at / 8, name.to_owned()))
}

fn name_at(names: &[u8], at: u32) -> Option<&str> {
    let name = CStr::from_bytes_until_nul(names.get(at as usize..)?).ok()?;
    name.to_str().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::btf::Functions;
    use super::super::program::OBJECT;
    use super::*;

    #[test]
    fn the_committed_object_names_its_maps_and_its_function() {
        let object = Object::read(OBJECT).unwrap();
        let mut names: Vec<&str> = object.maps.iter().map(|(_, name)| &name[..]).collect();
        names.sort_unstable();
        names.dedup();
        let maps = [
            "beats",
            "counts",
            "diversions",
            "identity",
            "local",
            "peer",
            "settings",
            "sieve",
            "sieve_networks",
            "sieve_words",
            "sockets",
        ];
        assert_eq!(names, maps);
        assert_eq!(object.licence.to_bytes(), b"Dual MIT/GPL");
        let mut functions: Vec<&str> = object.calls.iter().map(|(_, name)| &name[..]).collect();
        functions.sort_unstable();
        let mut expected = Functions::NAMES;
        expected.sort_unstable();
        assert_eq!(functions, expected);
        let (call, _) = &object.calls[0];
        let named = |name: &str| {
            let descriptor = name.len() as i32;
            Some(match name {
                "settings" => Named::Value(descriptor),
                _ => Named::Map(descriptor),
            })
        };
        let linked = object.linked(named, |_| Some(0x0102)).unwrap();
        for (place, name) in &object.maps {
            assert_eq!(linked[*place][4], name.len() as u8);
            let kind = if name == "settings" {
                MAP_VALUE
            } else {
                MAP_DESCRIPTOR
            };
            assert_eq!(linked[*place][1] >> 4, kind);
            assert_eq!(linked[*place + 1], [0; 8]);
        }
        assert_eq!(linked[*call], [0x85, 0x20, 0, 0, 2, 1, 0, 0]);
        let linked = object.linked(named, |_| None).unwrap();
        assert_eq!(linked[*call], [0xb7, 0, 0, 0, 161, 255, 255, 255]);
        assert!(object.linked(|_| None, |_| None).is_none());
    }

    #[test]
    fn a_broken_object_is_none_or_another_never_a_panic() {
        for end in 0..OBJECT.len() {
            let _cut = Object::read(&OBJECT[..end]);
        }
        for place in 0..OBJECT.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut broken = OBJECT.to_vec();
                broken[place] = value;
                if let Some(object) = Object::read(&broken) {
                    let _linked = object.linked(|_| Some(Named::Map(-1)), |_| Some(-1));
                }
            }
        }
        assert_eq!(Object::read(b"\x7fELF"), None);
    }
}

//! XDP programs that are not of a port: the laboratory generates frames by one and holds the
//! dataplane against another.

use std::io;

use super::maps::{XDP_DROP, XDP_PASS};
use super::object::{Named, Object};
use super::program::hint;
use crate::interface::Interface;
use crate::sys::xdp_bpf::{AttachMode, Link, Program};
use crate::sys::xdp_maps::{Map, MapKind, MapShape};
use crate::{PortError, PortErrorKind};

/// Entries that are written in one call at most: the kernel copies both lists.
const ENTRIES_A_CALL: usize = 1 << 16;

/// `r0 = VERDICT` and `exit`.
const fn answer(verdict: u32) -> [[u8; 8]; 2] {
    [
        [0xb7, 0, 0, 0, verdict as u8, 0, 0, 0],
        [0x95, 0, 0, 0, 0, 0, 0, 0],
    ]
}

/// What a map is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XdpMapKind {
    /// 32-bit numbers under 32-bit keys.
    Hash,
    /// 32-bit numbers, by place.
    Array,
    /// One value of this many bytes, which the program has as a variable.
    Variable(usize),
    /// Interfaces to redirect to, by place.
    Interfaces,
}

/// A map as a program names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XdpMap {
    /// As in the program's source.
    pub name: &'static str,
    /// What it is for.
    pub kind: XdpMapKind,
    /// Entries at most; a variable has one.
    pub entries: u32,
}

impl XdpMap {
    fn shape(&self) -> MapShape {
        // The kernel makes no map without room.
        let entries = self.entries.max(1);
        match self.kind {
            XdpMapKind::Hash => MapShape::numbered(MapKind::Hash, 4, entries),
            XdpMapKind::Array => MapShape::numbered(MapKind::Array, 4, entries),
            XdpMapKind::Variable(bytes) => MapShape::numbered(MapKind::Array, bytes, 1),
            XdpMapKind::Interfaces => MapShape::numbered(MapKind::Interfaces, 4, entries),
        }
    }
}

/// A loaded program and its maps.
#[derive(Debug)]
pub struct XdpProgram {
    name: &'static str,
    program: Program,
    maps: Vec<(XdpMap, Map)>,
}

/// A program on an interface: dropping it takes it off, and so does the end of the process.
#[derive(Debug)]
pub struct XdpAttachment(#[expect(dead_code, reason = "closing it is what it is for")] Link);

impl XdpProgram {
    /// Loads what `bpf/build.sh` made, with its maps, all empty.
    ///
    /// # Errors
    /// Too few rights, no memory, an object that is none or names other maps.
    pub fn load(name: &'static str, object: &[u8], maps: &[XdpMap]) -> Result<Self, PortError> {
        let make = |spec: &XdpMap| {
            let map = Map::create(spec.name, spec.shape());
            map.map(|map| (*spec, map))
                .map_err(|error| failed(name, &format!("map {} of", spec.name), &error))
        };
        let maps: Vec<(XdpMap, Map)> = maps.iter().map(make).collect::<Result<_, _>>()?;
        let named = |wanted: &str| {
            let (spec, map) = maps.iter().find(|(spec, _)| spec.name == wanted)?;
            Some(match spec.kind {
                XdpMapKind::Variable(_) => Named::Value(map.raw_fd()),
                _ => Named::Map(map.raw_fd()),
            })
        };
        let unknown = || failed(name, "the object of", &io::ErrorKind::InvalidData.into());
        let object = Object::read(object).ok_or_else(unknown)?;
        let linked = object.linked(named, |_| None).ok_or_else(unknown)?;
        let program = Program::load(name, &linked, &object.licence)
            .map_err(|(error, said)| failed(name, &format!("({said})"), &error))?;
        Ok(Self {
            name,
            program,
            maps,
        })
    }

    /// One that lets every frame pass to the host's own stack.
    ///
    /// # Errors
    /// Too few rights.
    pub fn pass() -> Result<Self, PortError> {
        Self::always("pass", XDP_PASS)
    }

    /// One that drops every frame.
    ///
    /// # Errors
    /// Too few rights.
    pub fn drop_all() -> Result<Self, PortError> {
        Self::always("drop_all", XDP_DROP)
    }

    fn always(name: &'static str, verdict: u32) -> Result<Self, PortError> {
        let program = Program::load(name, &answer(verdict), c"Dual MIT/GPL")
            .map_err(|(error, said)| failed(name, &format!("({said})"), &error))?;
        Ok(Self {
            name,
            program,
            maps: Vec::new(),
        })
    }

    /// Puts it on an interface, in its driver.
    ///
    /// # Errors
    /// No such interface, a driver without XDP, another program there.
    pub fn attach(&self, interface: &str) -> Result<XdpAttachment, PortError> {
        let index = index(interface)?;
        let attached = self.program.attach(index, AttachMode::Native);
        let what = format!("on {interface}");
        attached
            .map(XdpAttachment)
            .map_err(|error| failed(self.name, &what, &error))
    }

    /// Has the kernel run it over this many frames that begin as `frame` does, and do with each
    /// what it answers; returns when that is done. What it writes into a frame may be there in
    /// later ones.
    ///
    /// # Errors
    /// A kernel before 5.18, too few rights.
    pub fn run(&self, frame: &[u8], frames: u32) -> Result<(), PortError> {
        let run = self.program.run(frame, frames);
        run.map_err(|error| failed(self.name, "a run of", &error))
    }

    /// Writes a variable.
    ///
    /// # Errors
    /// There is none of this name and length.
    pub fn set_variable(&self, map: &str, value: &[u8]) -> Result<(), PortError> {
        self.in_map(map, |map| map.put(&[0; 4], value))
    }

    /// Reads a variable. A program that runs meanwhile may have written only a part of it.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn variable(&self, map: &str) -> Result<Vec<u8>, PortError> {
        self.in_map(map, |map| map.get(0))
    }

    /// Writes numbers under keys: as many of the one as of the other.
    ///
    /// # Errors
    /// There is no such map of numbers, or it is full.
    pub fn put(&self, map: &str, keys: &[u32], values: &[u32]) -> Result<(), PortError> {
        if keys.len() != values.len() {
            let error = io::ErrorKind::InvalidInput.into();
            return Err(failed(
                self.name,
                &format!("entries of map {map} of"),
                &error,
            ));
        }
        let keys = keys.chunks(ENTRIES_A_CALL);
        for (keys, values) in keys.zip(values.chunks(ENTRIES_A_CALL)) {
            self.in_map(map, |map| map.put_many(keys, values))?;
        }
        Ok(())
    }

    /// Puts an interface in its place.
    ///
    /// # Errors
    /// There is no such interface, place or map.
    pub fn set_interface(&self, map: &str, place: u32, interface: &str) -> Result<(), PortError> {
        let index = index(interface)?;
        self.in_map(map, |map| map.set(place, index))
    }

    fn in_map<T>(
        &self,
        name: &str,
        what: impl FnOnce(&Map) -> io::Result<T>,
    ) -> Result<T, PortError> {
        let found = self.maps.iter().find(|(spec, _)| spec.name == name);
        let done = match found {
            Some((_, map)) => what(map),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        done.map_err(|error| failed(self.name, &format!("map {name} of"), &error))
    }
}

fn index(interface: &str) -> Result<u32, PortError> {
    let named = Interface::existing(interface)?;
    named.index().map_err(|error| {
        let sentence = format!("interface {interface} has no number: {error}");
        PortError::new(PortErrorKind::Open, sentence)
    })
}

fn failed(program: &str, what: &str, error: &io::Error) -> PortError {
    let hint = hint(error);
    let sentence = format!("{what} the XDP program {program}: {error}{hint}");
    PortError::new(PortErrorKind::Open, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &[u8] = include_bytes!("../../../../bpf/hash_set.bpf.o");

    fn map(name: &'static str, kind: XdpMapKind, entries: u32) -> XdpMap {
        XdpMap {
            name,
            kind,
            entries,
        }
    }

    #[test]
    fn a_program_has_the_maps_that_it_names() {
        let addresses = map("addresses", XdpMapKind::Hash, 3);
        let interfaces = map("interfaces", XdpMapKind::Interfaces, 1);
        let program = match XdpProgram::load("test", OBJECT, &[addresses, interfaces]) {
            Ok(program) => program,
            Err(error) => return println!("skipped: {error}"),
        };
        program.put("addresses", &[1, 2, 3], &[1; 3]).unwrap();
        assert!(program.put("addresses", &[4], &[1]).is_err(), "it is full");
        assert!(program.put("addresses", &[1, 2], &[1]).is_err());
        for error in [
            program.put("nothing", &[1], &[1]).unwrap_err(),
            program.set_variable("addresses", &[0; 8]).unwrap_err(),
            XdpProgram::load("test", OBJECT, &[interfaces]).unwrap_err(),
            XdpProgram::load("test", b"no object", &[addresses, interfaces]).unwrap_err(),
            program.attach("no-such-one").unwrap_err(),
        ] {
            assert!(error.to_string().len() > 20, "{error}");
        }
    }
}

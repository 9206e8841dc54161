//! Which programs a library can be loaded into.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Program headers that are read at most.
const HEADERS_MAX: u16 = 1024;
const PT_INTERP: u32 = 3;

/// The file of a program that the shim can be loaded into.
///
/// # Errors
/// There is none of this name, or it is of a kind that takes no library, as a sentence.
pub(super) fn find(name: &OsStr) -> Result<PathBuf, String> {
    let path = located(name).ok_or_else(|| {
        format!(
            "there is no program '{}': name one of PATH, or a file",
            name.display()
        )
    })?;
    let shown = path.display();
    let file = File::open(&path).map_err(|error| {
        format!("'{shown}' cannot be read ({error}): layout looks into a program before it runs")
    })?;
    let metadata = file
        .metadata()
        .map_err(|error| format!("{shown}: {error}"))?;
    let mut none = [0; 0];
    let capable = rustix::fs::getxattr(&path, c"security.capability", &mut none).is_ok();
    if metadata.mode() & 0o6000 != 0 || capable {
        return Err(format!(
            "'{shown}' is setuid, setgid or has capabilities: the loader takes no library of \
             others into it; measure a copy without"
        ));
    }
    kind(&file)
        .map_err(|reason| format!("'{shown}' {reason}"))
        .map(|()| path)
}

/// As execvp(3) finds it.
fn located(name: &OsStr) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(runs);
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(Path::new(name)))
        .find(runs)
}

/// Whether it is dynamically linked; why not, where it is none.
fn kind(file: &File) -> Result<(), String> {
    let mut head = [0; 64];
    let unknown = |_: io::Error| "is no ELF program: layout measures compiled programs".to_owned();
    if file.read_at(&mut head[..2], 0).is_ok() && head.starts_with(b"#!") {
        return Err(
            "is a script: measure the program that it starts, as in '-- /usr/bin/python3 FILE'"
                .to_owned(),
        );
    }
    file.read_exact_at(&mut head, 0).map_err(unknown)?;
    if !head.starts_with(b"\x7fELF") {
        return Err("is no ELF program: layout measures compiled programs".to_owned());
    }
    // Class 2 is of 64 bits, data 1 little-endian: what the shim is compiled for.
    if head[4] != 2 || head[5] != 1 {
        return Err("is no program of 64 bits for this machine: the shim is".to_owned());
    }
    let short = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let start = u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| head[32 + byte]));
    let (size, count) = (u64::from(short(54)), short(56).min(HEADERS_MAX));
    for header in 0..u64::from(count) {
        let at = size.saturating_mul(header).saturating_add(start);
        let mut kind = [0; 4];
        if file.read_exact_at(&mut kind, at).is_ok() && u32::from_le_bytes(kind) == PT_INTERP {
            return Ok(());
        }
    }
    Err(
        "is statically linked: no library can be loaded into it; link it dynamically (gcc without \
         -static, Rust for a -gnu target)"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one program header of this kind.
    fn elf(class: u8, data: u8, kind: u32) -> Vec<u8> {
        let mut bytes = vec![0; 120];
        bytes[..4].copy_from_slice(b"\x7fELF");
        (bytes[4], bytes[5]) = (class, data);
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64..68].copy_from_slice(&kind.to_le_bytes());
        bytes
    }

    #[test]
    fn only_dynamic_programs_are_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let wild = {
            let mut bytes = elf(2, 1, 1);
            bytes[32..40].fill(0xff);
            bytes[54..58].fill(0xff);
            bytes
        };
        for (bytes, mode, reason) in [
            (elf(2, 1, PT_INTERP), 0o755, None),
            (elf(2, 1, 1), 0o755, Some("statically linked")),
            (elf(1, 1, PT_INTERP), 0o755, Some("no program of 64 bits")),
            (elf(2, 2, PT_INTERP), 0o755, Some("no program of 64 bits")),
            (elf(2, 1, PT_INTERP), 0o4755, Some("is setuid")),
            (elf(2, 1, PT_INTERP), 0o2755, Some("is setuid")),
            (elf(2, 1, PT_INTERP), 0o644, Some("there is no program")),
            (b"#!/bin/sh\n".to_vec(), 0o755, Some("is a script")),
            (Vec::new(), 0o755, Some("is no ELF program")),
            (b"\x7fELF".to_vec(), 0o755, Some("is no ELF program")),
            (
                elf(2, 1, PT_INTERP)[..66].to_vec(),
                0o755,
                Some("statically"),
            ),
            (wild, 0o755, Some("statically linked")),
        ] {
            let path = folder.path().join("program");
            fs::write(&path, &bytes).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
            match (find(path.as_os_str()), reason) {
                (Ok(_), None) => {}
                (Err(said), Some(reason)) if said.contains(reason) => {}
                (found, _) => panic!("{reason:?}: {found:?}"),
            }
        }
    }

    #[test]
    fn programs_are_found_by_path() {
        assert!(find(OsStr::new("sh")).is_ok());
        let refused = find(OsStr::new("no-such-program-there")).expect_err("none");
        assert!(refused.contains("there is no program"), "{refused}");
    }
}

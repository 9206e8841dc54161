//! The two ports, and who gets the standard streams.

use std::fs::{self, Metadata};
use std::io::{self, IsTerminal};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use port::pcap::CapturePath;
use port::{PortSpec, SpecError};

use crate::error::Error;

/// Reads the specs.
pub(crate) fn parse(texts: &[&str]) -> Result<Vec<PortSpec>, Error> {
    texts
        .iter()
        .map(|text| PortSpec::parse(text).map_err(refused))
        .collect()
}

fn refused(error: SpecError) -> Error {
    Error::refused(error)
}

/// How many ports read standard input.
pub(super) fn stdin_count(ports: &[PortSpec]) -> usize {
    let reads = |port: &&PortSpec| {
        let PortSpec::Pcap(pcap) = port else {
            return false;
        };
        pcap.input == Some(CapturePath::Stdio)
    };
    ports.iter().filter(reads).count()
}

/// Whether a port writes to standard output.
pub(crate) fn writes_stdout(ports: &[PortSpec]) -> bool {
    let writes = |port: &PortSpec| {
        let PortSpec::Pcap(pcap) = port else {
            return false;
        };
        matches!(&pcap.output, Some((CapturePath::Stdio, _)))
    };
    ports.iter().any(writes)
}

/// Refuses two uses of one stream, and a capture on a terminal.
pub(crate) fn check_streams(
    ports: &[PortSpec],
    set_stdin_count: usize,
    json: bool,
) -> Result<(), Error> {
    if stdin_count(ports) + set_stdin_count > 1 {
        return Err(Error::refused(
            "standard input can be read only once: name a file instead of '-' for all but one of \
             the ports and lists",
        ));
    }
    check_stdout_by_name(ports)?;
    if !writes_stdout(ports) {
        return Ok(());
    }
    if json {
        return Err(Error::refused(
            "--json and pcap:out=- both want standard output: write the capture to a file, or \
             leave out --json and read the report on standard error",
        ));
    }
    if io::stdout().is_terminal() {
        return Err(Error::refused(
            "pcap:out=- would write a capture to the terminal: append | tcpdump -r - or name a \
             file",
        ));
    }
    Ok(())
}

/// A ring's other end is another bridge of the same process, which one command does not have.
pub(crate) fn check_rings(ports: &[PortSpec]) -> Result<(), Error> {
    match ports.iter().find(|port| matches!(port, PortSpec::Ring(_))) {
        Some(ring) => Err(Error::refused(format!(
            "{ring} would have no other end: memory rings chain bridges within one process; use \
             null: or pcap: here"
        ))),
        None => Ok(()),
    }
}

/// Refuses an output file that is what standard output goes to, where the report would land in it.
fn check_stdout_by_name(ports: &[PortSpec]) -> Result<(), Error> {
    let Ok(stdout) = fs::metadata("/dev/stdout") else {
        return Ok(());
    };
    let is_stdout = |path: &Path| {
        let same = |file: &Metadata| (file.dev(), file.ino()) == (stdout.dev(), stdout.ino());
        !stdout.file_type().is_char_device() && fs::metadata(path).is_ok_and(|file| same(&file))
    };
    for port in ports {
        if let PortSpec::Pcap(pcap) = port
            && let Some((CapturePath::File(path), _)) = &pcap.output
            && is_stdout(path.as_ref())
        {
            return Err(Error::refused(format!(
                "{port} is standard output, where the report goes: write pcap:out=- and the report \
                 goes to standard error"
            )));
        }
    }
    Ok(())
}

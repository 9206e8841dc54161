//! The two ports, and who gets the standard streams.

use std::io::{self, IsTerminal};

use port::pcap::CapturePath;
use port::{PortSpec, SpecError};

use crate::error::Error;

/// Reads the specs.
pub(super) fn parse(texts: &[&str]) -> Result<Vec<PortSpec>, Error> {
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
pub(super) fn writes_stdout(ports: &[PortSpec]) -> bool {
    let writes = |port: &PortSpec| {
        let PortSpec::Pcap(pcap) = port else {
            return false;
        };
        matches!(&pcap.output, Some((CapturePath::Stdio, _)))
    };
    ports.iter().any(writes)
}

/// Refuses two uses of one stream, and a capture on a terminal.
pub(super) fn check_streams(
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

//! Where samples go: a file, standard output, a Unix socket, the system's log.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process;

use crate::error::Error;

/// Where the system's log listens (glibc's `_PATH_LOG`).
const LOG_SOCKET: &str = "/dev/log";
/// Facility local0, severity info (RFC 3164, section 4.1.1).
const PRIORITY: u32 = 16 * 8 + 6;

/// Whether lines of text go there, by what the name says: sockets, the log, files named after JSON.
pub(super) fn takes_lines(file: &str) -> bool {
    let json = [".json", ".jsonl", ".ndjson"];
    is_message(file) || json.iter().any(|end| file.ends_with(end))
}

/// Whether each sample is a message of its own.
pub(super) fn is_message(file: &str) -> bool {
    file.starts_with("unix:") || file.starts_with("syslog:")
}

/// Opens it. A terminal gets no pcapng.
pub(super) fn open(file: &str, format: &str) -> Result<Box<dyn Write + Send>, Error> {
    let refused = |error: io::Error| Error::refused(format!("{file} cannot be opened: {error}"));
    if let Some(path) = file.strip_prefix("unix:") {
        return socket(Path::new(path)).map_err(refused);
    }
    if let Some(path) = file.strip_prefix("syslog:") {
        let path = if path.is_empty() { LOG_SOCKET } else { path };
        return syslog(Path::new(path)).map_err(refused);
    }
    if file != "-" {
        expect_unpacked(Path::new(file)).map_err(Error::refused)?;
        return Ok(Box::new(File::create(file).map_err(refused)?));
    }
    if format == "pcapng" && io::IsTerminal::is_terminal(&io::stdout()) {
        return Err(Error::refused(
            "pcapng is no text for a terminal: redirect it, or choose --format json",
        ));
    }
    Ok(Box::new(io::stdout()))
}

/// Samples are read while they are written: they are not packed, whatever a name promises.
fn expect_unpacked(path: &Path) -> Result<(), String> {
    let packed = port::pcap::is_gzip(path) || port::pcap::expect_packing(path).is_err();
    match path.extension().filter(|_| packed) {
        Some(ending) => Err(format!(
            "what is captured is written unpacked, and the ending .{} says that it is not; write - \
             (standard output) into a program that packs",
            ending.display()
        )),
        None => Ok(()),
    }
}

/// A stream where one listens, else messages.
fn socket(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    if let Ok(stream) = UnixStream::connect(path) {
        return Ok(Box::new(stream));
    }
    Ok(Box::new(Messages::connect(path, String::new())?))
}

fn syslog(path: &Path) -> io::Result<Box<dyn Write + Send>> {
    let head = format!("<{PRIORITY}>linerate[{}]: ", process::id());
    Ok(Box::new(Messages::connect(path, head)?))
}

/// A line a datagram. Whoever reads it puts the time before it that they trust, their own.
struct Messages {
    socket: UnixDatagram,
    head: String,
}

impl Messages {
    fn connect(path: &Path, head: String) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.connect(path)?;
        Ok(Self { socket, head })
    }
}

impl Write for Messages {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        for line in lines
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let message = [self.head.as_bytes(), line].concat();
            self.socket.send(&message)?;
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

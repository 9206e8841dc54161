//! The bytes of a capture: a file, a pipe, standard input; plain or gzip.

use std::fs::{File, OpenOptions};
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use super::gunzip::Gunzip;
use super::{CapturePath, Direction, OpenFiles};
use crate::{PortError, PortErrorKind};

/// Compressed containers that are recognised and not read, with the command that unpacks them.
const FOREIGN: [(&[u8], &str, &str); 7] = [
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"\xfd7zX", "xz", "xz -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"7z\xbc\xaf", "7-Zip", "7z x -so"),
    (b"\x1f\x9d", "compress", "gzip -dc"),
];

/// Where the bytes of a capture come from.
pub(super) struct Source {
    name: String,
    /// Set for files that can be read from the start again.
    file: Option<File>,
    stream: Stream,
}

/// The bytes, and what unpacks them.
enum Stream {
    Plain(Box<dyn Read + Send>),
    Gzip(Box<Gunzip>),
}

impl Source {
    /// Opens what `path` names and enters it in the run's files. A pipe is opened so that reading
    /// it never waits.
    pub(super) fn open(path: &CapturePath, files: Option<&OpenFiles>) -> Result<Self, PortError> {
        let (name, file) = open_file(path)?;
        let metadata = file
            .metadata()
            .map_err(|error| PortError::open(&name, "read", &error))?;
        if metadata.is_dir() {
            let error = io::Error::from(ErrorKind::IsADirectory);
            return Err(PortError::open(&name, "read", &error));
        }
        if let Some(files) = files {
            files.enter(&name, &metadata, Direction::Read)?;
        }
        if metadata.is_file() {
            let again = file.try_clone().ok();
            Self::sniff(name, again, Box::new(file))
        } else {
            Self::sniff(name, None, Box::new(without_waiting(file)))
        }
    }

    /// A capture that is not a file: a buffer, a socket, a test.
    pub(super) fn from_read(name: &str, read: Box<dyn Read + Send>) -> Result<Self, PortError> {
        Self::sniff(name.to_owned(), None, read)
    }

    /// Looks at the first bytes and puts a decompressor in front where they ask for one.
    fn sniff(
        name: String,
        file: Option<File>,
        mut stream: Box<dyn Read + Send>,
    ) -> Result<Self, PortError> {
        let mut head = [0; 4];
        let mut len = 0;
        while len < head.len() {
            match read_patiently(&mut stream, &mut head[len..]) {
                Ok(0) => break,
                Ok(count) => len += count,
                Err(error) => return Err(PortError::open(&name, "read", &error)),
            }
        }
        let head = &head[..len];
        if head.is_empty() {
            let sentence = format!("{name} is empty, which no capture is; check the path");
            return Err(PortError::new(PortErrorKind::NotACapture, sentence));
        }
        if let Some((_, kind, command)) = FOREIGN.iter().find(|(magic, ..)| head.starts_with(magic))
        {
            let sentence = format!(
                "{name} is compressed with {kind}, which is not read here; \
                 unpack it with `{command}` into pcap:in=-"
            );
            return Err(PortError::new(PortErrorKind::NotACapture, sentence));
        }
        let gzip = head.starts_with(&[0x1f, 0x8b]);
        let whole = Box::new(Cursor::new(head.to_vec()).chain(stream));
        let stream = match gzip {
            true => Stream::Gzip(Box::new(Gunzip::new(whole))),
            false => Stream::Plain(whole),
        };
        Ok(Self { name, file, stream })
    }

    /// What messages call it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the bytes are unpacked on the way.
    pub(super) const fn is_gzip(&self) -> bool {
        matches!(self.stream, Stream::Gzip(_))
    }

    /// Whether bytes were met behind the packed ones that are none.
    pub(super) fn has_trailing(&self) -> bool {
        match &self.stream {
            Stream::Plain(_) => false,
            Stream::Gzip(gunzip) => gunzip.has_trailing(),
        }
    }

    /// Whether it is a file that [`Self::rewound`] can read again.
    pub(super) const fn can_rewind(&self) -> bool {
        self.file.is_some()
    }

    /// Reads some bytes; `WouldBlock` where a pipe has none yet, 0 at the end.
    pub(super) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Plain(stream) => stream.read(into),
            Stream::Gzip(gunzip) => gunzip.read(into),
        }
    }

    /// The same file from its start.
    pub(super) fn rewound(self) -> Result<Self, PortError> {
        let error = |error| PortError::open(&self.name, "read again", &error);
        let mut file = self
            .file
            .ok_or_else(|| error(ErrorKind::Unsupported.into()))?;
        file.seek(SeekFrom::Start(0)).map_err(error)?;
        let again = file.try_clone().map_err(error)?;
        Self::sniff(self.name, Some(again), Box::new(file))
    }
}

fn open_file(path: &CapturePath) -> Result<(String, File), PortError> {
    let (name, file) = match path {
        CapturePath::Stdio => {
            let file = io::stdin().as_fd().try_clone_to_owned().map(File::from);
            ("standard input".to_owned(), file)
        }
        CapturePath::File(path) => (path.display().to_string(), File::open(path)),
    };
    match file {
        Ok(file) => Ok((name, file)),
        Err(error) => Err(PortError::open(&name, "read", &error)),
    }
}

/// The same pipe, but reading it returns at once when it is empty. Opening the descriptor's entry
/// in /proc makes a new open file, so that a process sharing the pipe sees no change. What cannot
/// be opened again (a socket) is read as it is: then a worker waits where nothing comes.
fn without_waiting(file: File) -> File {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let again = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    again.unwrap_or(file)
}

/// Reads at least one byte or the end, however long it takes: for the head of a capture, before any
/// worker runs.
pub(super) fn read_patiently(stream: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(into) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

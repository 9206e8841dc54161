//! The file a capture is written to: checked when the port opens, emptied when its queue does.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;

use super::{CapturePath, CaptureWriter, Direction, Format, OpenFiles};
use crate::PortError;

/// An output that was opened and not touched yet.
pub(super) struct Output {
    name: String,
    file: File,
    format: Format,
    gzip: bool,
    /// Whether somebody may be reading along: no file, so what is written should leave at once.
    live: bool,
}

impl Output {
    pub(super) fn open(
        path: &CapturePath,
        format: Format,
        files: &OpenFiles,
    ) -> Result<Self, PortError> {
        let (name, opened) = match path {
            CapturePath::Stdio => {
                let file = io::stdout().as_fd().try_clone_to_owned().map(File::from);
                ("standard output".to_owned(), file)
            }
            CapturePath::File(path) => {
                let file = OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(false)
                    .open(path);
                (path.display().to_string(), file)
            }
        };
        let opened = opened.and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = opened.map_err(|error| PortError::open(&name, "write", &error))?;
        files.enter(&name, &metadata, Direction::Write)?;
        let gzip = matches!(path, CapturePath::File(path) if super::spec::is_gzip(path));
        Ok(Self {
            gzip,
            name,
            file,
            format,
            live: !metadata.is_file(),
        })
    }

    /// Empties the file and begins the capture.
    pub(super) fn begin(self) -> Result<(CaptureWriter, bool), PortError> {
        let Self {
            name,
            file,
            format,
            gzip,
            live,
        } = self;
        // Standard output into a file may stand behind what others wrote: it is not emptied.
        if !live && name != "standard output" {
            file.set_len(0)
                .map_err(|error| PortError::open(&name, "empty", &error))?;
        }
        let writer = match gzip {
            true => CaptureWriter::gzip(&name, Box::new(file), format),
            false => CaptureWriter::new(&name, Box::new(file), format),
        };
        Ok((writer, live))
    }
}

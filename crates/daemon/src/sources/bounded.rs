//! Readers that end in an error where a limit is, and say which.

use std::io::{self, Read};

/// Fails with [`io::ErrorKind::FileTooLarge`] when more than a limit is read.
pub(crate) struct Bounded<R> {
    input: R,
    left: u64,
    /// Bytes read so far.
    pub(crate) read: u64,
}

impl<R: Read> Bounded<R> {
    pub(crate) fn new(input: R, bytes_max: u64) -> Self {
        Self {
            input,
            left: bytes_max,
            read: 0,
        }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if room.is_empty() {
            return Ok(0);
        }
        // One byte more than is left tells "at the limit" from "beyond it".
        let most = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX);
        let most = room.len().min(most);
        let count = self.input.read(&mut room[..most])?;
        if count as u64 > self.left {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.left -= count as u64;
        self.read += count as u64;
        Ok(count)
    }
}

/// True when a limit of [`Bounded`] was met, however wrapped since.
pub(crate) fn is_too_large(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::FileTooLarge
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_fine() {
        for (len, max, fits) in [(0, 0, true), (1, 0, false), (9, 9, true), (10, 9, false)] {
            let mut text = Vec::new();
            let bytes = vec![7; len];
            let result = Bounded::new(&bytes[..], max).read_to_end(&mut text);
            assert_eq!(result.is_ok(), fits, "{len} bytes of {max}");
            if let Err(error) = result {
                assert!(is_too_large(&error));
            }
        }
    }
}

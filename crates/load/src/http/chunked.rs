//! Chunked bodies, read as strictly as RFC 9112 section 7.1 writes them.

use super::{HEAD_BYTES_MAX, HttpFault};

/// Bytes of a line with a size and its extensions.
const LINE_BYTES_MAX: u16 = 256;
/// Hexadecimal digits of a size: no chunk is longer than 2^60 - 1.
const DIGITS_MAX: u16 = 15;

/// What was taken of the input, and the part of it that is body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step<'i> {
    pub(crate) taken: usize,
    pub(crate) data: &'i [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size,
    Extension,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    LastLf,
    Done,
}

/// A reader of one chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunked {
    state: State,
    /// Of the chunk, the size that is read or what is left of it.
    left: u64,
    digits: u16,
    /// Of the line with the size, or of all trailers.
    line: u16,
}

impl Chunked {
    pub(crate) const fn new() -> Self {
        Self {
            state: State::Size,
            left: 0,
            digits: 0,
            line: 0,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads on, up to the end of a run of body bytes or of the input.
    pub(crate) fn step<'i>(&mut self, input: &'i [u8]) -> Result<Step<'i>, HttpFault> {
        for (at, &byte) in input.iter().enumerate() {
            match self.state {
                State::Done => {
                    return Ok(Step {
                        taken: at,
                        data: &[],
                    });
                }
                State::Data => {
                    let len = self.left.min((input.len() - at) as u64) as usize;
                    self.left -= len as u64;
                    if self.left == 0 {
                        self.state = State::DataCr;
                    }
                    let data = &input[at..at + len];
                    return Ok(Step {
                        taken: at + len,
                        data,
                    });
                }
                _ => self.state = self.after(byte)?,
            }
        }
        Ok(Step {
            taken: input.len(),
            data: &[],
        })
    }

    /// The state after a byte that is no body.
    fn after(&mut self, byte: u8) -> Result<State, HttpFault> {
        Ok(match (self.state, byte) {
            (State::Size, b'\r') if self.digits > 0 => State::SizeEnd,
            (State::Size, b';') if self.digits > 0 => State::Extension,
            (State::Size, _) => self.size_digit(byte)?,
            (State::Extension, b'\r') => State::SizeEnd,
            (State::Extension, b'\t' | b' '..=b'~' | 0x80..) => self.counted(LINE_BYTES_MAX)?,
            (State::SizeEnd, b'\n') if self.left == 0 => self.at_line(State::TrailerStart),
            (State::SizeEnd, b'\n') => State::Data,
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => {
                self.digits = 0;
                self.at_line(State::Size)
            }
            (State::TrailerStart, b'\r') => State::LastLf,
            (State::TrailerStart, b'!'..=b'~') => State::Trailer,
            (State::Trailer, b'\r') => State::TrailerLf,
            (State::Trailer, b'\t' | b' '..=b'~' | 0x80..) => {
                self.counted(HEAD_BYTES_MAX as u16)?
            }
            (State::TrailerLf, b'\n') => State::TrailerStart,
            (State::LastLf, b'\n') => State::Done,
            _ => return Err(HttpFault::BadChunk),
        })
    }

    fn size_digit(&mut self, byte: u8) -> Result<State, HttpFault> {
        let digit = (byte as char).to_digit(16).ok_or(HttpFault::BadChunk)?;
        self.digits += 1;
        if self.digits > DIGITS_MAX {
            return Err(HttpFault::BadChunk);
        }
        self.left = self.left << 4 | u64::from(digit);
        Ok(State::Size)
    }

    fn counted(&mut self, most: u16) -> Result<State, HttpFault> {
        self.line += 1;
        if self.line > most {
            return Err(HttpFault::BadChunk);
        }
        Ok(self.state)
    }

    fn at_line(&mut self, state: State) -> State {
        self.line = 0;
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut input: &[u8], piece: usize) -> Result<(Vec<u8>, bool, usize), HttpFault> {
        let (mut reader, mut body) = (Chunked::new(), Vec::new());
        while !input.is_empty() && !reader.is_done() {
            let step = reader.step(&input[..piece.min(input.len())])?;
            body.extend_from_slice(step.data);
            input = &input[step.taken..];
        }
        Ok((body, reader.is_done(), input.len()))
    }

    #[test]
    fn bodies_however_they_are_cut() {
        let cases: [(&str, &str, usize); 5] = [
            ("0\r\n\r\n", "", 0),
            ("5\r\nhello\r\n0\r\n\r\nGET", "hello", 3),
            (
                "5;a=b\r\nhello\r\n00a\r\n0123456789\r\n0\r\n\r\n",
                "hello0123456789",
                0,
            ),
            ("1\r\nx\r\n0\r\nTrailer: yes\r\nOther: 1\r\n\r\n", "x", 0),
            ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789", 0),
        ];
        for (text, body, rest) in cases {
            for piece in 1..=text.len() {
                let read = read(text.as_bytes(), piece);
                assert_eq!(read, Ok((body.into(), true, rest)), "{text:?} by {piece}");
            }
        }
    }

    #[test]
    fn what_another_reader_could_take_for_more_or_less_is_refused() {
        let long = format!("1;{}\r\n", "x".repeat(300));
        let trailers = format!("0\r\n{}", "a: b\r\n".repeat(8000));
        for text in [
            "\r\n",
            "5\nhello",
            "5 \r\nhello",
            " 5\r\nhello",
            "0x5\r\nhello",
            "-5\r\n",
            "+5\r\n",
            "5\r\nhelloX",
            "5\r\nhello\n",
            "5\r\nhello\r\r",
            "g\r\n",
            ";\r\n",
            "5\rhello",
            "1000000000000000\r\n",
            "5;a\nb\r\n",
            "0\r\n\n",
            "0\r\n folded\r\n",
            "0\r\na\nb\r\n",
            "5;\0\r\n",
            &long,
            &trailers,
        ] {
            assert_eq!(
                read(text.as_bytes(), 7),
                Err(HttpFault::BadChunk),
                "{text:?}"
            );
        }
    }
}

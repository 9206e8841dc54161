//! What a gzip file holds: its members one after the other, and what may stand behind them.
//!
//! As gzip(1) reads it: members that follow each other are one text, zeros up to the end (tapes are
//! written in whole blocks) are nothing, and anything else behind a member is not read.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::GzDecoder;

/// A source of packed bytes.
type Packed = BufReader<Box<dyn Read + Send>>;

/// Where the reading is.
enum State {
    /// Within a member, the first or a later one.
    Member(GzDecoder<Packed>),
    /// Behind a member, perhaps within zeros.
    Between { packed: Packed, zeros: bool },
    /// At the end.
    Ended,
}

/// Unpacks gzip.
pub(super) struct Gunzip {
    state: State,
    first: bool,
    trailing: bool,
}

impl Gunzip {
    pub(super) fn new(packed: Box<dyn Read + Send>) -> Self {
        Self {
            state: State::Member(GzDecoder::new(BufReader::new(packed))),
            first: true,
            trailing: false,
        }
    }

    /// Whether bytes stand behind the members that are neither a member nor zeros.
    pub(super) const fn has_trailing(&self) -> bool {
        self.trailing
    }

    /// Goes on behind a member: to the next one or the end.
    fn go_on(&mut self) -> io::Result<()> {
        let State::Between { packed, zeros } = &mut self.state else {
            return Ok(());
        };
        loop {
            let bytes = packed.fill_buf()?;
            let Some(&first) = bytes.first() else {
                self.state = State::Ended;
                return Ok(());
            };
            if first != 0 {
                break;
            }
            let count = bytes.iter().take_while(|&&byte| byte == 0).count();
            *zeros = true;
            packed.consume(count);
        }
        let begins = !*zeros && packed.buffer().first() == Some(&0x1f);
        self.state = match std::mem::replace(&mut self.state, State::Ended) {
            State::Between { packed, .. } if begins => State::Member(GzDecoder::new(packed)),
            _ => State::Ended,
        };
        (self.first, self.trailing) = (false, !begins);
        Ok(())
    }
}

impl Read for Gunzip {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            match &mut self.state {
                State::Ended => return Ok(0),
                State::Between { .. } => self.go_on()?,
                State::Member(decoder) => match decoder.read(into) {
                    Ok(0) => {
                        let ended = std::mem::replace(&mut self.state, State::Ended);
                        if let State::Member(decoder) = ended {
                            let (packed, zeros) = (decoder.into_inner(), false);
                            self.state = State::Between { packed, zeros };
                        }
                    }
                    // What follows a member and has no header of one is no member.
                    Err(error)
                        if error.kind() == ErrorKind::InvalidInput
                            && !self.first
                            && decoder.header().is_none() =>
                    {
                        (self.state, self.trailing) = (State::Ended, true);
                    }
                    done => return done,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcap::tests::captures::gzip;

    /// All of it, whether something stands behind, and the kind of the error that ended it.
    fn unpacked(packed: Vec<u8>) -> (Vec<u8>, bool, Option<ErrorKind>) {
        let mut gunzip = Gunzip::new(Box::new(io::Cursor::new(packed)));
        let mut bytes = Vec::new();
        let error = gunzip.read_to_end(&mut bytes).err();
        (
            bytes,
            gunzip.has_trailing(),
            error.map(|error| error.kind()),
        )
    }

    #[test]
    fn members_are_read_and_what_is_behind_them_is_told() {
        let (a, b) = (gzip(b"first "), gzip(b"second"));
        let both = b"first second";
        let cut = &b[..b.len() - 3];
        let zeros = vec![0; 100_000];
        for (what, packed, bytes, trailing, error) in [
            ("one member", vec![&a[..]], &both[..6], false, None),
            ("two members", vec![&a, &b], both, false, None),
            (
                "an empty member between",
                vec![&a, &gzip(b""), &b],
                both,
                false,
                None,
            ),
            ("a zero", vec![&a, &[0]], &both[..6], false, None),
            ("a tape's zeros", vec![&a, &b, &zeros], both, false, None),
            ("text", vec![&a, b"text"], &both[..6], true, None),
            (
                "zeros and text",
                vec![&a, &zeros, b"x"],
                &both[..6],
                true,
                None,
            ),
            (
                "zeros and a member",
                vec![&a, &[0, 0], &b],
                &both[..6],
                true,
                None,
            ),
            (
                "no gzip behind 1f",
                vec![&a, &[0x1f, 7, 7, 7, 7, 7, 7, 7, 7, 7]],
                &both[..6],
                true,
                None,
            ),
            (
                "a member that is cut",
                vec![&a, cut],
                both,
                false,
                Some(ErrorKind::UnexpectedEof),
            ),
            (
                "a header that is cut",
                vec![&a, &b[..5]],
                &both[..6],
                false,
                Some(ErrorKind::UnexpectedEof),
            ),
        ] {
            let found = unpacked(packed.concat());
            assert_eq!(found, (bytes.to_vec(), trailing, error), "{what}");
        }
    }
}

//! TCP options: MSS (RFC 9293), window scale and timestamps (RFC 7323), SACK (RFC 2018).

use super::Seq;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Bytes of options at most.
pub(super) const OPTIONS_MAX: usize = 40;
/// Bytes of timestamps with padding.
pub(super) const TIMESTAMPS_BYTES: u32 = 12;
/// The largest window scale (RFC 7323 section 2.3).
const SCALE_MAX: u8 = 14;
/// SACK blocks at most.
pub(super) const SACK_MAX: usize = 4;

/// The timestamps option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The receiver's clock, as the sender saw it last.
    pub echo: u32,
}

/// SACK blocks: ranges that arrived, first byte and the one behind the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); SACK_MAX],
    len: u8,
}

impl SackBlocks {
    /// Adds a block; false where there is no room.
    pub(super) fn push(&mut self, block: (Seq, Seq)) -> bool {
        let place = self.blocks.get_mut(usize::from(self.len));
        let has_room = place.is_some();
        if let Some(place) = place {
            *place = block;
            self.len += 1;
        }
        has_room
    }

    /// The blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// The options of a segment that are known; others are passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The largest segment that its sender takes.
    pub mss: Option<u16>,
    /// The shift of windows, 14 at most.
    pub window_scale: Option<u8>,
    /// Its sender takes SACK.
    pub sack_permitted: bool,
    /// Both clocks.
    pub timestamps: Option<Timestamps>,
    /// What arrived beyond the acknowledgment number.
    pub sack: SackBlocks,
}

impl Options {
    /// Reads options; none where a length is wrong.
    pub(super) fn read(mut bytes: &[u8]) -> Option<Self> {
        let mut options = Self::default();
        while let [kind, rest @ ..] = bytes {
            match *kind {
                END => break,
                NO_OPERATION => bytes = rest,
                kind => {
                    let len = usize::from(*rest.first()?);
                    let body = bytes.get(2..len)?;
                    options.take(kind, body)?;
                    bytes = &bytes[len..];
                }
            }
        }
        Some(options)
    }

    fn take(&mut self, kind: u8, body: &[u8]) -> Option<()> {
        match kind {
            MSS => self.mss = Some(u16::from_be_bytes(body.try_into().ok()?)),
            WINDOW_SCALE => {
                let [shift] = body.try_into().ok()?;
                self.window_scale = Some(SCALE_MAX.min(shift));
            }
            SACK_PERMITTED if body.is_empty() => self.sack_permitted = true,
            SACK_PERMITTED => return None,
            SACK => self.take_sack(body)?,
            TIMESTAMPS if body.len() == 8 => {
                self.timestamps = Some(Timestamps {
                    value: word(body, 0),
                    echo: word(body, 4),
                });
            }
            TIMESTAMPS => return None,
            _ => {}
        }
        Some(())
    }

    fn take_sack(&mut self, body: &[u8]) -> Option<()> {
        if body.is_empty() || !body.len().is_multiple_of(8) {
            return None;
        }
        for block in body.chunks_exact(8) {
            self.sack.push((Seq(word(block, 0)), Seq(word(block, 4))));
        }
        Some(())
    }

    /// Writes the options, a whole number of words; returns their length.
    pub(super) fn write(&self, out: &mut [u8; OPTIONS_MAX]) -> usize {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        if let Some(mss) = self.mss {
            put(&[MSS, 4]);
            put(&mss.to_be_bytes());
        }
        if self.sack_permitted {
            put(&[NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]);
        }
        if let Some(shift) = self.window_scale {
            put(&[NO_OPERATION, WINDOW_SCALE, 3, shift]);
        }
        if let Some(clocks) = self.timestamps {
            put(&[NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10]);
            put(&clocks.value.to_be_bytes());
            put(&clocks.echo.to_be_bytes());
        }
        let room = if self.timestamps.is_some() {
            3
        } else {
            SACK_MAX
        };
        let blocks = self.sack.as_slice();
        let blocks = &blocks[..blocks.len().min(room)];
        if !blocks.is_empty() {
            put(&[NO_OPERATION, NO_OPERATION, SACK, 2 + 8 * blocks.len() as u8]);
            for (first, end) in blocks {
                put(&first.0.to_be_bytes());
                put(&end.0.to_be_bytes());
            }
        }
        at
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk::<4>);
    word.map_or(0, |word| u32::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut sack = SackBlocks::default();
        sack.push((Seq(1), Seq(9)));
        sack.push((Seq(u32::MAX), Seq(4)));
        let clocks = Timestamps { value: 7, echo: 8 };
        let syn = Options {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(clocks),
            ..Options::default()
        };
        let ack = Options {
            timestamps: Some(clocks),
            sack,
            ..Options::default()
        };
        for options in [Options::default(), syn, ack] {
            let mut bytes = [0; OPTIONS_MAX];
            let len = options.write(&mut bytes);
            assert_eq!(len % 4, 0);
            assert_eq!(Options::read(&bytes[..len]), Some(options));
        }
    }

    #[test]
    fn wrong_lengths_are_refused_and_unknown_options_passed_over() {
        let mss = |mss| Options {
            mss: Some(mss),
            ..Options::default()
        };
        let cases: [(&[u8], Option<Options>); 11] = [
            (&[], Some(Options::default())),
            (&[2, 4, 5, 180], Some(mss(1460))),
            (&[30, 3, 9, 2, 4, 0, 99], Some(mss(99))),
            (&[1, 1, 0, 2, 0], Some(Options::default())),
            (&[2], None),
            (&[2, 0], None),
            (&[2, 1, 5], None),
            (&[2, 5, 5, 180], None),
            (&[4, 3, 0], None),
            (&[5, 9, 0, 0, 0, 0, 0, 0, 0], None),
            (&[8, 6, 0, 0, 0, 0], None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(Options::read(bytes), expected, "{bytes:?}");
        }
        let scale = Options::read(&[3, 3, 200]).and_then(|options| options.window_scale);
        assert_eq!(scale, Some(SCALE_MAX));
    }
}

//! A sampled frame as it goes over the control socket.

use std::time::UNIX_EPOCH;

use engine::Sample;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A frame, and how many like it it stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedFrame {
    /// When it was judged, nanoseconds since 1970.
    pub time_ns: u64,
    /// The port it came in by.
    pub port: String,
    /// Why it was dropped; none where it was forwarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The sets that its addresses are in.
    #[serde(default)]
    pub sets: Vec<CapturedSet>,
    /// Frames of this kind since the sample before, itself included.
    pub stands_for: u64,
    /// Its length without FCS.
    pub original_len: u32,
    /// Its first bytes, in hexadecimal.
    pub bytes: HexBytes,
}

/// A set that an address of a frame is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedSet {
    /// Its name.
    pub set: String,
    /// Which address: `src` or `dst`.
    pub side: String,
    /// What a hit did: `block`, `count` or `allow`.
    pub action: String,
}

/// Bytes that JSON has as a string of hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HexBytes(pub Vec<u8>);

impl CapturedFrame {
    /// Of a sample, with the names that ports have in the configuration.
    #[must_use]
    pub fn of(sample: Sample, port_names: &[String]) -> Self {
        let since_1970 = sample.time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = sample.port.0;
        let port = port_names.get(usize::from(number)).cloned();
        let sets = sample.sets.into_iter().map(|set| CapturedSet {
            set: set.name,
            side: set.side.name().to_owned(),
            action: set.action.name().to_owned(),
        });
        Self {
            time_ns: u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX),
            port: port.unwrap_or_else(|| number.to_string()),
            reason: sample.reason.map(|reason| reason.name().to_owned()),
            sets: sets.collect(),
            stands_for: sample.stands_for,
            original_len: u32::try_from(sample.original_len).unwrap_or(u32::MAX),
            bytes: HexBytes(sample.bytes),
        }
    }
}

impl Serialize for HexBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String = digits
            .map(|digit| char::from(DIGITS[usize::from(digit)]))
            .collect();
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let byte = |pair: &[u8]| match *pair {
            [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
        bytes
            .map(Self)
            .ok_or_else(|| D::Error::custom("not an even number of hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_as_it_was() {
        let frame = CapturedFrame {
            time_ns: 5,
            reason: Some("blocked_src".to_owned()),
            sets: vec![CapturedSet::default()],
            bytes: HexBytes((0..=255).collect()),
            ..CapturedFrame::default()
        };
        let text = serde_json::to_string(&frame).expect("JSON");
        assert!(
            text.contains("0001020304") && text.contains("fdfeff"),
            "{text}"
        );
        assert_eq!(
            serde_json::from_str::<CapturedFrame>(&text).expect("it"),
            frame
        );
    }

    #[test]
    fn digits_that_are_none_are_refused() {
        for text in ["\"0\"", "\"0g\"", "\"00 \"", "\"+1\"", "7", "\"ü\""] {
            assert!(serde_json::from_str::<HexBytes>(text).is_err(), "{text}");
        }
    }
}

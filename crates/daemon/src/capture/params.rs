//! What `capture.start` takes.

use engine::{SNAP_BYTES_MAX, SampleSpec};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::rpc::{ErrorKind, RpcError};

/// Most samples a second of one capture: what a control connection carries with ease.
pub const RATE_MAX: u32 = 10_000;

/// Which frames to sample, and how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaptureParams {
    /// Frames that were dropped.
    #[serde(default)]
    pub drops: bool,
    /// Frames that hit a set and were forwarded.
    #[serde(default)]
    pub counted: bool,
    /// Of these, only frames that hit this set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    /// Samples a second, all workers together: 1 to [`RATE_MAX`].
    #[serde(default = "rate_default")]
    pub per_second: u32,
    /// Bytes of a frame at most.
    #[serde(default = "snap_default")]
    pub snap_bytes: u32,
}

fn rate_default() -> u32 {
    100
}

fn snap_default() -> u32 {
    SNAP_BYTES_MAX as u32
}

impl Default for CaptureParams {
    /// Dropped frames, 100 a second, as much of each as there is.
    fn default() -> Self {
        Self {
            drops: true,
            counted: false,
            set: None,
            per_second: rate_default(),
            snap_bytes: snap_default(),
        }
    }
}

impl CaptureParams {
    /// Reads and checks parameters.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParams`]: unknown members, a rate beyond [`RATE_MAX`], nothing asked
    /// for.
    pub fn read(params: Option<&RawValue>) -> Result<Self, RpcError> {
        let wrong = |why: &dyn std::fmt::Display| RpcError::new(ErrorKind::InvalidParams, why);
        let text = params.map_or("{\"drops\":true}", RawValue::get);
        let params: Self = serde_json::from_str(text).map_err(|error| wrong(&error))?;
        if !(1..=RATE_MAX).contains(&params.per_second) {
            let sentence = format!("a capture takes 1 to {RATE_MAX} samples a second");
            return Err(wrong(&sentence));
        }
        if !params.drops && !params.counted {
            return Err(wrong(&"a capture needs 'drops' or 'counted', or both"));
        }
        Ok(params)
    }

    /// The same for the engine.
    #[must_use]
    pub fn spec(&self) -> SampleSpec {
        SampleSpec {
            dropped: self.drops,
            counted: self.counted,
            set: self.set.clone(),
            per_second: self.per_second,
            snap_bytes: (self.snap_bytes as usize).min(SNAP_BYTES_MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CaptureParams, RpcError> {
        let raw = RawValue::from_string(text.to_owned()).expect("JSON");
        CaptureParams::read(Some(&raw))
    }

    #[test]
    fn what_may_be_asked() {
        assert_eq!(CaptureParams::read(None), Ok(CaptureParams::default()));
        let asked = read(r#"{"counted":true,"set":"bad","per_second":5}"#).expect("params");
        assert!(!asked.drops && asked.counted);
        assert_eq!((asked.set.as_deref(), asked.per_second), (Some("bad"), 5));
        let large = read(r#"{"drops":true,"snap_bytes":4000000000}"#).expect("params");
        assert_eq!(large.spec().snap_bytes, SNAP_BYTES_MAX);
    }

    #[test]
    fn what_may_not() {
        for text in [
            "{}",
            "7",
            r#"{"drops":true,"per_second":0}"#,
            r#"{"drops":true,"per_second":10001}"#,
            r#"{"drops":true,"rate":1}"#,
            r#"{"drops":1}"#,
        ] {
            let error = read(text).expect_err(text);
            assert_eq!(error.kind, ErrorKind::InvalidParams, "{text}");
        }
    }
}

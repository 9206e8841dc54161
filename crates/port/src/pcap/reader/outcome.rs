//! What there is to say at the end of a capture: whether it ended well, and what its user should
//! know.

use super::CaptureReader;
use crate::{PortError, PortErrorKind};

impl CaptureReader {
    /// At the end of a capture that gave no frame: that it is so, and why.
    #[must_use]
    pub fn emptiness(&self) -> Option<String> {
        if !self.ended || self.frames != 0 {
            return None;
        }
        let (name, records) = (self.name(), self.records);
        let why = self.findings.first_left_out();
        Some(match (records, why) {
            (0, _) => format!("{name} holds no frames: it has 0 records"),
            (1, Some(why)) => format!("{name} holds no frames: its one record {why}"),
            (_, Some(why)) => format!(
                "{name} holds no frames: none of its {records} records can be read, the first {why}"
            ),
            (_, None) => format!("{name} holds no frames: its {records} records hold none"),
        })
    }

    /// At the end: that it came before that of the capture. Of kind [`PortErrorKind::Read`] behind
    /// the last frame that was read; where there was none, the capture cannot be read.
    #[must_use]
    pub fn breakage(&self) -> Option<PortError> {
        let name = self.name();
        let (kind, sentence) = match (self.findings.breakage(name), self.frames) {
            (Some(sentence), 0) => (PortErrorKind::NotACapture, sentence),
            (Some(sentence), _) => (PortErrorKind::Read, sentence),
            (None, 0) if self.findings.missed() > 0 => {
                (PortErrorKind::NotACapture, self.emptiness()?)
            }
            (None, _) => return None,
        };
        Some(PortError::new(kind, sentence))
    }

    /// What the user should know of this capture, a sentence each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let name = self.name();
        let mut sentences = self.findings.sentences(name);
        if self.window.source().has_trailing() {
            sentences.push(format!(
                "{name} has bytes behind its gzip data that are no gzip; they were not read \
                 (gzip -t names them, too)"
            ));
        }
        if let Some(count @ 1..) = self.fcs_bytes() {
            sentences.push(format!(
                "{name} says that its frames end with {count} bytes of FCS; they were kept and are \
                 counted as part of the frames"
            ));
        }
        sentences
    }

    /// The error that ended reading, if one did.
    #[must_use]
    pub fn failure(&self) -> Option<PortError> {
        if self.ended
            && self.frames == 0
            && let Some(link_type) = self.findings.foreign_link()
        {
            return Some(self.foreign_error(link_type));
        }
        let (failure, frames) = (self.window.failure()?, self.frames);
        let sentence = format!(
            "reading {} failed after {frames} frames: {failure}",
            self.name()
        );
        Some(PortError::new(PortErrorKind::Read, sentence))
    }
}

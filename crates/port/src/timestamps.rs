//! Where the times of received frames come from.

use crate::SpecError;

/// What a user asks for by `timestamps=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timestamps {
    /// Those of the NIC where it has such, else of software.
    Auto,
    /// Those of the NIC, or the port is refused.
    Hardware,
    /// Those of software; nothing is changed on the NIC.
    #[default]
    Software,
}

impl Timestamps {
    const ALL: [Self; 3] = [Self::Auto, Self::Hardware, Self::Software];

    /// The word after `timestamps=`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Hardware => "hardware",
            Self::Software => "software",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, SpecError> {
        let named = Self::ALL.into_iter().find(|one| one.name() == text);
        named.ok_or_else(|| SpecError::value("timestamps", text, "auto, hardware or software"))
    }

    /// Whether the NIC is to be asked.
    pub(crate) fn ask(self) -> bool {
        self != Self::Software
    }
}

/// Where the times of received frames come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeSource {
    /// From whoever receives the frames and reads a clock.
    Software {
        /// Why not from the NIC, where that was asked for, or could be: a sentence.
        remark: Option<String>,
    },
    /// From the records of a capture: times since 1970.
    Recorded,
    /// From the NIC that received them: each frame's record has its time.
    Hardware {
        /// The NIC's clock, as in `/dev/ptp0`.
        clock: String,
        /// What times are wrong by since they are told as times of the kernel's monotonic clock,
        /// in the mean: nanoseconds.
        error_mean_ns: u64,
        /// The same, at worst.
        error_max_ns: u64,
        /// How often one of the clocks was set meanwhile: times of up to a tenth of a second
        /// around that are wrong by as much as it was moved.
        steps: u64,
        /// Since when times may be worse than that, and why: a sentence.
        remark: Option<String>,
    },
}

impl Default for TimeSource {
    fn default() -> Self {
        Self::Software { remark: None }
    }
}

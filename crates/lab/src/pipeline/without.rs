//! The stages of the path, by what is left out.

/// What a variant does without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Without {
    /// The whole path.
    Nothing,
    /// No header is asked for ahead.
    HeaderPrefetch,
    /// Addresses are read where a plain frame has them; all else is taken from the frame before.
    Parse,
    /// No address is looked up.
    Lookup,
    /// Every frame passes.
    Policy,
    /// A burst is staged as a whole, whatever its verdicts.
    CarryOut,
    /// Frames stay where they are: no ring, no carrying out.
    Rings,
    /// Addresses stay as they are: what is looked up fits the caches.
    Stamp,
    /// The harness alone: rings and stamping.
    All,
}

impl Without {
    /// Every one, the whole path first.
    pub(super) const EVERY: [Self; 9] = [
        Self::Nothing,
        Self::HeaderPrefetch,
        Self::Parse,
        Self::Lookup,
        Self::Policy,
        Self::CarryOut,
        Self::Rings,
        Self::Stamp,
        Self::All,
    ];

    /// As it stands in a row.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::HeaderPrefetch => "header_prefetch",
            Self::Parse => "parse",
            Self::Lookup => "lookup",
            Self::Policy => "policy",
            Self::CarryOut => "carry_out",
            Self::Rings => "rings",
            Self::Stamp => "stamp",
            Self::All => "all",
        }
    }

    /// What leaving it out tells, for a sentence.
    pub(super) fn cost(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::HeaderPrefetch => "asking for headers ahead",
            Self::Parse => "parsing",
            Self::Lookup => "both lookups",
            Self::Policy => "the policy",
            Self::CarryOut => "carrying verdicts out",
            Self::Rings => "rings and carrying out",
            Self::Stamp => "fresh addresses (stamping them, and lines that are not near)",
            Self::All => "the whole path, harness excluded",
        }
    }
}

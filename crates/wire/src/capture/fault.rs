//! What can be wrong with the bytes of a capture, each named once.

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $variant:ident => $sentence:literal,)+) => {
        /// Why bytes are not the capture record they should be.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum CaptureFault {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl CaptureFault {
            /// Every fault, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// What is wrong, as words that finish the sentence "the capture ...".
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$variant => $sentence,)+
                }
            }
        }
    };
}

faults! {
    /// Fewer bytes than the record needs: the file ends here, or more must be read first.
    TooShort => "ends within a record",
    /// The first four bytes belong to no capture format.
    UnknownMagic => "does not begin like a pcap or pcapng file",
    /// The "modified" pcap of some Linux distributions around 1999 (magic a1b2cd34).
    ModifiedPcap => "is a pcap of the modified kind (magic a1b2cd34), not read; \
                     editcap -F pcap IN OUT converts it",
    /// A major version that is neither pcap's 2 nor pcapng's 1.
    Version => "has a version that is not supported",
    /// A pcapng section whose byte-order magic is neither 1a2b3c4d nor its reverse.
    ByteOrderMagic => "has a section without a valid byte-order magic",
    /// A pcapng block length that is too small for its kind, no multiple of four, or whose two
    /// copies differ.
    BlockLength => "has a block whose length cannot be right",
    /// A captured length above [`super::CAPTURED_BYTES_MAX`] or beyond its block.
    CapturedLength => "has a record whose captured length cannot be right",
    /// An option that reaches beyond its block.
    OptionLength => "has an option that reaches beyond its block",
    /// A packet of an interface that its section does not describe.
    UnknownInterface => "has a frame of an interface that it does not describe",
    /// More interfaces in one section than a reader keeps.
    TooManyInterfaces => "describes more interfaces than a reader keeps",
    /// A file header of pcap where a record should begin.
    SecondHeader => "goes on with another capture, as cat joins them; join them with mergecap",
    /// The place to write to is smaller than the record.
    NoRoom => "does not fit where it should be written",
}

impl core::fmt::Display for CaptureFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the capture {}", self.sentence())
    }
}

impl core::error::Error for CaptureFault {}

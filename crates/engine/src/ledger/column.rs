//! The columns of the ledger: the places at which a frame is counted on its way.

macro_rules! columns {
    ($($variant:ident = $name:literal, $title:literal, $sentence:literal;)+) => {
        /// Where frames are counted, in the order of a frame's way.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Column {
            $(#[doc = concat!($sentence, ".")] $variant,)+
        }

        impl Column {
            /// All, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in JSON, `snake_case`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The heading in a table.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// One sentence for people, without capital and full stop.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)+ }
            }
        }
    };
}

columns! {
    Offered = "offered", "offered",
        "frames that the rate asked for";
    SentByUs = "sent_by_us", "sent by us",
        "frames that the port took to send, in a ring or by a system call";
    LeftInterface = "left_interface", "left interface",
        "frames that the interface counted as transmitted (tx_packets), those of others among them";
    ArrivedAtInterface = "arrived_at_interface", "arrived",
        "frames that came to the interface: received (rx_packets) or missed (rx_missed_errors)";
    ReceivedByUs = "received_by_us", "received by us",
        "frames that the port gave to a worker";
    Forwarded = "forwarded", "forwarded",
        "frames that a worker gave to a port to leave by";
    ReceivedBySink = "received_by_sink", "at the sink",
        "test frames that the sink recognised, each once and whole";
}

//! The states of a port's interface by name.

use std::fmt;

macro_rules! states {
    ($($variant:ident = $name:literal, $shown:literal, $sentence:literal;)+) => {
        /// A state that an operator wants to know of.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum PortState {
            $(#[doc = $sentence] $variant,)+
        }

        impl PortState {
            /// All, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As the report has it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl fmt::Display for PortState {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $shown,)+ })
            }
        }
    };
}

states! {
    LinkDown = "link_down", "link down",
        "The interface is set down, or nobody is at the other end.";
    Absent = "absent", "interface gone",
        "No interface of the name is there.";
    QueuesChanged = "queues_changed", "queues changed",
        "It has another number of receive queues than at the start.";
    MtuChanged = "mtu_changed", "MTU changed",
        "It has another MTU than at the start, or one whose frames the port has no room for.";
    OffloadsOn = "offloads_on", "offloads switched on",
        "Somebody switched on what the port had switched off.";
    RingFull = "ring_full", "transmit ring full",
        "It takes nothing of what is to be sent.";
    FullFramesLost = "full_frames_lost", "full frames lost",
        "Its driver drops frames, and none as long as its MTU came.";
    ChecksumsLeft = "checksums_left", "checksums left to the receiver",
        "Frames come whose checksum their sender left to the receiver.";
}

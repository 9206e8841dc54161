//! Small numbers with types, so that a queue is never taken for a port.

use core::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// How many bits the number has.
            pub const BITS: u32 = <$inner>::BITS;

            /// The number as an index into an array.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

ids! {
    /// A port: a thing frames enter and leave by. Never a port of TCP or UDP.
    PortId(u8);
    /// One receive and transmit pair of a port.
    QueueId(u16);
    /// A worker: the loop that is pinned to one CPU.
    WorkerId(u16);
    /// A frame pool. Unique in the process, never used twice.
    PoolId(u16);
    /// A NUMA node, numbered as in `/sys/devices/system/node`.
    NodeId(u16);
    /// A logical CPU, numbered as in `/proc/cpuinfo`.
    CpuId(u16);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_as_the_bare_number() {
        assert_eq!(PortId(7).to_string(), "7");
        assert_eq!(format!("{:>4}", QueueId(12)), "  12");
        assert_eq!(NodeId(1).index(), 1);
        assert!(CpuId(2) < CpuId(10));
    }
}

//! Every driver and mode that a bridge between two interfaces can be of; a test a driver.

use std::fmt;

use crate::bench::{Bench, Running, Side};

/// A pair of ports at `a` and `b`.
#[derive(Clone, Copy)]
pub(crate) struct Driver {
    a: &'static str,
    b: &'static str,
}

pub(crate) const XDP: Driver = Driver {
    a: "xdp:a",
    b: "xdp:b",
};

/// The program runs behind the driver, where tags beside a frame are out of its sight.
pub(crate) const GENERIC: Driver = Driver {
    a: "xdp:a,mode=generic,vlan=ignore",
    b: "xdp:b,mode=generic,vlan=ignore",
};

pub(crate) const PACKET: Driver = Driver {
    a: "packet:a",
    b: "packet:b",
};

/// One driver's frames leave by the other.
pub(crate) const MIXED: Driver = Driver {
    a: "xdp:a",
    b: "packet:b",
};

/// What is surely in no list does not come to the worker.
pub(crate) const SHORTCUT: Driver = Driver {
    a: "xdp:a,shortcut=on",
    b: "xdp:b,shortcut=on",
};

/// Frames leave without a socket buffer each, or it does not start.
pub(crate) const REDIRECT: Driver = Driver {
    a: "xdp:a,transmit=redirect",
    b: "xdp:b,transmit=redirect",
};

impl Driver {
    /// A veth end takes what a program redirects to it where its peer receives in bursts.
    #[track_caller]
    pub(crate) fn make_ready(self, bench: &Bench) {
        if self.a.contains("shortcut") || self.redirects() {
            bench.expect(Side::Left, "ethtool -K l gro on");
            bench.expect(Side::Right, "ethtool -K r gro on");
        }
    }

    /// Whether frames leave without socket buffers.
    pub(crate) fn redirects(self) -> bool {
        self.a.contains("redirect")
    }

    /// Starts the bridge between `a` and `b`.
    #[track_caller]
    pub(crate) fn bridge(self, bench: &Bench, options: &str) -> Running {
        self.make_ready(bench);
        bench.bridge(&format!("{self} {options}"))
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.a, self.b)
    }
}

/// Makes of each function that takes a [`Driver`] a test for every one of them.
macro_rules! on_each_driver {
    ($($check:ident),+ $(,)?) => { $(
        mod $check {
            #[test]
            fn xdp() {
                super::$check($crate::drivers::XDP);
            }
            #[test]
            fn generic() {
                super::$check($crate::drivers::GENERIC);
            }
            #[test]
            fn packet() {
                super::$check($crate::drivers::PACKET);
            }
            #[test]
            fn mixed() {
                super::$check($crate::drivers::MIXED);
            }
            #[test]
            fn redirect() {
                super::$check($crate::drivers::REDIRECT);
            }
        }
    )+ };
}
pub(crate) use on_each_driver;

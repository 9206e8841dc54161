//! Hashes that are not what most NICs give and that contradict nothing that a driver says.

/// Why one does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Excuse {
    /// It is by addresses alone, and the driver does not say what it hashes of such frames.
    Addresses,
    /// The driver hands on no hash.
    HashOff,
    /// The kernel made its own in place of one by addresses alone.
    Replaced,
    /// Nobody says what of a fragment is hashed.
    Fragment,
}

impl Excuse {
    /// What to say of so many frames of a kind.
    pub(super) fn note(self, kind: &str, frames: u64) -> String {
        let why = match self {
            Self::Addresses => {
                "are hashed by addresses alone, and the driver does not say what it hashes of them"
            }
            Self::HashOff => {
                "have a hash that the kernel made, since the NIC hands on none: ethtool -K IFACE \
                 rxhash on"
            }
            Self::Replaced => {
                "have a hash that the kernel made in place of one by addresses alone, so the NIC's \
                 is not known: xdp:IFACE shows it, where the driver tells programs of it"
            }
            Self::Fragment => "have a hash by neither key and addresses, which no driver promises",
        };
        match kind {
            "fragments" => format!("{frames} fragments {why}"),
            kind => format!("{frames} frames of {kind} {why}"),
        }
    }
}

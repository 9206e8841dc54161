//! Which CPU this is, as far as events by number depend on it.

use std::fs;

/// CPUs that have the same events by the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Intel Skylake, Cascade Lake, Comet Lake and between.
    IntelSkylake,
    /// Intel Ice Lake, Tiger Lake, Rocket Lake.
    IntelIceLake,
    /// Intel Sapphire Rapids, Emerald Rapids, Granite Rapids.
    IntelGoldenCove,
    /// AMD Zen 2.
    AmdZen2,
    /// AMD Zen 3.
    AmdZen3,
    /// AMD Zen 4.
    AmdZen4,
    /// AMD Zen 5.
    AmdZen5,
    /// Any other: events that the kernel knows by name alone.
    Other,
}

impl Family {
    /// The CPU that this runs on.
    #[must_use]
    pub fn here() -> Self {
        Self::of(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    /// By the first CPU of a text as `/proc/cpuinfo` has it.
    #[must_use]
    pub fn of(cpuinfo: &str) -> Self {
        let field = |name: &str| {
            let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
            let mut named = lines.filter(|(key, _)| key.trim() == name);
            named.next().map_or("", |(_, value)| value.trim())
        };
        let number = |name: &str| field(name).parse::<u32>().ok();
        match (field("vendor_id"), number("cpu family"), number("model")) {
            ("GenuineIntel", Some(6), Some(model)) => Self::intel(model),
            ("AuthenticAMD", Some(family), Some(model)) => Self::amd(family, model),
            _ => Self::Other,
        }
    }

    /// Models of Intel's family 6 (Software Developer's Manual, volume 4, table 2-1). CPUs with
    /// two kinds of cores are left out: their events have a number for each kind.
    fn intel(model: u32) -> Self {
        match model {
            0x4e | 0x5e | 0x55 | 0x8e | 0x9e | 0xa5 | 0xa6 => Self::IntelSkylake,
            0x6a | 0x6c | 0x7d | 0x7e | 0x8c | 0x8d | 0xa7 => Self::IntelIceLake,
            0x8f | 0xcf | 0xad | 0xae => Self::IntelGoldenCove,
            _ => Self::Other,
        }
    }

    /// Families 17h, 19h and 1Ah of AMD's Processor Programming References.
    fn amd(family: u32, model: u32) -> Self {
        match (family, model) {
            (0x17, 0x30..) => Self::AmdZen2,
            (0x19, 0x00..=0x0f | 0x20..=0x5f) => Self::AmdZen3,
            (0x19, _) => Self::AmdZen4,
            (0x1a, _) => Self::AmdZen5,
            _ => Self::Other,
        }
    }

    /// As people read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IntelSkylake => "Intel Skylake to Comet Lake",
            Self::IntelIceLake => "Intel Ice Lake to Rocket Lake",
            Self::IntelGoldenCove => "Intel Sapphire Rapids to Granite Rapids",
            Self::AmdZen2 => "AMD Zen 2",
            Self::AmdZen3 => "AMD Zen 3",
            Self::AmdZen4 => "AMD Zen 4",
            Self::AmdZen5 => "AMD Zen 5",
            Self::Other => "unknown to linerate",
        }
    }

    /// Operations that the front end can deliver in a cycle; none where no event counts the empty
    /// slots.
    pub(super) fn width(self) -> Option<f64> {
        match self {
            Self::IntelSkylake => Some(4.0),
            Self::IntelIceLake => Some(5.0),
            Self::IntelGoldenCove | Self::AmdZen4 => Some(6.0),
            Self::AmdZen5 => Some(8.0),
            Self::AmdZen2 | Self::AmdZen3 | Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_known_by_vendor_family_and_model() {
        for (vendor, family, model, expected) in [
            ("GenuineIntel", "6", "85", Family::IntelSkylake),
            ("GenuineIntel", "6", "106", Family::IntelIceLake),
            ("GenuineIntel", "6", "143", Family::IntelGoldenCove),
            ("GenuineIntel", "6", "151", Family::Other),
            ("GenuineIntel", "6", "63", Family::Other),
            ("GenuineIntel", "15", "85", Family::Other),
            ("AuthenticAMD", "23", "1", Family::Other),
            ("AuthenticAMD", "23", "49", Family::AmdZen2),
            ("AuthenticAMD", "25", "1", Family::AmdZen3),
            ("AuthenticAMD", "25", "33", Family::AmdZen3),
            ("AuthenticAMD", "25", "17", Family::AmdZen4),
            ("AuthenticAMD", "25", "97", Family::AmdZen4),
            ("AuthenticAMD", "26", "2", Family::AmdZen5),
            ("AuthenticAMD", "x", "2", Family::Other),
            ("HygonGenuine", "24", "1", Family::Other),
        ] {
            let text = format!(
                "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: \
                 {model}\nmodel name\t: x\n"
            );
            assert_eq!(Family::of(&text), expected, "{vendor} {family} {model}");
        }
        for text in ["", ":", "model\t: 1\n", "CPU implementer\t: 0x41\n"] {
            assert_eq!(Family::of(text), Family::Other, "{text}");
        }
    }
}

//! What a metric's name says: which way is better.

/// Which figures of a metric are the better ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// A rate, as `lookups_per_second`.
    Higher,
    /// A cost, as `ns_per_frame`.
    Lower,
}

impl Better {
    /// As the name says; none for a name that is neither a rate's nor a cost's.
    #[must_use]
    pub fn of(metric: &str) -> Option<Self> {
        if metric.ends_with("_per_second") {
            return Some(Self::Higher);
        }
        let cost = ["ns_per_", "bytes_per_"]
            .iter()
            .any(|head| metric.starts_with(head))
            || ["_ns", "_us", "_ms", "_seconds", "_bytes"]
                .iter()
                .any(|tail| metric.ends_with(tail));
        cost.then_some(Self::Lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_costs() {
        assert_eq!(Better::of("lookups_per_second"), Some(Better::Higher));
        assert_eq!(Better::of("ns_per_frame"), Some(Better::Lower));
        assert_eq!(Better::of("bytes_per_entry"), Some(Better::Lower));
        assert_eq!(Better::of("load_seconds"), Some(Better::Lower));
        assert_eq!(Better::of("sets"), None);
    }
}

//! Rules beside those of nft.

use crate::switch::judge;

/// Each row: seed, files of rules.
#[test]
fn every_packet_fares_as_with_nft() {
    for words in ["1 15", "2 15"] {
        judge("rules/kernel.py", words);
    }
}

/// Each row: seed, packets a rule.
#[test]
fn who_is_rejected_is_told_what_nft_tells() {
    judge("rules/reject.py", "1 8");
}

/// Each row: seed, files of rules.
#[test]
fn states_of_flows_are_those_of_nft() {
    judge("rules/states.py", "1 3");
}

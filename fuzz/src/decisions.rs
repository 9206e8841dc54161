//! Decisions of CrowdSec.

use daemon::sources::crowdsec::read_decisions;
use table::live::Entry;

/// An answer of a local API: read or refused with one printable sentence; what was read is within
/// the bound, covers not everything, and its comments are short and printable.
pub fn decisions(bytes: &[u8]) {
    const MOST: u64 = 50;
    let types = ["ban".to_owned(), "captcha".to_owned()];
    let found = match read_decisions(bytes, &types, MOST) {
        Ok(found) => found,
        Err(error) => {
            let told = error.to_string();
            return assert!(!told.is_empty() && told.len() < 1000, "{told}");
        }
    };
    let read = (found.new.len() + found.deleted.len()) as u64 + found.skipped + found.bad;
    assert!(read <= MOST);
    assert_eq!(found.bad != 0, found.first_bad.is_some());
    for decision in found.new.iter().chain(&found.deleted) {
        assert!(decision.comment.len() <= table::live::COMMENT_BYTES_MAX);
        assert!(!decision.comment.chars().any(char::is_control));
        let whole = match decision.entry {
            Entry::V4(range) => range.last() - range.first() == u32::MAX,
            Entry::V6(range) => range.last() - range.first() == u128::MAX,
        };
        assert!(!whole, "nothing covers everything");
    }
}

//! Words by which a list says of an address the opposite of what the list is for: read as a note,
//! such an address would be blocked by a list that spares it, or let through by one that denies it.

use crate::fault::Fault;
use crate::options::Purpose;

/// What lets an address through, or leaves it alone.
const WORDS: [&str; 26] = [
    "accept",
    "accepted",
    "accepts",
    "allow",
    "allowed",
    "allowlist",
    "allowlisted",
    "allows",
    "bypass",
    "exempt",
    "exempted",
    "ignore",
    "ignored",
    "pass",
    "passed",
    "permit",
    "permits",
    "permitted",
    "unban",
    "unbanned",
    "unblock",
    "unblocked",
    "whitelist",
    "whitelisted",
    "safelist",
    "safelisted",
];

/// What keeps an address out.
const DENIALS: [&str; 18] = [
    "ban",
    "banned",
    "blacklist",
    "blacklisted",
    "block",
    "blocked",
    "blocklist",
    "blocklisted",
    "blocks",
    "denied",
    "denies",
    "deny",
    "denylist",
    "drop",
    "dropped",
    "drops",
    "reject",
    "rejected",
];

/// Words of headings and keys of what is done with an address.
const ACTIONS: [&str; 20] = [
    "action",
    "category",
    "decision",
    "disposition",
    "effect",
    "kind",
    "list",
    "listing",
    "listtype",
    "mode",
    "operation",
    "policy",
    "remediation",
    "rule",
    "state",
    "status",
    "target",
    "treatment",
    "type",
    "verdict",
];

/// Of what must hold for the entry to count.
const HOLDING: [&str; 10] = [
    "active", "enabled", "banned", "block", "blocked", "deny", "denied", "drop", "enable", "valid",
];

/// Of those, what must hold whatever the entry is for.
const HELD_EITHER_WAY: [&str; 4] = ["active", "enabled", "enable", "valid"];

/// Of what must not hold.
const NOT_HOLDING: [&str; 7] = [
    "deleted", "disabled", "expired", "inactive", "obsolete", "removed", "revoked",
];

/// Words of a note that is looked at whole; prose is longer.
const WORDS_MAX: usize = 3;

impl Purpose {
    /// Words of a note that say the opposite.
    fn opposites(self) -> &'static [&'static str] {
        match self {
            Self::Block => &WORDS,
            Self::Allow => &DENIALS,
            Self::Read => &[],
        }
    }

    /// What is wrong with a line that says the opposite.
    pub(crate) fn opposite(self) -> Fault {
        match self {
            Self::Block | Self::Read => Fault::Spared,
            Self::Allow => Fault::Denied,
        }
    }
}

/// Whether a word, but for marks around, says the opposite of what the list is for.
pub(crate) fn is_word(word: &[u8], purpose: Purpose) -> bool {
    let is_mark = |byte: &u8| !byte.is_ascii_alphanumeric();
    let start = word.iter().position(|byte| !is_mark(byte));
    let end = word.iter().rposition(|byte| !is_mark(byte));
    let (Some(start), Some(end)) = (start, end) else {
        return false;
    };
    let bare = &word[start..=end];
    purpose
        .opposites()
        .iter()
        .any(|one| bare.eq_ignore_ascii_case(one.as_bytes()))
}

/// Whether a note says so: by its first word, or by any where there are few.
pub(crate) fn says(note: &[u8], purpose: Purpose) -> bool {
    let is_word = |word| is_word(word, purpose);
    let words = || {
        let words = note.split(u8::is_ascii_whitespace);
        words.filter(|word| word.iter().any(u8::is_ascii_alphanumeric))
    };
    let is_denied = |word: &[u8]| {
        let word = word.to_ascii_lowercase();
        matches!(&word[..], b"not" | b"no" | b"never" | b"don't" | b"dont")
    };
    match words().count() {
        0..=WORDS_MAX => words().any(is_word) && !words().any(is_denied),
        _ => words().next().is_some_and(is_word),
    }
}

/// Whether the value under a heading or a key says so; words of the key in small letters.
pub(crate) fn says_under(key: &[String], value: &str, purpose: Purpose) -> bool {
    if purpose == Purpose::Read {
        return false;
    }
    let any = |of: &[&str]| key.iter().any(|word| of.contains(&word.as_str()));
    let value = value.trim();
    if any(&ACTIONS) {
        let is_off = NOT_HOLDING
            .iter()
            .any(|word| value.eq_ignore_ascii_case(word));
        return is_off || is_word(value.as_bytes(), purpose);
    }
    // A key of more words is about something else: `blocked_ports`, `last_active`.
    let [word] = key else { return false };
    let is = |of: &[&str]| of.iter().any(|one| value.eq_ignore_ascii_case(one));
    let is_of = |of: &[&str]| of.contains(&word.as_str());
    let is_no = is(&["false", "no", "off", "n", "f"]);
    let is_yes = is(&["true", "yes", "on", "y", "t"]);
    // A zero elsewhere may be a count.
    let is_zero =
        value == "0" && matches!(word.as_str(), "active" | "enabled" | "enable" | "valid");
    let (must_hold, must_not_hold) = match purpose {
        Purpose::Block | Purpose::Read => (is_of(&HOLDING), is_of(&NOT_HOLDING) || is_of(&WORDS)),
        Purpose::Allow => (
            is_of(&HELD_EITHER_WAY) || is_of(&WORDS),
            is_of(&NOT_HOLDING) || is_of(&DENIALS),
        ),
    };
    ((is_no || is_zero) && must_hold) || ((is_yes || value == "1") && must_not_hold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_key::words_of;

    #[test]
    fn notes_that_spare_an_address() {
        for note in [
            "allow",
            "ALLOW",
            "ACCEPT",
            "whitelist",
            "whitelisted",
            "permit",
            "pass",
            "exempt",
            "unblock",
            "ignore",
            "(allow)",
            "[ignored]",
            "- allow",
            "-> pass",
            "action=allow x",
            "US allow",
            "tcp/443 ACCEPT",
            "allow all of the office",
            "ignore this one for the time being",
        ] {
            let is_joined = note.contains('=');
            assert_eq!(says(note.as_bytes(), Purpose::Block), !is_joined, "{note}");
        }
        for note in [
            "do not allow",
            "never ignore",
            "a scanner that tries to pass for others",
            "pass-the-hash",
            "allowance",
            "passwords",
            "",
            "-",
        ] {
            assert!(!says(note.as_bytes(), Purpose::Block), "{note}");
        }
    }

    /// What agrees with one purpose contradicts the other; what says neither contradicts none.
    #[test]
    fn notes_of_an_allow_list() {
        for (note, block, allow) in [
            ("allow", true, false),
            ("whitelisted", true, false),
            ("(permit)", true, false),
            ("block", false, true),
            ("[DENY]", false, true),
            ("US drop", false, true),
            ("- banned", false, true),
            ("do not block", false, false),
            ("the office", false, false),
            ("blocking", false, false),
            ("drop-in replacement", false, false),
        ] {
            let said = [Purpose::Block, Purpose::Allow].map(|of| says(note.as_bytes(), of));
            assert_eq!(said, [block, allow], "{note}");
        }
        for (key, value, block, allow) in [
            ("action", "allow", true, false),
            ("action", "deny", false, true),
            ("status", "inactive", true, true),
            ("enabled", "false", true, true),
            ("allowed", "true", true, false),
            ("allowed", "false", false, true),
            ("blocked", "true", false, true),
            ("blocked", "false", true, false),
            ("note", "block", false, false),
        ] {
            let key = words_of(key);
            let said = [Purpose::Block, Purpose::Allow].map(|of| says_under(&key, value, of));
            assert_eq!(said, [block, allow], "{key:?} {value}");
        }
    }

    #[test]
    fn values_that_spare_an_address() {
        for (key, value, expected) in [
            ("action", "allow", true),
            ("Action", "ACCEPT", true),
            ("ruleAction", "permit", true),
            ("list_type", "whitelist", true),
            ("verdict", "pass", true),
            ("status", "inactive", true),
            ("status", "unblocked", true),
            ("active", "false", true),
            ("enabled", "no", true),
            ("enabled", "0", true),
            ("blocked", "false", true),
            ("disabled", "true", true),
            ("revoked", "1", true),
            ("whitelisted", "yes", true),
            ("allow", "true", true),
            ("action", "block", false),
            ("action", "drop", false),
            ("status", "active", false),
            ("spf", "pass", false),
            ("note", "allow", false),
            ("active", "true", false),
            ("enabled", "1", false),
            ("blocked", "0", false),
            ("blocked", "17", false),
            ("whitelisted", "false", false),
            ("allowed", "", false),
            ("expired", "never", false),
            ("last_active", "false", false),
        ] {
            let said = says_under(&words_of(key), value, Purpose::Block);
            assert_eq!(said, expected, "{key} {value}");
        }
    }
}

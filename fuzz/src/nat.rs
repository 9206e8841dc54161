//! Rules for NAT as text.

use list::nat::{NatText, read};

/// A file of rules: refused with sentences, or printed so that it reads back to the same.
pub fn nat(bytes: &[u8]) {
    let text = match read("fuzz", bytes) {
        Ok(text) => text,
        Err(error) => return refused(&error.to_string()),
    };
    let printed = text.to_string();
    let again = read("fuzz", printed.as_bytes()).expect("what is printed is read");
    assert_eq!(again.to_string(), printed);
    assert_eq!(without_places(again), without_places(text));
}

/// Few lines that a terminal can show, each with its place.
fn refused(sentence: &str) {
    assert!(!sentence.is_empty() && sentence.lines().count() <= 1000);
    assert!(!sentence.contains(|char: char| char.is_control() && char != '\n'));
}

fn without_places(mut text: NatText) -> NatText {
    for rule in &mut text.rules {
        (rule.line, rule.column) = (0, 0);
    }
    text
}

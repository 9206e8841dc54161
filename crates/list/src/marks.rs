//! Marks that stand before or behind an entry and mean something to other programs: `@10.0.0.0/8`.

use crate::entry::Entry;
use crate::fault::Fault;

/// The fault of an entry with marks and nothing else wrong.
pub(crate) fn fault(field: &[u8]) -> Option<Fault> {
    // An address may begin or end with dots and colons, and quotes are those of a column.
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() && !matches!(byte, b':' | b'.' | b'"');
    let start = field.iter().position(|byte| !is_mark(byte))?;
    let end = field.iter().rposition(|byte| !is_mark(byte))? + 1;
    let fault = match (field[..start].first(), field.get(end)) {
        (Some(&mark), _) => Fault::MarkBefore(mark),
        // A network or a range that is not whole.
        (None, Some(b'/' | b'-') | None) => return None,
        (None, Some(&mark)) => Fault::MarkBehind(mark),
    };
    matches!(Entry::parse_known(&field[start..end]), Some(Ok(_))).then_some(fault)
}

#[cfg(test)]
mod tests {
    use crate::entry::Entry;
    use crate::wording::Wording;

    #[test]
    fn marks_beside_an_entry() {
        let own = ", which is not read; write the entry alone";
        for (field, said) in [
            ("@10.0.0.0/8", "begins with @"),
            ("@2001:db8::/32", "begins with @"),
            ("^10.0.0.0-10.0.0.9", "begins with ^"),
            ("+192.0.2.1", "begins with +"),
            ("-192.0.2.1", "begins with -"),
            ("||192.0.2.1^", "begins with |"),
            ("(192.0.2.1)", "begins with ("),
            ("<192.0.2.1>", "begins with <"),
            ("192.0.2.1*", "ends with *"),
            ("10.0.0.0/8@", "ends with @"),
        ] {
            assert_eq!(message(field), format!("\"{field}\" {said}{own}"));
        }
        // What has another meaning, or is no entry without the marks.
        for (field, said) in [
            ("!192.0.2.1", "holds an exception"),
            ("//192.0.2.1", "begins no comment here"),
            ("<html>", "is HTML or XML"),
            ("@home", "is not an address"),
            ("@10.0.0.1/8", "is not an address"),
            ("10.0.0.0/", "has no prefix length"),
            ("10.0.0.1-", "has no whole address at the end"),
            ("[192.0.2.1]", "is in brackets"),
        ] {
            assert!(message(field).contains(said), "{}", message(field));
        }
    }

    fn message(field: &str) -> String {
        let fault = Entry::parse(field.as_bytes()).expect_err("no entry");
        fault.about(field, Wording::Options).to_string()
    }
}

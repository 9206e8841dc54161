//! Lines of what `iptables-save` prints: rules, which no list is.

/// A table or a chain as `iptables-save` begins it.
fn begins(field: &[u8]) -> bool {
    const TABLES: [&[u8]; 5] = [b"*filter", b"*nat", b"*mangle", b"*raw", b"*security"];
    const CHAINS: [&[u8]; 5] = [
        b":INPUT",
        b":FORWARD",
        b":OUTPUT",
        b":PREROUTING",
        b":POSTROUTING",
    ];
    TABLES.contains(&field) || CHAINS.contains(&field)
}

/// A line by its first field: of a table, a chain, a rule, or the end of a table.
pub(crate) fn is_line(field: &[u8], line: &[u8]) -> bool {
    begins(field) || field == b"-A" || (field == b"COMMIT" && line == field)
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read};

    #[test]
    fn each_line_is_named_and_none_is_ipset() {
        let text = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -s 192.0.2.1/32 -j DROP\n\
                    -A INPUT ! -s 192.0.2.0/24 -j DROP\nCOMMIT\n";
        let lines = text.lines().map(String::from);
        for text in lines
            .chain([text.to_owned()])
            .filter(|text| text != "COMMIT")
        {
            let read = read("L", text.as_bytes(), &ReadOptions::default(), &mut |_| {});
            let said = read.expect_err("no list").to_string();
            assert!(said.contains("is of iptables-save"), "{text}: {said}");
        }
    }
}

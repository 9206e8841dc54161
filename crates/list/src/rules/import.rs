//! Rules out of what `nft -j list ruleset` prints.
//!
//! Each rule becomes text, which [`super::read`] must take; what it does not take is left out by
//! name. One list is imported: the first chain that filters what is forwarded, and the chains of
//! its table.

use serde_json::Value;

use super::parse::is_name;

/// Bytes of JSON, at most.
const JSON_MAX: usize = 16 << 20;

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// A file of rules; what was left out stands in it as a comment.
    pub text: String,
    /// What has no counterpart, a sentence each.
    pub left_out: Vec<String>,
}

/// Rules as text out of the JSON of nft.
///
/// # Errors
///
/// It is no such JSON, or no chain of it filters what is forwarded.
pub fn import(json: &str) -> Result<Imported, String> {
    if json.len() > JSON_MAX {
        return Err(format!(
            "the JSON has more than {JSON_MAX} bytes: leave sets out of it"
        ));
    }
    let document: Value = serde_json::from_str(json).map_err(|error| {
        format!("this is no JSON ({error}): give what 'nft -j list ruleset' prints")
    })?;
    let objects = document.get("nftables").and_then(Value::as_array);
    let objects =
        objects.ok_or("there is no \"nftables\" in it: give what 'nft -j list ruleset' prints")?;
    let chains: Vec<&Value> = objects
        .iter()
        .filter_map(|object| object.get("chain"))
        .collect();
    let filters = |chain: &&&Value| {
        text(chain, "hook") == "forward" && matches!(text(chain, "type"), "filter" | "")
    };
    let main = chains.iter().find(filters).ok_or(
        "no chain of it filters what is forwarded (type filter hook forward): only such rules have \
         a counterpart",
    )?;
    let mut imported = Imported::default();
    let policy = if text(main, "policy") == "drop" {
        "drop"
    } else {
        "accept"
    };
    imported.text = format!("policy {policy}\n");
    imported.chain(objects, main);
    for chain in &chains {
        let beside = same_table(chain, main) && chain.get("hook").is_none();
        // A line end in a name would make rules that nft does not have.
        if beside && !is_name(text(chain, "name")) {
            let name = text(chain, "name");
            let sentence = format!("chain {name} has a name that no list has here");
            imported.leave_out(&sentence);
        } else if beside {
            imported.text += &format!("\nchain {} {{\n", text(chain, "name"));
            imported.chain(objects, chain);
            imported.text += "}\n";
        } else if !std::ptr::eq(*chain, *main) {
            let (table, name) = (text(chain, "table"), text(chain, "name"));
            let sentence = format!("chain {name} of table {table} filters other packets");
            imported.left_out.push(printable(&sentence));
        }
    }
    super::read("the import", &imported.text)
        .map_err(|error| format!("what was left out is needed by the rest: {error}"))?;
    Ok(imported)
}

fn same_table(one: &Value, other: &Value) -> bool {
    ["family", "table"]
        .iter()
        .all(|key| text(one, key) == text(other, key))
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl Imported {
    fn chain(&mut self, objects: &[Value], chain: &Value) {
        let rules = objects.iter().filter_map(|object| object.get("rule"));
        let own =
            |rule: &&Value| same_table(rule, chain) && text(rule, "chain") == text(chain, "name");
        for rule in rules.filter(own) {
            match of_rule(rule) {
                Ok(line) => self.text += &format!("{line}\n"),
                Err(why) => {
                    let name = text(chain, "name");
                    let handle = rule.get("handle").and_then(Value::as_u64).unwrap_or(0);
                    self.leave_out(&format!("rule {handle} of chain {name}: {why}"));
                }
            }
        }
    }

    fn leave_out(&mut self, sentence: &str) {
        let sentence = printable(sentence);
        self.text += &format!("# left out: {sentence}\n");
        self.left_out.push(sentence);
    }
}

/// A sentence about names of others, for a comment and for terminals.
fn printable(sentence: &str) -> String {
    sentence.replace(char::is_control, " ")
}

/// A rule as text that is read.
fn of_rule(rule: &Value) -> Result<String, String> {
    let parts = rule
        .get("expr")
        .and_then(Value::as_array)
        .ok_or("it has no expr")?;
    let mut words = Vec::new();
    let mut ends = false;
    for part in parts {
        let object = part.as_object().and_then(|object| object.iter().next());
        let (kind, value) = object.ok_or("a statement of it is no object")?;
        ends |= matches!(kind.as_str(), "accept" | "drop" | "reject" | "jump");
        words.push(match kind.as_str() {
            "match" => of_match(value)?,
            "accept" | "drop" => kind.clone(),
            "counter" => continue,
            "reject" => of_reject(value)?,
            "jump" => format!("jump {}", text(value, "target")),
            other => return Err(format!("'{other}' has no counterpart")),
        });
    }
    if !ends {
        words.push("counter".to_owned());
    }
    let line = words.join(" ");
    // A jump is resolved when the whole is read; line ends in names would make other rules.
    let read = super::read("rule", &line).map_err(|error| error.faults[0].sentence.clone())?;
    match &read.main[..] {
        [one] => Ok(one.to_string()),
        _ => Err("it is not one rule".to_owned()),
    }
}

fn of_reject(value: &Value) -> Result<String, String> {
    match (text(value, "type"), text(value, "expr")) {
        ("tcp reset", _) => Ok("reject with tcp reset".to_owned()),
        ("", "") | ("icmp" | "icmpv6" | "icmpx", "port-unreachable") => Ok("reject".to_owned()),
        ("icmpx", word) => Ok(format!("reject with icmpx {word}")),
        ("icmp" | "icmpv6", "admin-prohibited") => {
            Ok("reject with icmpx admin-prohibited".to_owned())
        }
        (kind, word) => Err(format!("'reject with {kind} {word}' has no counterpart")),
    }
}

fn of_match(value: &Value) -> Result<String, String> {
    let (left, right) = (&value["left"], &value["right"]);
    let not = match text(value, "op") {
        "==" | "in" => "",
        "!=" => " !=",
        op => return Err(format!("the operator '{op}' has no counterpart")),
    };
    if let Some([field, mask]) = left.get("&").and_then(Value::as_array).map(Vec::as_slice) {
        let field = of_field(field)?;
        let offset = mask.as_u64() == Some(0x1FFF) && right.as_u64() == Some(0);
        return match (field.as_str(), offset, not) {
            ("ip frag-off", true, " !=") => Ok("meta nfproto ipv4 fragment later".to_owned()),
            ("tcp flags", _, "") => {
                let none = right.as_u64() == Some(0);
                let set = if none {
                    "none".to_owned()
                } else {
                    of_flags(right)?
                };
                Ok(format!("tcp flags {set} / {}", of_flags(mask)?))
            }
            _ => Err(format!("a mask of {field} has no counterpart")),
        };
    }
    let field = of_field(left)?;
    let quote = matches!(field.as_str(), "iif" | "oif");
    if field == "tcp flags" {
        // Equality with all flags, where the operator 'in' asks for any of them.
        let all = " / fin,syn,rst,psh,ack,urg,ecn,cwr";
        let exact = if text(value, "op") == "in" { "" } else { all };
        return Ok(format!("tcp flags{not} {}{exact}", of_flags(right)?));
    }
    Ok(format!("{field}{not} {}", of_value(right, quote)?))
}

fn of_field(left: &Value) -> Result<String, String> {
    if let Some(payload) = left.get("payload") {
        return Ok(format!(
            "{} {}",
            text(payload, "protocol"),
            text(payload, "field")
        ));
    }
    if let Some(meta) = left.get("meta") {
        return Ok(match text(meta, "key") {
            "iifname" | "iif" => "iif".to_owned(),
            "oifname" | "oif" => "oif".to_owned(),
            key => format!("meta {key}"),
        });
    }
    match left.get("ct") {
        Some(ct) if ct.get("dir").is_none() => Ok(format!("ct {}", text(ct, "key"))),
        _ => Err("what it matches has no counterpart".to_owned()),
    }
}

/// Flags, one or several: `syn`, `["syn", "ack"]` or `{"|": [...]}`.
fn of_flags(value: &Value) -> Result<String, String> {
    let value = value.get("|").unwrap_or(value);
    let many = match value {
        Value::Array(many) => many.iter().map(of_flags).collect::<Result<Vec<_>, _>>()?,
        one => vec![of_one(one)?],
    };
    Ok(many.join(","))
}

fn of_value(value: &Value, quote: bool) -> Result<String, String> {
    let many = value.get("set").unwrap_or(value);
    let Value::Array(many) = many else {
        let one = of_one(value)?;
        return Ok(if quote { format!("\"{one}\"") } else { one });
    };
    let each = many.iter().map(|one| of_value(one, quote));
    Ok(format!(
        "{{ {} }}",
        each.collect::<Result<Vec<_>, _>>()?.join(", ")
    ))
}

fn of_one(value: &Value) -> Result<String, String> {
    let unknown = || Err("a value of it has no counterpart".to_owned());
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Object(object) => match (object.get("prefix"), object.get("range")) {
            (Some(prefix), _) => Ok(format!(
                "{}/{}",
                of_one(&prefix["addr"])?,
                of_one(&prefix["len"])?
            )),
            (_, Some(Value::Array(ends))) if ends.len() == 2 => {
                Ok(format!("{}-{}", of_one(&ends[0])?, of_one(&ends[1])?))
            }
            _ => unknown(),
        },
        _ => unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The statements of a rule as nft prints them, and the rule or why it is left out.
    const RULES: &[(&str, &str)] = &[
        (
            r#"[{"counter":{"packets":0,"bytes":0}},{"drop":null}]"#,
            "drop",
        ),
        (r#"[{"counter":{"packets":0,"bytes":0}}]"#, "counter"),
        (
            r#"[{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},
            "right":{"prefix":{"addr":"10.0.0.0","len":8}}}},{"accept":null}]"#,
            "ip saddr 10.0.0.0/8 accept",
        ),
        (
            r#"[{"match":{"op":"!=","left":{"payload":{"protocol":"ip","field":"saddr"}},
            "right":"@bad"}},{"drop":null}]"#,
            "ip saddr != @bad drop",
        ),
        (
            r#"[{"match":{"op":"==","left":{"payload":{"protocol":"tcp","field":"dport"}},
            "right":{"set":[22,{"range":[80,90]}]}}},{"jump":{"target":"other"}}]"#,
            "tcp dport { 22, 80-90 } jump other",
        ),
        (
            r#"[{"match":{"op":"in","left":{"ct":{"key":"state"}},
            "right":["established","related"]}},{"accept":null}]"#,
            "ct state { established, related } accept",
        ),
        (
            r#"[{"match":{"op":"==","left":{"&":[{"payload":{"protocol":"tcp",
            "field":"flags"}},["syn","ack"]]},"right":"syn"}},{"drop":null}]"#,
            "tcp flags syn / syn,ack drop",
        ),
        (
            r#"[{"match":{"op":"==","left":{"&":[{"payload":{"protocol":"tcp",
            "field":"flags"}},{"|":["fin","syn"]}]},"right":0}},{"drop":null}]"#,
            "tcp flags none / fin,syn drop",
        ),
        (
            r#"[{"match":{"op":"!=","left":{"&":[{"payload":{"protocol":"ip",
            "field":"frag-off"}},8191]},"right":0}},{"drop":null}]"#,
            "meta nfproto ipv4 fragment later drop",
        ),
        (
            r#"[{"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"eth1"}},
            {"accept":null}]"#,
            "iif \"eth1\" accept",
        ),
        (
            r#"[{"reject":{"type":"tcp reset"}}]"#,
            "reject with tcp reset",
        ),
        (r#"[{"reject":null}]"#, "reject"),
        (
            r#"[{"reject":{"type":"icmpx","expr":"admin-prohibited"}}]"#,
            "reject with icmpx admin-prohibited",
        ),
        (
            r#"[{"reject":{"type":"icmp","expr":"net-prohibited"}}]"#,
            "!'reject with icmp net-prohibited' has no counterpart",
        ),
        (
            r#"[{"limit":{"rate":1,"per":"second"}},{"accept":null}]"#,
            "!'limit' has no",
        ),
        (
            r#"[{"match":{"op":"==","left":{"meta":{"key":"mark"}},"right":1}},{"drop":null}]"#,
            "!'meta' begins other matches",
        ),
        (
            r#"[{"match":{"op":"==","left":{"meta":{"key":"iifname"}},
            "right":"a\" accept\ndrop #"}},{"drop":null}]"#,
            "!",
        ),
        (
            r#"[{"match":{"op":"<","left":{"payload":{"protocol":"tcp","field":"dport"}},
            "right":9}},{"drop":null}]"#,
            "!the operator '<' has no",
        ),
        ("[7]", "!a statement"),
        ("7", "!it has no expr"),
    ];

    #[test]
    fn rules_become_text_or_are_named() {
        for (expr, expected) in RULES {
            let rule = serde_json::from_str(&format!("{{\"expr\":{expr}}}")).expect(expr);
            match (of_rule(&rule), expected.strip_prefix('!')) {
                (Ok(text), None) => assert_eq!(text, *expected, "{expr}"),
                (Err(why), Some(said)) => assert!(why.starts_with(said), "{expr}: {why}"),
                (other, _) => panic!("{expr}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_ruleset_becomes_a_file() {
        let json = r#"{"nftables":[{"metainfo":{}},{"table":{"family":"inet","name":"t"}},
            {"chain":{"family":"inet","table":"t","name":"in","hook":"input","type":"filter"}},
            {"chain":{"family":"inet","table":"t","name":"fwd","hook":"forward",
            "type":"filter","policy":"drop"}},
            {"chain":{"family":"inet","table":"t","name":"other"}},
            {"rule":{"family":"inet","table":"t","chain":"fwd","handle":4,
            "expr":[{"jump":{"target":"other"}}]}},
            {"rule":{"family":"inet","table":"t","chain":"fwd","handle":5,
            "expr":[{"log":null},{"accept":null}]}},
            {"rule":{"family":"inet","table":"t","chain":"other","handle":6,
            "expr":[{"accept":null}]}}]}"#;
        let imported = import(json).expect("a chain that filters");
        let text = "policy drop\njump other\n# left out: rule 5 of chain fwd: 'log' has no \
                    counterpart\n\nchain other {\naccept\n}\n";
        assert_eq!(imported.text, text);
        assert_eq!(imported.left_out.len(), 2, "{:?}", imported.left_out);
    }

    /// Names of a list that main jumps to, and whether it is taken over.
    #[test]
    fn names_make_no_rules() {
        for (name, is_taken) in [
            ("other", true),
            ("x {\\n}\\naccept\\nchain y", false),
            ("x\\u001b[2J", false),
            ("a b", false),
            ("", false),
        ] {
            let json = r#"{"nftables":[{"chain":{"name":"f","hook":"forward","policy":"drop"}},
                {"chain":{"name":"NAME"}},{"rule":{"chain":"f","handle":4,
                "expr":[{"jump":{"target":"NAME"}}]}}]}"#;
            let imported = import(&json.replace("NAME", name)).expect(name);
            let read = super::super::read("a", &imported.text).expect(name);
            let found = (read.main.len(), read.chains.len());
            assert_eq!(found, if is_taken { (1, 1) } else { (0, 0) }, "{name}");
            assert_eq!(imported.left_out.is_empty(), is_taken, "{name}");
            assert!(!imported.text.contains('\u{1b}'), "{name}");
        }
    }

    #[test]
    fn what_is_no_ruleset_is_refused() {
        for (json, said) in [
            ("", "this is no JSON"),
            ("{}", "there is no \"nftables\""),
            (r#"{"nftables":[]}"#, "no chain of it filters"),
        ] {
            let error = import(json).expect_err(json);
            assert!(error.starts_with(said), "{json}: {error}");
        }
    }
}

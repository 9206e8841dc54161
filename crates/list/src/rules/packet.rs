//! A packet in words, to be tried against rules.

use table::classify::{Field, Key};

use super::parse::matches;
use super::{RuleFault, Scope, Value};
use crate::rules::Operand;

/// A packet that was described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestPacket {
    /// What it has in each field.
    pub key: Key,
}

/// The packet that a text describes, by the matches that hold of it: `ip saddr 192.0.2.1 tcp dport
/// 22`. A set stands for itself: `ip saddr @bad` is a packet whose source is in it. What is not
/// said the packet does not have, but it is whole.
///
/// # Errors
///
/// The text is no matches, or one of them names more than one value.
pub fn test_packet(text: &str, scope: &Scope) -> Result<TestPacket, RuleFault> {
    let mut key = Key {
        fragment: Some(0),
        ..Key::default()
    };
    for found in matches(text)? {
        let fault = |sentence: String| RuleFault {
            line: 1,
            column: found.column,
            sentence,
        };
        let exact = match &found.operand {
            Operand::Values(values) => match &values[..] {
                [Value::Flags(flags, _)] => Some(u128::from(*flags)),
                [Value::Range(first, last)] if first == last => Some(*first),
                [Value::Port(_)] => None,
                _ => return Err(fault(one_value(found.kind.words))),
            },
            Operand::Set(_) => None,
        };
        if found.negated {
            return Err(fault(one_value(found.kind.words)));
        }
        for condition in scope.conditions(&found).map_err(fault)? {
            let said = exact.filter(|_| condition.field == found.kind.field);
            let value = said.or(condition.values.first().map(|range| range.0));
            set(&mut key, condition.field, value.unwrap_or(0)).map_err(fault)?;
        }
    }
    Ok(TestPacket { key })
}

fn one_value(words: &str) -> String {
    format!("a packet has one value of {words}: write that")
}

/// Sets a field; an error when it has another value already.
fn set(key: &mut Key, field: Field, value: u128) -> Result<(), String> {
    let before = key.get(field);
    let is_new =
        before.is_none() || matches!(field, Field::Fragment | Field::SrcSet(_) | Field::DstSet(_));
    if !is_new && before != Some(value) {
        return Err("this contradicts what stands before it: leave out one of both".to_owned());
    }
    let (byte, word) = (Some(value as u8), Some(value as u16));
    match field {
        Field::Family => key.family = value as u8,
        Field::SrcV4 | Field::SrcV6 => key.src = Some(value),
        Field::DstV4 | Field::DstV6 => key.dst = Some(value),
        Field::Protocol => key.protocol = byte,
        Field::SrcPort => key.src_port = word,
        Field::DstPort => key.dst_port = word,
        Field::TcpFlags => key.tcp_flags = byte,
        Field::IcmpType => key.icmp_type = byte,
        Field::IcmpCode => key.icmp_code = byte,
        Field::InPort => key.in_port = byte,
        Field::Vlan => key.vlan = word,
        Field::Fragment => key.fragment = byte,
        Field::FlowState => key.flow_state = byte,
        Field::Dscp => key.dscp = byte,
        Field::SrcSet(list) => {
            key.src = key.src.or(Some(0));
            key.src_sets |= 1 << (list % 32);
        }
        Field::DstSet(list) => {
            key.dst = key.dst.or(Some(0));
            key.dst_sets |= 1 << (list % 32);
        }
    }
    Ok(())
}

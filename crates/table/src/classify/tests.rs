//! The classifier against its twin, on rules and packets drawn from seeds.

use std::ops::ControlFlow;

use super::*;

/// A generator of numbers from a seed (xorshift).
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % below
    }

    /// Small values and the ends of the field, so that packets meet rules.
    fn value(&mut self, field: Field) -> u128 {
        let max = field.value_max();
        match self.next(8) {
            0 => max,
            1 => max - max.min(u128::from(self.next(4))),
            2 => (u128::from(self.next(6)) << 16).min(max),
            _ => u128::from(self.next(9)).min(max),
        }
    }

    fn condition(&mut self) -> Condition {
        let field = FIELDS[self.next(FIELDS.len() as u64) as usize];
        let count = 1 + self.next(3);
        let range = |draw: &mut Self| {
            let (one, other) = (draw.value(field), draw.value(field));
            (one.min(other), one.max(other))
        };
        Condition {
            field,
            values: (0..count).map(|_| range(self)).collect(),
        }
    }

    fn entry(&mut self, rule: u32) -> Entry {
        let count = self.next(4);
        Entry {
            conditions: (0..count).map(|_| self.condition()).collect(),
            rule,
            then: [Then::Accept, Then::Drop, Then::Continue][self.next(3) as usize],
        }
    }

    fn key(&mut self) -> Key {
        let family = [0, 4, 6][self.next(3) as usize];
        let address = match family {
            4 => Field::SrcV4,
            _ => Field::SrcV6,
        };
        let mut some = |field| {
            let has = self.next(4) != 0;
            has.then(|| self.value(field))
        };
        let byte = |value: Option<u128>| value.map(|value| value as u8);
        let word = |value: Option<u128>| value.map(|value| value as u16);
        Key {
            family,
            src: some(address).filter(|_| family != 0),
            dst: some(address).filter(|_| family != 0),
            protocol: byte(some(Field::Protocol)),
            src_port: word(some(Field::SrcPort)),
            dst_port: word(some(Field::DstPort)),
            tcp_flags: byte(some(Field::TcpFlags)),
            icmp_type: byte(some(Field::IcmpType)),
            icmp_code: byte(some(Field::IcmpCode)),
            in_port: byte(some(Field::InPort)),
            vlan: word(some(Field::Vlan)),
            fragment: byte(some(Field::Fragment)),
            flow_state: byte(some(Field::FlowState)),
            dscp: byte(some(Field::Dscp)),
            src_sets: some(Field::Protocol).unwrap_or(0) as u32,
            dst_sets: some(Field::Protocol).unwrap_or(0) as u32,
        }
    }
}

const FIELDS: [Field; 20] = [
    Field::Family,
    Field::SrcV4,
    Field::DstV4,
    Field::SrcV6,
    Field::DstV6,
    Field::Protocol,
    Field::SrcPort,
    Field::DstPort,
    Field::TcpFlags,
    Field::IcmpType,
    Field::IcmpCode,
    Field::InPort,
    Field::Vlan,
    Field::Fragment,
    Field::FlowState,
    Field::Dscp,
    Field::SrcSet(0),
    Field::SrcSet(2),
    Field::DstSet(1),
    Field::DstSet(31),
];

fn found(classifier: &Classifier, key: &Key) -> Vec<usize> {
    let mut found = Vec::new();
    classifier.each_match(key, |rule| {
        found.push(rule);
        ControlFlow::Continue(())
    });
    found
}

fn expected(entries: &[Entry], key: &Key) -> Vec<usize> {
    let all = entries.iter().enumerate();
    let matching = all.filter(|(_, entry)| matches(entry, key));
    matching.map(|(number, _)| number).collect()
}

#[test]
fn it_finds_what_its_twin_finds() {
    let mut matched = 0;
    for seed in 1..=60 {
        let mut draw = Draw(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let count = [0, 1, 7, 64, 65, 300, 4097, 4500][draw.next(8) as usize];
        let entries: Vec<Entry> = (0..count).map(|rule| draw.entry(rule)).collect();
        let classifier = Classifier::new(&entries).expect("few rules");
        for _ in 0..60 {
            let key = draw.key();
            let expected = expected(&entries, &key);
            matched += expected.len();
            assert_eq!(found(&classifier, &key), expected, "seed {seed}, {key:?}");
        }
    }
    assert!(matched > 1000, "packets hardly ever matched: {matched}");
}

#[test]
fn what_is_said_to_be_shadowed_never_decides() {
    let mut shadowed = 0;
    for seed in 1..=30 {
        let mut draw = Draw(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let entries: Vec<Entry> = (0..60).map(|rule| draw.entry(rule)).collect();
        let shadows = shadows(&entries);
        shadowed += shadows.iter().flatten().count();
        for _ in 0..300 {
            let key = draw.key();
            for number in expected(&entries, &key) {
                assert_eq!(
                    shadows[number], None,
                    "seed {seed}: {number} matches {key:?}"
                );
                if entries[number].then != Then::Continue {
                    break;
                }
            }
        }
    }
    assert!(shadowed > 10, "hardly any was shadowed: {shadowed}");
}

#[test]
fn hostile_rules_are_refused() {
    let wide = |rule: u32| Entry {
        conditions: vec![Condition {
            field: Field::SrcV4,
            values: vec![(rule.into(), u128::from(u32::MAX - rule))],
        }],
        rule,
        then: Then::Drop,
    };
    let entries: Vec<Entry> = (0..ENTRIES_MAX as u32 + 1).map(wide).collect();
    assert_eq!(
        Classifier::new(&entries),
        Err(TooLarge::Entries(ENTRIES_MAX + 1))
    );
    let nested = Classifier::new(&entries[..ENTRIES_MAX]);
    assert!(matches!(nested, Err(TooLarge::Bytes(_))), "nested ranges");
}

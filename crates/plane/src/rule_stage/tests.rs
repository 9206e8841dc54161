//! Rules through a bridge: what they see of frames, what they count, and what they leave alone.

use std::sync::Arc;

use frame::{Burst, FramePool, Nanos, PoolRequest, PortId, Region};
use table::classify::{Condition, Entry, Field, Then};
use table::flows::WhenFull;
use table::{CompiledLists, Entries};
use wire::emit::{Icmp, Ipv4, Network, Recipe, Tcp, Transport};

use crate::{
    Action, Bridge, DropReason, HitAddresses, Policy, Ports, RuleName, RuleNames, RuleTable,
    Ruleset, SetRule, Sides, Stateful, StatefulConfig, Timeouts, Verdict, Verdicts,
};

const A: PortId = PortId(0);
const B: PortId = PortId(1);
const CLIENT: u32 = 0x0A00_0001;
const SERVER: u32 = 0xC633_6401;
const SYN: u8 = 2;
const ACK: u8 = 16;

fn entry(rule: u32, conditions: &[(Field, u128)], then: Then) -> Entry {
    let condition = |&(field, value)| Condition {
        field,
        values: vec![(value, value)],
    };
    Entry {
        conditions: conditions.iter().map(condition).collect(),
        rule,
        then,
    }
}

struct Bench {
    bridge: Bridge,
    policy: Policy,
    ruleset: Ruleset,
    pool: FramePool,
}

impl Bench {
    /// A bridge whose set 0 holds the client and does nothing, and set 1 blocks 192.0.2.1.
    fn new(entries: &[Entry], default_drop: bool, stateful: bool) -> Self {
        let sets = vec![
            SetRule::new("clients", Action::Count, Sides::NONE),
            SetRule::new("bad", Action::Block, Sides::BOTH),
        ];
        let mut policy = Policy::new(sets).expect("two sets");
        policy.packet_rules = Some(table(entries, default_drop));
        let config = StatefulConfig {
            allow_new: Ports::only(A),
            flows: 1000,
            full: WhenFull::Refuse,
            answers_from_any: false,
            timeouts: Timeouts::default(),
            log: None,
        };
        let flows = || Box::new(Stateful::new(config).expect("some megabytes"));
        let bridge = Bridge::new([A, B], Box::new(HitAddresses::new([1, 2])));
        let request = PoolRequest {
            frames: 64,
            stride_bytes: 576,
            headroom_bytes: 64,
            node: None,
        };
        Self {
            bridge: bridge.with_stateful(stateful.then(flows)),
            ruleset: ruleset(&policy),
            policy,
            pool: Region::with_pools(&[request]).expect("memory").1.remove(0),
        }
    }

    fn replace(&mut self, entries: &[Entry], default_drop: bool) {
        self.policy.packet_rules = Some(table(entries, default_drop));
        self.ruleset = ruleset(&self.policy);
    }

    /// Why a frame was dropped, if it was.
    fn one(&mut self, from: PortId, bytes: &[u8]) -> Option<DropReason> {
        let (mut burst, mut verdicts) = (Burst::new(), Verdicts::new());
        let mut frame = self.pool.alloc().expect("a free frame");
        frame.copy_from(bytes).expect("a short frame");
        assert!(burst.push(frame).is_ok());
        self.bridge.set_now(Nanos(1_000_000_000));
        self.bridge
            .decide(&burst, from, &self.ruleset, &mut verdicts);
        self.pool.free_burst(&mut burst);
        match verdicts.as_slice()[0] {
            Verdict::Drop(reason) => Some(reason),
            _ => None,
        }
    }

    fn counts(&self) -> Vec<u64> {
        let rules = self.policy.packet_rules.as_ref().expect("there are some");
        rules
            .counts()
            .read()
            .iter()
            .map(|count| count.packets)
            .collect()
    }
}

fn table(entries: &[Entry], default_drop: bool) -> Arc<RuleTable> {
    let rules = entries.iter().map(|entry| entry.rule as usize + 1).max();
    let name = |number: usize| RuleName {
        line: number as u32 + 1,
        text: format!("rule {number}"),
        decides: true,
        rejects: None,
    };
    let names = RuleNames {
        source: "rules.txt".to_owned(),
        rules: (0..rules.unwrap_or(0)).map(name).collect(),
    };
    let table = RuleTable::new(entries, names, default_drop, 1);
    Arc::new(table.expect("few rules"))
}

fn ruleset(policy: &Policy) -> Ruleset {
    let entries = |address: u32| {
        let mut entries = Entries::default();
        entries.v4.addresses.push(address);
        entries
    };
    let lists = [entries(CLIENT), entries(0xC000_0201)];
    let lists = CompiledLists::compile(&[&lists[0], &lists[1]]).expect("two lists");
    Ruleset::new(Arc::new(lists), Arc::new(policy.clone())).expect("a list a set")
}

fn frame(ip: Ipv4<'_>, transport: Transport<'_>) -> Vec<u8> {
    let recipe = Recipe {
        network: Network::Ipv4(ip, transport),
        payload: &[0; 8],
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

fn tcp(src: u32, dst: u32, ports: (u16, u16), flags: u8) -> Vec<u8> {
    let tcp = Tcp {
        src_port: ports.0,
        dst_port: ports.1,
        flags,
        ..Tcp::default()
    };
    let ip = Ipv4 {
        src,
        dst,
        ..Ipv4::default()
    };
    frame(ip, Transport::Tcp(tcp))
}

fn ping() -> Vec<u8> {
    let icmp = Icmp {
        kind: 8,
        code: 0,
        rest: 0,
    };
    let ip = Ipv4 {
        src: CLIENT,
        dst: SERVER,
        ..Ipv4::default()
    };
    frame(ip, Transport::Icmp(icmp))
}

fn out(flags: u8) -> Vec<u8> {
    tcp(CLIENT, SERVER, (4000, 443), flags)
}

fn back(flags: u8) -> Vec<u8> {
    tcp(SERVER, CLIENT, (443, 4000), flags)
}

/// What a rule asks for, a frame, and whether it matches.
type Row<'a> = (&'a [(Field, u128)], &'a [u8], bool);

const RULE: Option<DropReason> = Some(DropReason::Rule);

#[test]
fn fields_are_read_out_of_frames() {
    let mut tagged = out(SYN);
    tagged.splice(12..12, [0x81, 0x00, 0x20, 0x05]);
    let mut marked = out(SYN);
    // DSCP 46, with the checksum mended: RFC 1624.
    marked[15] = 46 << 2;
    let sum = !u16::from_be_bytes([marked[24], marked[25]]);
    let sum = u32::from(sum) + (46 << 2);
    marked[24..26].copy_from_slice(&(!((sum & 0xFFFF) + (sum >> 16)) as u16).to_be_bytes());
    let mut later = out(SYN);
    later[20..22].copy_from_slice(&[0, 100]);
    let arp = {
        let mut arp = vec![0; 60];
        arp[12..14].copy_from_slice(&[8, 6]);
        arp
    };
    let table: &[Row<'_>] = &[
        (&[], &out(SYN), true),
        (&[], &arp, false),
        (&[(Field::Family, 4)], &out(SYN), true),
        (&[(Field::Family, 6)], &out(SYN), false),
        (&[(Field::SrcV4, CLIENT.into())], &out(SYN), true),
        (&[(Field::DstV4, CLIENT.into())], &out(SYN), false),
        (&[(Field::DstPort, 443)], &out(SYN), true),
        (
            &[(Field::DstPort, 443), (Field::Protocol, 17)],
            &out(SYN),
            false,
        ),
        (&[(Field::DstPort, 443)], &later, false),
        (&[(Field::Fragment, 2)], &later, true),
        (&[(Field::Fragment, 2)], &out(SYN), false),
        (&[(Field::TcpFlags, 2)], &out(SYN), true),
        (&[(Field::TcpFlags, 2)], &out(SYN | ACK), false),
        (&[(Field::TcpFlags, 0)], &ping(), false),
        (&[(Field::IcmpType, 8)], &ping(), true),
        (&[(Field::IcmpType, 8)], &out(SYN), false),
        (&[(Field::InPort, 0)], &out(SYN), true),
        (&[(Field::InPort, 1)], &out(SYN), false),
        (&[(Field::Vlan, 5)], &tagged, true),
        (&[(Field::Vlan, 0)], &out(SYN), false),
        (&[(Field::Dscp, 46)], &marked, true),
        (&[(Field::Dscp, 0)], &out(SYN), true),
        (&[(Field::SrcSet(0), 1)], &out(SYN), true),
        (&[(Field::SrcSet(0), 1)], &back(SYN), false),
        (&[(Field::DstSet(0), 1)], &back(SYN), true),
        (&[(Field::SrcSet(1), 0)], &out(SYN), true),
        (&[(Field::FlowState, 0)], &out(SYN), false),
    ];
    for (conditions, bytes, matches) in table {
        let mut bench = Bench::new(&[entry(0, conditions, Then::Drop)], false, false);
        let dropped = bench.one(A, bytes) == RULE;
        assert_eq!(dropped, *matches, "{conditions:?} on {bytes:x?}");
    }
}

#[test]
fn the_first_that_decides_ends() {
    let entries = [
        entry(0, &[(Field::SrcSet(0), 1)], Then::Continue),
        entry(1, &[(Field::DstPort, 443)], Then::Accept),
        entry(2, &[(Field::Protocol, 6)], Then::Drop),
    ];
    let mut bench = Bench::new(&entries, true, false);
    assert_eq!(bench.one(A, &out(SYN)), None);
    assert_eq!(bench.one(A, &back(SYN)), RULE);
    assert_eq!(bench.one(A, &ping()), RULE, "the policy");
    assert_eq!(bench.counts(), [2, 1, 1, 1]);
}

#[test]
fn sets_that_block_come_first() {
    let mut bench = Bench::new(&[entry(0, &[], Then::Accept)], false, false);
    let blocked = tcp(0xC000_0201, SERVER, (1, 2), SYN);
    assert_eq!(bench.one(A, &blocked), Some(DropReason::BlockedSrc));
    assert_eq!(bench.counts(), [0, 0]);
}

#[test]
fn flows_have_states() {
    let entries = [
        entry(0, &[(Field::FlowState, 1)], Then::Accept),
        entry(
            1,
            &[(Field::FlowState, 0), (Field::DstPort, 443)],
            Then::Accept,
        ),
    ];
    let mut bench = Bench::new(&entries, true, true);
    assert_eq!(bench.one(A, &tcp(CLIENT, SERVER, (4000, 80), SYN)), RULE);
    let stateful = bench.bridge.stateful().expect("it was given one");
    assert!(stateful.is_empty(), "what a rule drops begins no flow");
    assert_eq!(bench.one(A, &out(SYN)), None);
    assert_eq!(bench.one(A, &out(SYN)), None, "still new: nobody answered");
    assert_eq!(bench.counts(), [0, 2, 1]);
    assert_eq!(bench.one(B, &back(SYN | ACK)), None);
    assert_eq!(bench.one(A, &out(ACK)), None);
    assert_eq!(bench.counts(), [2, 2, 1]);
}

#[test]
fn a_flow_goes_by_the_rules_that_are_in_force_now() {
    let accept = [entry(0, &[], Then::Accept)];
    let mut bench = Bench::new(&accept, true, true);
    assert_eq!(bench.one(A, &out(SYN)), None);
    assert_eq!(bench.one(B, &back(SYN | ACK)), None);
    bench.replace(&[entry(0, &[(Field::DstPort, 443)], Then::Drop)], false);
    assert_eq!(bench.one(A, &out(ACK)), RULE);
    assert_eq!(bench.counts(), [1, 0], "counts begin with the rules");
    bench.replace(&accept, true);
    assert_eq!(bench.one(A, &out(ACK)), None);
}

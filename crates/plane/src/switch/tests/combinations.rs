//! All combinations of mode, PVID, membership, tag and what a port takes: the switch and the model
//! say the same of each, and `docs/switch.md` has what they say.

use std::fmt::Write;

use ::frame::PortId;

use super::super::*;
use super::bench::{A, B, BROADCAST, Bench, C, Fate, config, frame, ports, station};
use super::model::Model;
use crate::Ports;

const OWN: u16 = 10;
const OTHER: u16 = 20;
const ABSENT: u16 = 30;
const PRIORITY: u16 = 0xB000;
const BEGIN: &str = "<!-- combinations: begin -->\n";
const END: &str = "<!-- combinations: end -->";
const PAGE: &str = include_str!("../../../../../docs/switch.md");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    No,
    Untagged,
    Tagged,
}

const MEMBERS: [Member; 3] = [Member::No, Member::Untagged, Member::Tagged];
const PVIDS: [Option<u16>; 3] = [None, Some(OWN), Some(OTHER)];
const ACCEPTS: [Accept; 3] = [Accept::All, Accept::Tagged, Accept::Untagged];

/// What a frame brings, by its name in the page.
const TAGS: [(&str, &[[u16; 2]]); 9] = [
    ("none", &[]),
    ("priority", &[[0x8100, PRIORITY]]),
    ("10", &[[0x8100, PRIORITY | OWN]]),
    ("20", &[[0x8100, PRIORITY | OTHER]]),
    ("30 (no such VLAN)", &[[0x8100, PRIORITY | ABSENT]]),
    ("10 and 40 in it", &[[0x8100, PRIORITY | OWN], [0x8100, 40]]),
    ("of type 0x88a8", &[[0x88A8, PRIORITY | OWN]]),
    ("4095", &[[0x8100, PRIORITY | 0xFFF]]),
    ("cut short", &[[0x8100, PRIORITY | OWN]]),
];

#[derive(Clone, Copy, Debug)]
struct Case {
    mode: VlanMode,
    pvid: Option<u16>,
    ingress: Member,
    egress: Member,
    accept: Accept,
    filter: bool,
    tunnel: bool,
}

impl Case {
    /// What most ports are.
    fn plain(pvid: Option<u16>, ingress: Member, egress: Member) -> Self {
        Self {
            mode: VlanMode::Dot1q,
            pvid,
            ingress,
            egress,
            accept: Accept::All,
            filter: true,
            tunnel: false,
        }
    }

    /// All there are; modes without VLANs have two.
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for bits in 0..3 * 3 * 3 * 3 * 2 * 2 {
            all.push(Self {
                accept: ACCEPTS[bits / 27 % 3],
                filter: bits / 81 % 2 == 0,
                tunnel: bits / 162 == 0,
                ..Self::plain(
                    PVIDS[bits % 3],
                    MEMBERS[bits / 3 % 3],
                    MEMBERS[bits / 9 % 3],
                )
            });
        }
        for mode in [VlanMode::Default, VlanMode::Port] {
            all.push(Self {
                mode,
                ..Self::plain(None, Member::No, Member::No)
            });
        }
        all
    }

    /// A is the port that frames come in by; it is never a member of VLAN 20, of which C is.
    fn config(&self) -> SwitchConfig {
        let mut made = config(self.mode, 3);
        match self.mode {
            VlanMode::Default => return made,
            VlanMode::Port => {
                made.groups = vec![ports(&[A, B]), ports(&[A, C])];
                return made;
            }
            VlanMode::Dot1q => {}
        }
        let port = &mut made.ports[A.index()];
        port.pvid = self.pvid;
        port.priority = 1;
        port.accept = self.accept;
        port.ingress_filter = self.filter;
        port.tunnel = self.tunnel;
        let members = |kind| {
            let one = |member, port| match member == kind {
                true => Ports::only(port),
                false => Ports::NONE,
            };
            one(self.ingress, A).or(one(self.egress, B))
        };
        let vlan = |id, untagged, tagged| Vlan {
            id,
            untagged,
            tagged,
        };
        made.vlans = vec![
            vlan(
                OWN,
                members(Member::Untagged).with(C),
                members(Member::Tagged),
            ),
            vlan(OTHER, Ports::NONE, Ports::only(C)),
        ];
        made
    }
}

fn frames(to: Mac, tag: (&str, &[[u16; 2]])) -> Vec<u8> {
    let mut bytes = frame(to, station(1), tag.1);
    if tag.0 == "cut short" {
        bytes.truncate(17);
    }
    bytes
}

#[test]
fn every_combination_fares_as_the_model_says() {
    let mut tried = 0;
    for case in Case::all() {
        let settings = case.config();
        let (mut model, mut bench) = (Model::new(&settings), Bench::new(settings));
        let now_ms = bench.now.0 / 1_000_000;
        for tag in TAGS {
            for to in [BROADCAST, station(2)] {
                let bytes = frames(to, tag);
                let told = model.forward(A, now_ms, &bytes);
                assert_eq!(bench.one(A, &bytes), told, "{case:?} {tag:?} {to:?}");
                tried += 1;
            }
            // The destination answers, in the VLAN that it would be in, and is known from then on.
            for from in [B, C] {
                let answer = frame(station(1), station(2), tag.1);
                assert_eq!(
                    bench.one(from, &answer),
                    model.forward(from, now_ms, &answer)
                );
                let bytes = frames(station(2), tag);
                let told = model.forward(A, now_ms, &bytes);
                assert_eq!(bench.one(A, &bytes), told, "{case:?} {tag:?} {from:?}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, (324 + 2) * 9 * 4);
}

/// How a frame left by `port`, or why it did not.
fn in_words(fate: &Fate, port: PortId) -> String {
    let sent = match fate {
        Ok(sent) => sent,
        Err(reason) => return format!("`{}`", reason.name()),
    };
    let Some((_, bytes)) = sent.iter().find(|(to, _)| *to == port) else {
        return "not there".to_owned();
    };
    let mut words = Vec::new();
    for tag in bytes[12..].chunks_exact(4) {
        let [tpid, tci] = [[tag[0], tag[1]], [tag[2], tag[3]]].map(u16::from_be_bytes);
        match tpid {
            0x8100 => words.push(format!("tag {}, priority {}", tci & 0xFFF, tci >> 13)),
            0x88A8 => words.push(format!("tag {} of type 0x88a8", tci & 0xFFF)),
            _ => break,
        }
    }
    match words.is_empty() {
        true => "no tag".to_owned(),
        false => words.join("; in it "),
    }
}

/// The cells of one row: what becomes of a frame at a port of VLAN 10 without tags, at one with
/// tags, and at C, which has VLAN 20 tagged.
fn cells(case: Case, tag: (&str, &[[u16; 2]])) -> [String; 2] {
    [Member::Untagged, Member::Tagged].map(|egress| {
        let mut bench = Bench::new(Case { egress, ..case }.config());
        let fate = bench.one(A, &frames(BROADCAST, tag));
        let words = in_words(&fate, B);
        match fate {
            Ok(_) if words == "not there" => format!("VLAN 20: {}", in_words(&fate, C)),
            _ => words,
        }
    })
}

fn table() -> String {
    let mut page = String::from(
        "\n| PVID | member of VLAN 10 | tag | leaves by an untagged member of VLAN 10 \
         | by a tagged member | filter off, by a tagged member | tunnel, by a tagged member |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for pvid in PVIDS {
        for ingress in [Member::No, Member::Untagged] {
            for tag in TAGS {
                row(&mut page, pvid, ingress, tag);
            }
        }
    }
    for (mode, name) in [(VlanMode::Default, "default"), (VlanMode::Port, "port")] {
        for tag in TAGS {
            let case = Case {
                mode,
                ..Case::plain(None, Member::No, Member::No)
            };
            let bytes = frames(BROADCAST, tag);
            let sent = Bench::new(case.config()).one(A, &bytes);
            assert_eq!(sent, Ok(vec![(B, bytes.clone()), (C, bytes)]));
        }
        let same = "as it came | as it came | as it came | as it came";
        writeln!(page, "| mode {name} | | any | {same} |").expect("a string");
    }
    page.push('\n');
    page
}

fn row(page: &mut String, pvid: Option<u16>, ingress: Member, tag: (&str, &[[u16; 2]])) {
    let case = Case::plain(pvid, ingress, Member::No);
    let [untagged, tagged] = cells(case, tag);
    let as_tagged = Case {
        ingress: Member::Tagged,
        ..case
    };
    let is_member = ingress != Member::No;
    if is_member {
        // How a port sends has nothing to do with what it takes in.
        assert_eq!(cells(as_tagged, tag), [untagged.clone(), tagged.clone()]);
    }
    let filter = false;
    let [_, unfiltered] = cells(Case { filter, ..case }, tag);
    let tunnel = true;
    let [_, tunnelled] = cells(Case { tunnel, ..case }, tag);
    let pvid = pvid.map_or("none".to_owned(), |pvid| pvid.to_string());
    let member = if is_member { "yes" } else { "no" };
    let name = tag.0;
    writeln!(
        page,
        "| {pvid} | {member} | {name} | {untagged} | {tagged} | {unfiltered} | {tunnelled} |"
    )
    .expect("a string");
}

#[test]
fn the_page_has_the_table_of_combinations() {
    let (before, rest) = PAGE
        .split_once(BEGIN)
        .expect("a line where the table begins");
    let (shown, after) = rest.split_once(END).expect("a line where it ends");
    let right = table();
    if std::env::var_os("WRITE_COMBINATIONS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/switch.md");
        std::fs::write(path, [before, BEGIN, &right, END, after].concat()).expect("written");
    } else {
        assert_eq!(
            shown, right,
            "make it anew: WRITE_COMBINATIONS=1 cargo test -p linerate-plane --lib combinations"
        );
    }
}

//! What an interface does to frames that should be done to none in a wire.

use port::interface::{CHECKSUMS_TX, CUTTING, MERGING, SEGMENTING, Survey};

use super::finding::Finding;
use super::interface::{has_no_wire, is_veth};

const TAGS_RX: [&str; 2] = ["rx-vlan-hw-parse", "rx-vlan-stag-hw-parse"];
const TAGS_TX: [&str; 2] = ["tx-vlan-hw-insert", "tx-vlan-stag-hw-insert"];

/// `peer` is the other end of a veth pair, where it is in this namespace.
pub(super) fn findings(survey: &Survey, peer: Option<&Survey>) -> Vec<Finding> {
    if survey.offloads.is_none() {
        return vec![Finding::unknown("offloads", "the driver names none")];
    }
    let mut findings = merging(survey);
    findings.extend([
        tags_rx(survey),
        tags_tx(survey),
        checksums_rx(survey),
        checksums_tx(survey),
        segmentation(survey),
    ]);
    if is_veth(survey) {
        findings.push(of_peer(peer));
    }
    findings
}

/// Of `names` those in effect: the ones that can be changed, and the others.
fn active<'a>(survey: &Survey, names: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let offloads = survey.offloads.iter().flatten();
    let on = |name: &&str| {
        let mut offloads = offloads.clone();
        offloads.any(|(there, offload)| there == name && offload.active)
    };
    let changeable = |name: &&str| {
        let mut offloads = offloads.clone();
        offloads.any(|(there, offload)| there == name && offload.changeable)
    };
    names.iter().copied().filter(on).partition(changeable)
}

fn is_on(survey: &Survey, names: &[&str]) -> bool {
    let (changeable, fixed) = active(survey, names);
    !changeable.is_empty() || !fixed.is_empty()
}

/// The words that people give `ethtool -K`.
fn short(name: &str) -> &str {
    match name {
        "rx-gro" => "gro",
        "rx-lro" => "lro",
        "rx-vlan-hw-parse" => "rxvlan",
        "tx-vlan-hw-insert" => "txvlan",
        name => name,
    }
}

fn off(name: &str) -> String {
    format!(" {} off", short(name))
}

fn switch_off(survey: &Survey, names: &[&str]) -> String {
    let off: String = names.iter().map(|name| off(name)).collect();
    format!("ethtool -K {}{off}", survey.name)
}

fn shown(names: &[&str]) -> String {
    let names: Vec<&str> = names.iter().map(|name| short(name)).collect();
    names.join(" ")
}

/// What a port of ours switches off by itself endangers nothing here.
fn merging(survey: &Survey) -> Vec<Finding> {
    let what = "merging";
    let (changeable, fixed) = active(survey, &MERGING);
    let mut findings = Vec::new();
    if !changeable.is_empty() {
        let finding = Finding::doubtful(
            what,
            format!("{} on", shown(&changeable)),
            "received frames become larger than the wire's; a bridge of this program switches it \
             off while it runs, others may not",
        );
        findings.push(finding.mended_by(switch_off(survey, &changeable)));
    }
    if !fixed.is_empty() {
        findings.push(Finding::wrong(
            what,
            format!("{} on and fixed", shown(&fixed)),
            "frames that were merged fit no wire and are lost; only the driver or the hypervisor \
             can switch it off (guest_tso4, guest_tso6)",
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::good(what, "gro and lro off"));
    }
    findings
}

fn tags_rx(survey: &Survey) -> Finding {
    let what = "vlan receive";
    let (changeable, fixed) = active(survey, &TAGS_RX);
    if !fixed.is_empty() {
        return Finding::doubtful(
            what,
            "tags taken off, fixed",
            "XDP does not see them, so that xdp: refuses the interface: use packet:, which puts \
             them back",
        );
    }
    if changeable.is_empty() {
        return Finding::good(what, "tags left in the frame");
    }
    Finding::doubtful(
        what,
        "tags taken off",
        "XDP does not see them; xdp: switches it off while it runs, packet: puts them back",
    )
    .mended_by(switch_off(survey, &changeable))
}

fn tags_tx(survey: &Survey) -> Finding {
    let what = "vlan transmit";
    match (is_on(survey, &TAGS_TX), is_veth(survey)) {
        (false, _) => Finding::good(what, "tags left in the frame"),
        (true, false) => Finding::good(what, "tags put in by the driver"),
        (true, true) => Finding::doubtful(
            what,
            "tags kept beside the frame",
            "those of a VLAN interface on it reach XDP at the other end without them",
        )
        .mended_by(switch_off(survey, &active(survey, &TAGS_TX).0)),
    }
}

fn checksums_rx(survey: &Survey) -> Finding {
    let what = "checksums receive";
    let on = is_on(survey, &["rx-checksum"]);
    match (on, survey.driver.as_deref()) {
        (true, Some("virtio_net")) => Finding::doubtful(
            what,
            "left to this machine",
            "neighbours on the same host may send them unfinished (guest_csum of the hypervisor); \
             xdp: and packet: finish them, shortcut=on and bypass=on do not",
        ),
        (true, _) => Finding::good(what, "checked by the driver"),
        (false, _) => Finding::good(what, "checked by the kernel"),
    }
}

fn checksums_tx(survey: &Survey) -> Finding {
    let what = "checksums transmit";
    let (changeable, _) = active(survey, &CHECKSUMS_TX);
    match (is_on(survey, &CHECKSUMS_TX), has_no_wire(survey)) {
        (false, _) => Finding::good(what, "finished by the kernel"),
        (true, false) => Finding::good(what, "finished by the driver"),
        (true, true) => {
            let why = "what this host itself sends by it reaches the other end unfinished";
            let finding = Finding::doubtful(what, "left to the receiver", why);
            if changeable.is_empty() {
                return finding;
            }
            finding.mended_by(format!("ethtool -K {} {CUTTING}", survey.name))
        }
    }
}

fn segmentation(survey: &Survey) -> Finding {
    let what = "segmentation";
    match (is_on(survey, &SEGMENTING), has_no_wire(survey)) {
        (false, _) => Finding::good(what, "cut by this host"),
        (true, false) => Finding::good(what, "on, for what this host itself sends"),
        (true, true) => Finding::doubtful(
            what,
            "left to the receiver",
            "TCP of this host reaches the other end in pieces of up to 64 KiB, which fit no wire",
        )
        .mended_by(format!("ethtool -K {} {CUTTING}", survey.name)),
    }
}

fn of_peer(peer: Option<&Survey>) -> Finding {
    let what = "veth peer";
    let Some(peer) = peer.filter(|peer| peer.offloads.is_some()) else {
        let why = "it is in another network namespace: see there that it sends whole checksums and \
                   frames";
        let tags: String = TAGS_TX.iter().map(|name| off(name)).collect();
        return Finding::unknown(what, why).mended_by(format!("ethtool -K PEER {CUTTING}{tags}"));
    };
    let name = &peer.name;
    let (tags, segments) = (active(peer, &TAGS_TX).0, is_on(peer, &SEGMENTING));
    let cutting = match segments || is_on(peer, &CHECKSUMS_TX) {
        true => format!(" {CUTTING}"),
        false => String::new(),
    };
    let tags_off: String = tags.iter().map(|name| off(name)).collect();
    let remedy = format!("ethtool -K {name}{cutting}{tags_off}");
    if segments || is_on(peer, &TAGS_TX) {
        return Finding::wrong(
            what,
            format!("{name} leaves checksums, segmentation or tags to the receiver"),
            "its host's frames come unfinished, larger than a wire's, or to XDP without their tags",
        )
        .mended_by(remedy);
    }
    if !cutting.is_empty() {
        return Finding::doubtful(
            what,
            format!("{name} leaves checksums to the receiver"),
            "xdp: and packet: finish them, which costs rate; shortcut=on and bypass=on do not",
        )
        .mended_by(remedy);
    }
    Finding::good(what, format!("{name} sends whole frames"))
}

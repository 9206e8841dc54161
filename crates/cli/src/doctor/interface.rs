//! What an interface is and whether frames can pass it.

use port::interface::{LeftBehind, Link, Program, Survey};
use port::native_mtu_max;

use super::finding::Finding;

/// `ARPHRD_LOOPBACK`, linux/if_arp.h.
const LOOPBACK: u16 = 772;
/// Hardware types whose frames begin with an Ethernet header; the first is `ARPHRD_ETHER`.
const ETHERNET: [u16; 2] = [1, LOOPBACK];
/// Of a frame beside its packet: the Ethernet header, and the FCS, which frame sizes count.
const LINK_BYTES: u32 = 18;
/// Why nothing is said of what `/sys` alone shows.
pub(super) const UNSEEN: &str = "/sys does not show this network namespace";
/// The name of the program of our own bridges.
const OURS: &str = "linerate";

pub(super) fn is_ethernet(survey: &Survey) -> bool {
    survey
        .hardware_type
        .is_some_and(|kind| ETHERNET.contains(&kind))
}

pub(super) fn is_veth(survey: &Survey) -> bool {
    survey.driver.as_deref() == Some("veth")
}

/// Whether what it sends is received as it was sent: nothing between the ends finishes checksums.
pub(super) fn has_no_wire(survey: &Survey) -> bool {
    is_veth(survey) || survey.hardware_type == Some(LOOPBACK)
}

pub(super) fn findings(survey: &Survey) -> Vec<Finding> {
    if survey.hardware_type.is_some() && !is_ethernet(survey) {
        return vec![kind(survey), link(survey)];
    }
    let mut findings = vec![
        kind(survey),
        link(survey),
        mtu(survey),
        promiscuous(survey),
        program(survey),
    ];
    findings.extend(sysfs(survey));
    findings.extend(survey.left.iter().map(|left| left_changed(survey, left)));
    findings
}

/// What enters a network namespace alone leaves `/sys` as it was, where interfaces of the same
/// names may be other ones.
fn sysfs(survey: &Survey) -> Option<Finding> {
    let seen = survey.in_sysfs || survey.link == Link::Absent;
    (!seen).then(|| {
        let name = &survey.name;
        let why = "/sys shows another network namespace, or is not mounted: interrupts, memory \
                   node and kernel threads are not seen; all else was asked of the kernel itself";
        Finding::unknown("sysfs", why).mended_by(format!(
            "unshare -m sh -c 'mount -t sysfs sysfs /sys && linerate doctor {name}'"
        ))
    })
}

/// What a bridge that was killed had found otherwise.
fn left_changed(survey: &Survey, left: &LeftBehind) -> Finding {
    let (what, name) = ("left changed", &survey.name);
    match &left.found {
        Ok((process, found)) => Finding::doubtful(
            what,
            format!("by process {process}, which was killed"),
            format!("it had found: {}", found.join(", ")),
        )
        .mended_by(format!("linerate restore {name}")),
        Err(why) => Finding::doubtful(what, "unclear", why.clone()),
    }
}

fn kind(survey: &Survey) -> Finding {
    let what = "driver";
    match (survey.hardware_type, survey.driver.as_deref()) {
        (Some(kind), _) if !ETHERNET.contains(&kind) => Finding::doubtful(
            what,
            format!("hardware type {kind}"),
            "it carries no Ethernet frames: no bridge can use it",
        ),
        (Some(LOOPBACK), None) => Finding::good(what, "loopback"),
        (_, Some(driver)) => Finding::good(what, driver),
        (_, None) => Finding::unknown(what, "the driver does not say its name"),
    }
}

fn link(survey: &Survey) -> Finding {
    let (what, name) = ("link", &survey.name);
    match survey.link {
        Link::Up(_) => Finding::good(what, "up"),
        Link::Down(_) => Finding::doubtful(what, "down", "no frames pass until it is set up")
            .mended_by(format!("ip link set dev {name} up")),
        Link::NoCarrier(_) => Finding::doubtful(
            what,
            "no carrier",
            "nobody is at the other end: no cable, or the peer is down",
        ),
        Link::Absent => Finding::unknown(what, "it went away meanwhile"),
    }
}

fn mtu(survey: &Survey) -> Finding {
    let (what, name) = ("mtu", &survey.name);
    let several = survey.xdp.as_ref().is_some_and(|xdp| xdp.several_pieces);
    let largest = native_mtu_max(survey.driver.as_deref(), several);
    match survey.mtu {
        None => Finding::unknown(what, "the kernel does not say"),
        Some(mtu) if mtu > largest => Finding::doubtful(
            what,
            mtu.to_string(),
            format!("xdp: has room for frames of an MTU up to {largest}; packet: takes them all"),
        )
        .mended_by(format!("ip link set dev {name} mtu {largest}")),
        Some(mtu) if mtu < 1500 => Finding::doubtful(
            what,
            mtu.to_string(),
            "full-sized frames of other interfaces cannot leave by it",
        )
        .mended_by(format!("ip link set dev {name} mtu 1500")),
        Some(mtu) => Finding::good(
            what,
            format!(
                "{mtu}: frames up to {} bytes with FCS, and one VLAN tag",
                mtu + LINK_BYTES
            ),
        ),
    }
}

/// Of interfaces that were named together, as for one bridge: which is the shortest, where this
/// one is longer.
pub(super) fn unequal_mtus(survey: &Survey, together: &[Survey]) -> Option<Finding> {
    let ethernet = together.iter().filter(|other| is_ethernet(other));
    let known = ethernet.filter_map(|other| Some((other.mtu?, &other.name)));
    let (least, of) = known.min_by_key(|&(mtu, _)| mtu)?;
    let (mtu, name) = (survey.mtu.filter(|&mtu| mtu > least)?, &survey.name);
    let value = format!("{mtu} here, {least} of {of}");
    let why = format!(
        "frames above {} bytes with FCS that come in here cannot leave by {of}: a bridge of both \
         drops them (tx_refused), and hosts that send them see connections that hang",
        least + LINK_BYTES
    );
    let remedy = format!("ip link set dev {name} mtu {least}");
    Some(Finding::doubtful("equal mtus", value, why).mended_by(remedy))
}

fn promiscuous(survey: &Survey) -> Finding {
    let what = "promiscuous";
    match survey.promiscuous {
        None => Finding::unknown(what, "the kernel does not show it here"),
        Some(false) => Finding::good(what, "no"),
        Some(true) => Finding::doubtful(
            what,
            "yes",
            "somebody receives all its frames already: a capture, or another bridge",
        ),
    }
}

fn program(survey: &Survey) -> Finding {
    let (what, name) = ("xdp program", &survey.name);
    let Some(programs) = &survey.programs else {
        return Finding::unknown(what, "the kernel does not say");
    };
    let Some(program) = programs.first() else {
        return Finding::good(what, "none");
    };
    let called = match program.name.as_deref() {
        None => {
            let id = program.id;
            let why = format!("one is on it, id {id}; whose it is, root alone is told");
            return Finding::unknown(what, why);
        }
        Some("") => "(no name)",
        Some(called) => called,
    };
    let value = format!("{called}, id {}", program.id);
    if called == OURS {
        let why =
            "a bridge of this program runs on it, or its bypass stands: `linerate bypass show`";
        return Finding::doubtful(what, value, why);
    }
    let why = "somebody else's: it may take frames away, and xdp: refuses the interface";
    foreign(program, Finding::wrong(what, value, why), name)
}

/// Who holds it can be asked to end; a link outlives what `ip link` can do.
fn foreign(program: &Program, mut finding: Finding, name: &str) -> Finding {
    let Some(holder) = &program.holder else {
        finding.why += "; nobody who holds it is found: it was attached by ip link, or by a link \
                        that is pinned (bpftool link list, bpftool link detach id LINK)";
        return finding.mended_by(format!("ip link set dev {name} xdp off"));
    };
    let (process, called) = (holder.process, &holder.name);
    finding.why += &format!("; process {process} ({called}) holds it and takes it away at its end");
    match holder.link {
        Some(link) => finding.mended_by(format!("bpftool link detach id {link}")),
        None => finding.mended_by(format!("ip link set dev {name} xdp off")),
    }
}

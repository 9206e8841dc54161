//! Judgements of facts that are made up.

use std::collections::BTreeMap;

use port::interface::{
    Channels, Coalescing, Holder, Interrupt, LeftBehind, Offload, Pause, Program, RingSizes, Rss,
    XdpSupport,
};

use super::rate::Class;
use super::*;
use crate::paint::Paint;

/// A NIC of which everything is known and nothing is wrong.
fn nic() -> Survey {
    Survey {
        link: Link::Up(2),
        in_sysfs: true,
        hardware_type: Some(1),
        driver: Some("ice".to_owned()),
        is_virtual: Some(false),
        mtu: Some(1500),
        promiscuous: Some(false),
        offloads: Some(BTreeMap::new()),
        channels: Some(Channels {
            rx: 4,
            rx_max: 64,
            combined: true,
        }),
        rings: Some(RingSizes {
            rx: 2048,
            rx_max: 8160,
            tx: 2048,
            tx_max: 8160,
        }),
        coalescing: Some(Coalescing {
            rx_adaptive: false,
            rx_us: 8,
            rx_frames: 0,
        }),
        pause: Some(Pause {
            rx: false,
            tx: false,
        }),
        rss: Some(Rss {
            indirection: vec![0, 1, 2, 3],
            key: vec![0x6d, 0x5a],
            function: 1,
            transform: 0,
        }),
        hashed: vec![("tcp4", "sdfn".to_owned()), ("udp4", "sd".to_owned())],
        programs: Some(Vec::new()),
        xdp: Some(XdpSupport {
            transmit: true,
            native: true,
            zero_copy: true,
            several_pieces: true,
        }),
        numa_node: Some(0),
        interrupts: Some(vec![interrupt(40, "0"), interrupt(41, "1")]),
        threaded: Some(false),
        ..Survey::unknown("eth0")
    }
}

fn interrupt(number: u32, cpus: &str) -> Interrupt {
    Interrupt {
        number,
        name: format!("ice-eth0-TxRx-{}", number - 40),
        cpus: cpus.to_owned(),
    }
}

fn veth(name: &str) -> Survey {
    Survey {
        name: name.to_owned(),
        driver: Some("veth".to_owned()),
        is_virtual: Some(true),
        ..nic()
    }
}

fn with_offload(mut survey: Survey, name: &str, changeable: bool) -> Survey {
    let offload = Offload {
        active: true,
        changeable,
    };
    let offloads = survey.offloads.get_or_insert_default();
    offloads.insert(name.to_owned(), offload);
    survey
}

fn host() -> Host {
    Host {
        nodes: vec![(0, "0-3".to_owned())],
        ..Host::default()
    }
}

fn page(survey: &Survey, peer: Option<&Survey>) -> InterfacePage {
    InterfacePage::new(survey, peer, &host(), 4)
}

#[track_caller]
fn judged<'a>(page: &'a InterfacePage, what: &str) -> &'a Finding {
    let found = page.findings.iter().find(|finding| finding.what == what);
    found.unwrap_or_else(|| panic!("nothing about {what}: {page:?}"))
}

/// That one line changes when one fact does, and to what.
#[track_caller]
fn changes(survey: &Survey, what: &str, judgement: Judgement, remedy: Option<&str>) {
    let page = page(survey, None);
    let finding = judged(&page, what);
    assert_eq!(finding.judgement, judgement, "{finding:?}");
    assert_eq!(finding.remedy.as_deref(), remedy, "{finding:?}");
    let others = page.findings.iter().filter(|finding| finding.what != what);
    for other in others {
        assert_eq!(other.judgement, Judgement::Good, "{other:?}");
    }
}

#[test]
fn a_nic_that_is_set_well_is_good_throughout() {
    let page = page(&nic(), None);
    assert!(
        page.findings
            .iter()
            .all(|finding| finding.judgement == Judgement::Good),
        "{page:?}"
    );
    assert_eq!(page.rate.class, Class::ZeroCopy);
    assert_eq!(Page::new(vec![page], Vec::new()).exit(), ExitCode::Done);
}

#[test]
fn what_is_unknown_is_never_good() {
    let survey = Survey {
        link: Link::Up(2),
        hardware_type: Some(1),
        ..Survey::unknown("eth0")
    };
    let page = InterfacePage::new(&survey, None, &Host::default(), 4);
    let good = page
        .findings
        .iter()
        .filter(|finding| finding.judgement == Judgement::Good);
    let good: Vec<&str> = good.map(|finding| finding.what).collect();
    assert_eq!(good, ["link"], "{page:?}");
    assert_eq!(page.rate.class, Class::Unknown);
}

/// What enters a network namespace alone goes on seeing the `/sys` of the one before.
#[test]
fn what_sys_alone_shows_is_unseen_where_it_shows_others() {
    let unseen = |survey: Survey| Survey {
        in_sysfs: false,
        numa_node: None,
        interrupts: None,
        threaded: None,
        ..survey
    };
    for (survey, lines) in [
        (
            unseen(nic()),
            &["sysfs", "interrupts", "napi", "memory node"][..],
        ),
        (unseen(veth("v0")), &["sysfs", "napi"]),
        (nic(), &[]),
    ] {
        let host = Host::default();
        let page = InterfacePage::new(&survey, None, &host, 4);
        let unseen = page
            .findings
            .iter()
            .filter(|finding| finding.why.contains("/sys"));
        let unseen: Vec<&str> = unseen.map(|finding| finding.what).collect();
        assert_eq!(unseen, lines, "{page:?}");
    }
}

/// A port switches it off by itself, so that no untouched interface fails for it.
#[test]
fn what_a_bridge_switches_off_is_doubtful_and_no_failure() {
    let doubtful = Judgement::Doubtful;
    let gro = with_offload(nic(), "rx-gro", true);
    changes(&gro, "merging", doubtful, Some("ethtool -K eth0 gro off"));
    let tags = with_offload(gro, "rx-vlan-hw-parse", true);
    let page = page(&tags, None);
    let off = "ethtool -K eth0 rxvlan off";
    let finding = judged(&page, "vlan receive");
    assert_eq!(finding.judgement, doubtful);
    assert_eq!(finding.remedy.as_deref(), Some(off));
    assert_eq!(Page::new(vec![page], Vec::new()).exit(), ExitCode::Done);
}

#[test]
fn what_loses_frames_is_wrong() {
    let wrong = Judgement::Wrong;
    let fixed = with_offload(nic(), "rx-gro-hw", false);
    changes(&fixed, "merging", wrong, None);
    let both = with_offload(fixed, "rx-lro", true);
    let off = page(&both, None);
    let off = off
        .findings
        .iter()
        .filter_map(|finding| finding.remedy.as_deref());
    assert_eq!(off.collect::<Vec<_>>(), ["ethtool -K eth0 lro off"]);
    assert_eq!(
        Page::new(vec![page(&both, None)], Vec::new()).exit(),
        ExitCode::CheckFailed
    );
}

#[test]
fn a_foreign_program_is_wrong_and_how_it_goes_depends_on_who_holds_it() {
    let with = |holder| Survey {
        programs: Some(vec![Program {
            id: 7,
            name: Some("other".to_owned()),
            holder,
        }]),
        ..nic()
    };
    let holder = |link| Holder {
        process: 77,
        name: "filter".to_owned(),
        link,
    };
    let (wrong, what) = (Judgement::Wrong, "xdp program");
    let off = "ip link set dev eth0 xdp off";
    changes(&with(None), what, wrong, Some(off));
    changes(&with(Some(holder(None))), what, wrong, Some(off));
    let linked = with(Some(holder(Some(9))));
    changes(&linked, what, wrong, Some("bpftool link detach id 9"));
    let linked_page = page(&linked, None);
    let why = &judged(&linked_page, what).why;
    assert!(why.contains("process 77 (filter) holds it"), "{why}");
    let nobody = page(&with(None), None);
    let why = &judged(&nobody, what).why;
    assert!(why.contains("bpftool link detach id LINK"), "{why}");
}

#[test]
fn a_program_whose_name_may_not_be_asked_is_nobodys() {
    let survey = Survey {
        programs: Some(vec![Program {
            id: 7,
            name: None,
            holder: None,
        }]),
        ..nic()
    };
    changes(&survey, "xdp program", Judgement::Unknown, None);
    assert_eq!(page(&survey, None).rate.class, Class::Unknown);
}

/// By packet sockets and BPF, and whether it is a user namespace: what is to be expected of a NIC
/// that offers zero-copy, and what is said of the rights.
#[test]
fn rights_that_are_missing_are_said_and_in_a_user_namespace_change_what_to_expect() {
    let (good, doubtful) = (Judgement::Good, Judgement::Doubtful);
    for (packet_sockets, bpf, namespace, class, judgement) in [
        (true, true, Some(false), Class::ZeroCopy, good),
        (true, true, None, Class::ZeroCopy, good),
        (false, false, Some(false), Class::ZeroCopy, doubtful),
        (true, false, Some(true), Class::Packet, doubtful),
        (false, false, Some(true), Class::None, doubtful),
        (true, true, Some(true), Class::ZeroCopy, good),
    ] {
        let rights = Rights {
            packet_sockets,
            bpf,
            in_user_namespace: namespace,
        };
        let rate = page(&nic(), None).rate.within(&rights);
        assert_eq!(rate.class, class, "{rights:?}");
        assert_eq!(machine::rights(&rights).judgement, judgement, "{rights:?}");
    }
}

#[test]
fn what_a_killed_bridge_left_is_named_with_its_command() {
    let found = vec!["rx-gro on".to_owned()];
    let survey = Survey {
        left: vec![LeftBehind {
            index: 2,
            found: Ok((77, found)),
        }],
        ..nic()
    };
    let command = Some("linerate restore eth0");
    changes(&survey, "left changed", Judgement::Doubtful, command);
    let survey = Survey {
        left: vec![LeftBehind {
            index: 2,
            found: Err("it is not believed".to_owned()),
        }],
        ..nic()
    };
    changes(&survey, "left changed", Judgement::Doubtful, None);
}

#[test]
fn what_costs_rate_is_doubtful_and_no_failure() {
    let doubtful = Judgement::Doubtful;
    let mut survey = nic();
    survey.link = Link::Down(2);
    changes(&survey, "link", doubtful, Some("ip link set dev eth0 up"));
    let mut survey = nic();
    survey.pause = Some(Pause {
        rx: true,
        tx: false,
    });
    let off = "ethtool -A eth0 autoneg off rx off tx off";
    changes(&survey, "pause frames", doubtful, Some(off));
    assert_eq!(
        Page::new(vec![page(&survey, None)], Vec::new()).exit(),
        ExitCode::Done
    );
    let mut survey = nic();
    survey.channels = survey
        .channels
        .map(|channels| Channels { rx: 2, ..channels });
    survey.rss.as_mut().expect("rss").indirection = vec![0, 1];
    changes(
        &survey,
        "queues",
        doubtful,
        Some("ethtool -L eth0 combined 4"),
    );
    // As many as programs have opened: no command gives a tap more.
    survey.driver = Some("tun".to_owned());
    changes(&survey, "queues", doubtful, None);
    let mut survey = nic();
    survey.rings = survey.rings.map(|rings| RingSizes { rx: 256, ..rings });
    changes(
        &survey,
        "rings",
        doubtful,
        Some("ethtool -G eth0 rx 4096 tx 4096"),
    );
    let mut survey = nic();
    survey.rss.as_mut().expect("rss").indirection = vec![0, 0];
    changes(&survey, "rss", doubtful, Some("ethtool -X eth0 default"));
    let mut survey = nic();
    survey.hashed[0].1 = "fn".to_owned();
    let fields = Some("ethtool -N eth0 rx-flow-hash tcp4 sd");
    changes(&survey, "rss fields", doubtful, fields);
    let mut survey = nic();
    survey.interrupts = Some(vec![interrupt(40, "0"), interrupt(41, "0")]);
    let spread = "echo CPU > /proc/irq/40/smp_affinity_list";
    changes(&survey, "interrupts", doubtful, Some(spread));
}

#[test]
fn a_veth_is_judged_by_its_other_end() {
    use Judgement::{Doubtful, Wrong};
    let whole = veth("b");
    let good = page(&veth("a"), Some(&whole));
    assert_eq!(judged(&good, "veth peer").judgement, Judgement::Good);
    // Ports finish checksums.
    for (offloads, judgement, words) in [
        (&["tx-checksum-ip-generic"][..], Doubtful, "tx off"),
        (&["tx-tcp-segmentation"], Wrong, "tx off"),
        (&["tx-udp-segmentation"], Wrong, "tx off"),
        (
            &["tx-checksum-ip-generic", "tx-tcp-segmentation"],
            Wrong,
            "tx off",
        ),
        (&["tx-vlan-hw-insert"], Wrong, "txvlan off"),
        (
            &["tx-tcp6-segmentation", "tx-vlan-stag-hw-insert"],
            Wrong,
            "tx off tx-vlan-stag-hw-insert off",
        ),
    ] {
        let peer = offloads
            .iter()
            .fold(veth("b"), |peer, offload| with_offload(peer, offload, true));
        let page = page(&veth("a"), Some(&peer));
        let finding = judged(&page, "veth peer");
        assert_eq!(finding.judgement, judgement, "{offloads:?}");
        let remedy = format!("ethtool -K b {words}");
        assert_eq!(finding.remedy, Some(remedy), "{offloads:?}");
    }
    // Generic segmentation cuts before a frame leaves: it stays on when `tx off` is in effect.
    let cutting = with_offload(veth("b"), "tx-generic-segmentation", true);
    let page_of_cutting = page(&cutting, Some(&cutting));
    for what in ["veth peer", "segmentation"] {
        let judgement = judged(&page_of_cutting, what).judgement;
        assert_eq!(judgement, Judgement::Good, "{what}");
    }
    let elsewhere = page(&veth("a"), None);
    assert_eq!(
        judged(&elsewhere, "veth peer").judgement,
        Judgement::Unknown
    );
}

#[test]
fn classes_of_rate() {
    let class = |survey: &Survey| rate::expected(survey).class;
    let support = |native| XdpSupport {
        transmit: native,
        native,
        zero_copy: false,
        several_pieces: false,
    };
    let with = |xdp| Survey {
        xdp: Some(xdp),
        ..nic()
    };
    assert_eq!(class(&with(support(true))), Class::Copy);
    assert_eq!(class(&with(support(false))), Class::Generic);
    let jumbo = |several_pieces| Survey {
        mtu: Some(9000),
        ..with(XdpSupport {
            several_pieces,
            ..support(true)
        })
    };
    assert_eq!(class(&jumbo(false)), Class::Packet);
    assert_eq!(class(&jumbo(true)), Class::Copy);
    let tags = with_offload(nic(), "rx-vlan-hw-parse", false);
    assert_eq!(class(&tags), Class::Packet);
    let mut virtio = with_offload(nic(), "rx-gro-hw", false);
    virtio.driver = Some("virtio_net".to_owned());
    assert_eq!(class(&virtio), Class::Generic);
    let tunnel = Survey {
        hardware_type: Some(65534),
        ..nic()
    };
    assert_eq!(class(&tunnel), Class::None);
}

/// Of interfaces that were named together the longer ones are doubtful, with the frames that they
/// cannot exchange.
#[test]
fn unequal_mtus_are_named() {
    let with = |name: &str, mtu| Survey {
        mtu,
        name: name.to_owned(),
        ..nic()
    };
    let tunnel = Survey {
        hardware_type: Some(65534),
        ..with("tun0", Some(1280))
    };
    let (short, long) = (with("a", Some(1500)), with("b", Some(9000)));
    let (longer, unseen) = (with("c", Some(9600)), with("d", None));
    for (together, named) in [
        (vec![&short, &long], vec![1]),
        (vec![&long, &longer, &short], vec![0, 1]),
        (vec![&short, &short], vec![]),
        (vec![&long, &unseen], vec![]),
        (vec![&long, &tunnel], vec![]),
        (vec![&long], vec![]),
    ] {
        let together: Vec<Survey> = together.into_iter().cloned().collect();
        let found = |at: &usize| interface::unequal_mtus(&together[*at], &together).is_some();
        let places: Vec<usize> = (0..together.len()).filter(found).collect();
        assert_eq!(places, named);
    }
    let found = interface::unequal_mtus(&long, &[short, long.clone()]).unwrap();
    assert_eq!(found.judgement, Judgement::Doubtful);
    assert!(
        found.why.contains("frames above 1518 bytes with FCS"),
        "{found:?}"
    );
}

#[test]
fn the_page_keeps_its_width_and_names_every_remedy() {
    let bad = with_offload(with_offload(nic(), "rx-gro", true), "rx-gro-hw", false);
    let page = Page::new(vec![page(&bad, None)], Vec::new());
    for width in [80, 200] {
        let text = text::render(&page, Paint::off(), width);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(
            widest.is_some_and(|widest| widest <= width.min(100)),
            "{text}"
        );
        assert!(text.contains("$ ethtool -K eth0 gro off\n"), "{text}");
        assert!(text.contains("1 wrong, 1 doubtful, 0 unknown"), "{text}");
    }
}

//! What is said and reported of interfaces that change.

use super::*;

fn up(queues: u32) -> View {
    View {
        queues: Some(queues),
        name: "eth1".to_owned(),
        ..View::of(Link::Up(3))
    }
}

fn with(link: Link) -> View {
    View { link, ..up(1) }
}

#[track_caller]
fn only(states: &States, state: PortState, ended: f64) -> StateReport {
    let report = states.report(ended);
    assert_eq!(report.len(), 1, "{report:?}");
    assert_eq!(report[0].state, state);
    report[0].clone()
}

#[test]
fn nothing_happens_to_a_port_that_is_well() {
    let mut states = States::default();
    for look in 0..50 {
        let sent = (look * 10, look);
        assert!(states.look(look as f64, up(2), sent).is_empty());
    }
    assert!(states.report(50.0).is_empty());
}

#[test]
fn a_link_goes_and_comes() {
    let mut states = States::default();
    let mut look = |now, view| states.look(now, view, (0, 0));
    assert!(look(0.0, up(1)).is_empty());
    assert!(look(1.0, with(Link::Down(3)))[0].contains("the link is down"));
    assert!(look(2.0, with(Link::NoCarrier(3))).is_empty());
    assert!(look(4.0, up(1))[0].contains("up again after 3.0 s"));
    assert_eq!(look(5.0, with(Link::NoCarrier(3))).len(), 1);
    let mut down_at_first = States::default();
    let news = down_at_first.look(0.0, with(Link::Down(3)), (0, 0));
    assert!(news.is_empty());
    assert!(only(&down_at_first, PortState::LinkDown, 1.0).active);
    let report = only(&states, PortState::LinkDown, 6.5);
    assert!(report.active && report.count == 2, "{report:?}");
    assert_eq!((report.since_seconds, report.seconds), (5.0, 4.5));
    assert_eq!(report.detail, "without a carrier");
}

/// The reason is told where it is somebody's doing, and not where a link comes up step by step.
#[test]
fn a_link_without_a_carrier_that_is_set_down_is_told_of() {
    let (cable, down) = (Link::NoCarrier(3), Link::Down(3));
    for (links, told) in [
        (&[cable, down][..], &[false, true][..]),
        (&[cable, down, down], &[false, true, false]),
        (
            &[Link::Up(3), cable, down, cable],
            &[false, true, true, false],
        ),
        (&[down, cable, down], &[false, false, false]),
    ] {
        let mut states = States::default();
        for (now, (&link, &told)) in links.iter().zip(told).enumerate() {
            let news = states.look(now as f64, with(link), (0, 0));
            assert_eq!(!news.is_empty(), told, "{links:?} at {now}: {news:?}");
        }
        let report = only(&states, PortState::LinkDown, 9.0);
        assert_eq!((report.count, report.active), (1, true), "{links:?}");
    }
}

#[test]
fn an_interface_that_goes_is_back_under_another_number() {
    let mut states = States::default();
    let mut look = |now, link| states.look(now, with(link), (0, 0));
    look(0.0, Link::Up(3));
    assert!(look(1.0, Link::Absent)[0].contains("gone"));
    assert!(look(2.0, Link::Absent).is_empty());
    assert!(look(3.0, Link::Up(9))[0].contains("again after 2.0 s"));
    // In between two looks.
    assert_eq!(look(4.0, Link::Up(10)).len(), 1);
    let report = only(&states, PortState::Absent, 9.0);
    assert_eq!(
        (report.active, report.count, report.seconds),
        (false, 2, 2.0)
    );
    assert_eq!(report.detail, "back as number 10");
}

#[test]
fn a_new_name_is_told_of_and_no_fault() {
    let mut states = States::default();
    let mut look = |name: &str| {
        let new_name = (!name.is_empty()).then(|| name.to_owned());
        let view = View { new_name, ..up(1) };
        states.look(1.0, view, (0, 0))
    };
    assert!(look("").is_empty());
    assert!(look("other")[0].contains("it is other now"));
    assert!(look("other").is_empty());
    assert!(look("third")[0].contains("it is third now"));
    assert!(look("")[0].contains("first name"));
    assert!(states.report(2.0).is_empty());
}

#[test]
fn queues_change_and_change_back() {
    let mut states = States::default();
    let mut look = |now, queues| states.look(now, up(queues), (0, 0));
    look(0.0, 1);
    assert!(look(1.0, 4)[0].contains("4 receive queues now, and had 1"));
    assert!(look(2.0, 4).is_empty());
    assert_eq!(look(3.0, 2).len(), 1);
    assert!(look(4.0, 1)[0].contains("as at the start"));
    let report = only(&states, PortState::QueuesChanged, 9.0);
    assert_eq!(
        (report.active, report.count, report.seconds),
        (false, 2, 3.0)
    );
}

#[test]
fn a_ring_is_stuck_when_nothing_gets_out_for_several_looks() {
    let mut states = States::default();
    let mut look = |now: u32, sent| states.look(f64::from(now), up(1), sent);
    look(0, (100, 0));
    // A slow wire.
    for now in 1..20 {
        let now64 = u64::from(now);
        assert!(look(now, (100 + now64, 50 * now64)).is_empty());
    }
    let taken = 119;
    assert!((20..24).all(|now| look(now, (taken, 1000 + u64::from(now))).is_empty()));
    assert!(look(24, (taken, 1024))[0].contains("stays full"));
    // Nobody wants to send: it is as it was.
    assert!(look(30, (taken, 1024)).is_empty());
    assert!(look(34, (taken + 1, 1024))[0].contains("again after 10.0 s"));
    let report = only(&states, PortState::RingFull, 40.0);
    assert_eq!(
        (report.active, report.count, report.seconds),
        (false, 1, 10.0)
    );
}

#[test]
fn checksums_are_told_of_once() {
    let mut states = States::default();
    let view = View {
        checksums_left: true,
        ..up(1)
    };
    assert!(states.look(1.0, view.clone(), (0, 0))[0].contains("ethtool -K SENDER tx off"));
    assert!(states.look(2.0, view, (0, 0)).is_empty());
    assert!(only(&states, PortState::ChecksumsLeft, 3.0).active);
}

fn with_mtu(mtu: u32) -> View {
    View {
        mtu: Some(mtu),
        mtu_first: Some(1500),
        mtu_max: Some(1834),
        ..up(1)
    }
}

/// What is said of each MTU after the one before, and whether that is a state.
#[test]
fn an_mtu_that_changes_is_said_with_what_it_means() {
    let table = [
        (1500, "", false),
        (1500, "", false),
        (
            9000,
            "is 9000 now, and was 1500; the port has room for frames of an MTU of 1834",
            true,
        ),
        (9000, "", true),
        (
            1600,
            "is 1600 now, and was 9000; the port has room for such frames",
            true,
        ),
        (
            1400,
            "driver decide: `ip link set dev eth1 mtu 1500` lets them pass",
            true,
        ),
        (1500, "is 1500 now, and was 1400, as at the start", false),
        (
            1835,
            "start it anew, or `ip link set dev eth1 mtu 1834`",
            true,
        ),
    ];
    let mut states = States::default();
    for (now, (mtu, said, active)) in table.into_iter().enumerate() {
        let news = states.look(now as f64, with_mtu(mtu), (0, 0));
        assert_eq!(news.is_empty(), said.is_empty(), "{mtu}: {news:?}");
        assert!(
            news.iter().all(|news| news.contains(said)),
            "{mtu}: {news:?}"
        );
        assert_eq!(states.is_active(PortState::MtuChanged), active, "{mtu}");
    }
    let report = only(&states, PortState::MtuChanged, 9.0);
    assert_eq!((report.count, report.seconds), (4, 6.0));
    assert_eq!(report.detail, "1835, at the start 1500, room for 1834");
    // Raised before the first look.
    let mut states = States::default();
    let news = states.look(0.0, with_mtu(9000), (0, 0));
    assert!(
        news[0].starts_with("its MTU is 9000 now, and was 1500; the port has room"),
        "{news:?}"
    );
    // Too large from the beginning, as with a --stride that is too short.
    let large = View {
        mtu_first: Some(9000),
        ..with_mtu(9000)
    };
    let mut states = States::default();
    let news = states.look(0.0, large.clone(), (0, 0));
    assert!(
        news[0].starts_with("its MTU is 9000; the port has room"),
        "{news:?}"
    );
    assert!(states.look(1.0, large, (0, 0)).is_empty());
}

#[test]
fn a_smaller_mtu_is_said_as_the_port_takes_it() {
    for (keeps_to_mtu, said, unsaid) in [
        (true, "dropped as tx_refused", "all the same"),
        (false, "takes longer frames all the same", "tx_refused"),
    ] {
        let view = |mtu| View {
            keeps_to_mtu,
            ..with_mtu(mtu)
        };
        let mut states = States::default();
        states.look(0.0, view(1500), (0, 0));
        let news = states.look(1.0, view(1400), (0, 0));
        assert!(news[0].contains(said), "{news:?}");
        assert!(!news[0].contains(unsaid), "{news:?}");
    }
}

#[test]
fn a_ring_out_of_which_nothing_gets_while_the_link_is_down_is_no_state_of_its_own() {
    for link in [Link::Down(3), Link::NoCarrier(3), Link::Absent] {
        let mut states = States::default();
        let mut said = Vec::new();
        for now in 0_u32..20 {
            let view = with(if now < 3 { Link::Up(3) } else { link });
            said.extend(states.look(f64::from(now), view, (100, u64::from(now))));
        }
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(!states.is_active(PortState::RingFull), "{link}");
        // It was full before: the link explains it from then on.
        let mut states = States::default();
        for now in 0_u32..20 {
            let view = with(if now < 12 { Link::Up(3) } else { link });
            states.look(f64::from(now), view, (100, u64::from(now)));
            assert_eq!(
                states.is_active(PortState::RingFull),
                (5..12).contains(&now)
            );
        }
    }
}

#[test]
fn an_interface_that_was_moved_is_said_to_be_elsewhere() {
    let mut states = States::default();
    states.look(0.0, up(1), (0, 0));
    let gone = View {
        moved: true,
        ..View::of(Link::Absent)
    };
    let news = states.look(1.0, gone, (0, 0));
    assert!(
        news[0].contains("moved to another network namespace"),
        "{news:?}"
    );
    let report = only(&states, PortState::Absent, 2.0);
    assert_eq!(report.detail, "moved to another network namespace");
}

#[test]
fn offloads_that_somebody_switches_on_are_told_with_what_ends_that() {
    let with = |on: &[&str]| View {
        switched_on: on.iter().map(|&name| name.to_owned()).collect(),
        ..up(1)
    };
    let table: [(&[&str], &str); 6] = [
        (&[], ""),
        (
            &["rx-gro"],
            "merged ones are left out: `ethtool -K eth1 rx-gro off`",
        ),
        (&["rx-gro"], ""),
        (&["rx-gro", "rx-vlan-hw-parse"], "may lose their VLAN tags"),
        (&[], "off again after 1.0 s"),
        (&[], ""),
    ];
    let mut states = States::default();
    for (now, (on, said)) in table.into_iter().enumerate() {
        let news = states.look(now as f64, with(on), (0, 0));
        assert_eq!(news.is_empty(), said.is_empty(), "{on:?}: {news:?}");
        assert!(
            news.iter().all(|news| news.contains(said)),
            "{on:?}: {news:?}"
        );
    }
    assert!(!only(&states, PortState::OffloadsOn, 9.0).active);
}

#[test]
fn a_link_that_went_down_is_told_of_for_a_moment_and_not_when_it_is_up() {
    let (up, cable, down, gone) = (Link::Up(3), Link::NoCarrier(3), Link::Down(3), Link::Absent);
    let told = |looks: &[Link]| {
        let (mut left, mut was) = (0, None);
        let each = looks.iter().map(|&link| {
            left = down_looks(left, was.replace(link), link);
            left != 0
        });
        each.collect::<Vec<_>>()
    };
    let looks = [up, cable, cable, cable, cable, cable, cable, up, cable, up];
    let expected = [
        false, true, true, true, true, true, false, false, true, false,
    ];
    assert_eq!(told(&looks), expected);
    // Down for another reason: a carrier that came meanwhile shows late.
    let looks = [cable, cable, down, down, gone, up];
    assert_eq!(told(&looks), [false, false, true, true, true, false]);
}

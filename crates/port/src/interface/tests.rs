//! Interfaces of the kernel: what is asked needs no rights.

use super::*;

#[test]
fn names_that_no_interface_can_have_are_refused() {
    let too_long = "x".repeat(128);
    for name in ["", &too_long, "a\0b", "lo:1"] {
        let error = Interface::named(name).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("ip link"), "{error}");
    }
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    let error = Interface::existing("absent0").map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), PortErrorKind::Open);
    let sentence = error.to_string();
    assert!(
        sentence.contains("there is no interface absent0"),
        "{sentence}"
    );
    let absent = Interface::named("absent0").unwrap();
    assert_eq!(absent.link(), Link::Absent);
    assert!(absent.features().is_err() && absent.mtu().is_err());
}

#[test]
fn loopback_tells_what_it_is() {
    let loopback = Interface::existing("lo").unwrap();
    assert_eq!(loopback.hardware_address().unwrap().1, [0; 6]);
    assert!(loopback.mtu().unwrap() >= 1280);
    let index = loopback.index().unwrap();
    assert_eq!(loopback.link().index(), Some(index));
    let features = loopback.features().unwrap();
    let named = |name: &str| features.iter().any(|feature| feature.name == name);
    assert!(named("rx-gro") && named("rx-lro"), "{features:?}");
    // The loopback can never lose this one, and it is on.
    let on = features.iter().find(|feature| feature.name == "loopback");
    assert!(on.is_some_and(|feature| feature.active && !feature.changeable));
}

#[test]
fn a_link_is_there_only_where_number_and_flags_are() {
    let (up, running) = (libc::IFF_UP as u16, libc::IFF_RUNNING as u16);
    assert_eq!(Link::from_answers(None, Some(up)), Link::Absent);
    assert_eq!(Link::from_answers(Some(3), None), Link::Absent);
    assert_eq!(Link::from_answers(Some(3), Some(running)), Link::Down(3));
    assert_eq!(Link::from_answers(Some(3), Some(up)), Link::NoCarrier(3));
    let link = Link::from_answers(Some(3), Some(up | running));
    assert!(link == Link::Up(3) && link.is_up());
}

/// What each says depends on the machine; that it agrees with the kernel's other answers does not.
#[test]
fn interfaces_of_this_machine_say_what_they_are() {
    let Ok(entries) = std::fs::read_dir("/sys/class/net") else {
        println!("skipped: no /sys/class/net here");
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().into_string().unwrap();
        let number = |file: &str| {
            let text = std::fs::read_to_string(entry.path().join(file)).ok()?;
            text.trim().parse::<u32>().ok()
        };
        let Ok(interface) = Interface::existing(&name) else {
            continue;
        };
        assert_eq!(interface.index().ok(), number("ifindex"), "{name}");
        assert_eq!(interface.mtu().ok(), number("mtu"), "{name}");
        if let Ok(driver) = interface.driver() {
            assert!(driver.len() < 32 && driver.is_ascii(), "{name}: {driver}");
        }
        if let Ok(queues) = interface.rx_queues() {
            let all = std::fs::read_dir(entry.path().join("queues")).unwrap();
            let rx = |name: &str| name.starts_with("rx-");
            let names = all.flatten().map(|queue| queue.file_name());
            let count = names.filter(|name| name.to_str().is_some_and(rx)).count();
            assert!(queues as usize <= count, "{name}: {queues} of {count}");
        }
    }
}

/// The kernel would cut the colon off with all behind it, and speak of the loopback.
#[test]
fn what_has_a_colon_is_no_name() {
    let said = Interface::named("lo:1")
        .err()
        .map(|error| error.to_string());
    assert!(said.is_some_and(|said| said.contains("no colon")));
}

//! `keep-local`: the machine in the middle has addresses on the bridge's own interface, stays
//! reachable there, and the hosts behind lose nothing.

use std::process::Command;

use crate::bench::{Bench, LEFT_ADDRESS, Side};
use crate::running::await_that;
use crate::traffic::{ping, tcp_echo};

const HOST_ADDRESS: &str = "10.201.0.9";
const LEFT_SIX: &str = "fd00:201::1";
const RIGHT_SIX: &str = "fd00:201::2";
const HOST_SIX: &str = "fd00:201::9";

/// Whether one question in some is answered, neighbours forgotten before.
fn reaches(bench: &Bench, from: Side, interface: &str, address: &str) -> bool {
    bench.on(from, &format!("ip neigh flush dev {interface}"));
    let words = format!("ping -c 1 -i 0.1 -w 1 {address}");
    bench.on(from, &words).status.success()
}

fn with_ipv6(bench: &Bench) -> bool {
    let ends = [
        (Side::Left, "l", LEFT_SIX),
        (Side::Right, "r", RIGHT_SIX),
        (Side::Middle, "a", HOST_SIX),
    ];
    ends.into_iter().all(|(side, interface, address)| {
        bench.on(
            side,
            &format!("sysctl -qw net.ipv6.conf.{interface}.disable_ipv6=0"),
        );
        let words = format!("ip addr add {address}/64 dev {interface} nodad");
        bench.on(side, &words).status.success()
    })
}

#[test]
fn the_host_is_reached_and_hosts_behind_reach_each_other() {
    let Some(bench) = Bench::new() else { return };
    bench.ip(&format!("addr add {HOST_ADDRESS}/24 dev a"));
    let six = with_ipv6(&bench);
    let running = bench.bridge("xdp:a,keep-local xdp:b");
    ping(&bench);
    tcp_echo(&bench, 1 << 20);
    await_that("the host answers", || {
        reaches(&bench, Side::Left, "l", HOST_ADDRESS)
    });
    await_that("the host asks", || {
        reaches(&bench, Side::Middle, "a", LEFT_ADDRESS)
    });
    await_that("both ways at once", || {
        reaches(&bench, Side::Right, "r", LEFT_ADDRESS)
    });
    if six {
        await_that("by IPv6", || reaches(&bench, Side::Left, "l", HOST_SIX));
        await_that("from the host by IPv6", || {
            reaches(&bench, Side::Middle, "a", LEFT_SIX)
        });
        await_that("across by IPv6", || {
            reaches(&bench, Side::Left, "l", RIGHT_SIX)
        });
    } else {
        println!("skipped: this kernel has no IPv6");
    }
    // The machine is on one side of the wire.
    assert!(!reaches(&bench, Side::Right, "r", HOST_ADDRESS));
    let report = running.stop();
    let to_host = report["ports"][0]["to_host"].as_u64();
    assert!(to_host >= Some(4), "{report}");
    assert_eq!(report["ports"][1]["to_host"], 0, "{report}");
}

#[test]
fn without_it_the_bridge_takes_the_addresses_frames() {
    let Some(bench) = Bench::new() else { return };
    bench.ip(&format!("addr add {HOST_ADDRESS}/24 dev a"));
    let running = bench.bridge("xdp:a xdp:b");
    ping(&bench);
    assert!(!reaches(&bench, Side::Left, "l", HOST_ADDRESS));
    running.stop();
}

#[test]
fn addresses_that_come_and_go_are_followed() {
    let Some(bench) = Bench::new() else { return };
    let running = bench.bridge("xdp:a,keep-local xdp:b");
    ping(&bench);
    assert!(!reaches(&bench, Side::Left, "l", HOST_ADDRESS));
    bench.ip(&format!("addr add {HOST_ADDRESS}/24 dev a"));
    await_that("the new address answers", || {
        reaches(&bench, Side::Left, "l", HOST_ADDRESS)
    });
    bench.ip("link set dev a address 02:00:00:00:00:99");
    await_that("also to a new Ethernet address", || {
        reaches(&bench, Side::Left, "l", HOST_ADDRESS)
    });
    bench.ip(&format!("addr del {HOST_ADDRESS}/24 dev a"));
    // Somebody behind the bridge may have it now.
    bench.on(Side::Right, &format!("ip addr add {HOST_ADDRESS}/24 dev r"));
    await_that("the next owner answers", || {
        reaches(&bench, Side::Left, "l", HOST_ADDRESS)
    });
    running.stop();
}

#[test]
fn more_addresses_than_can_be_kept_are_refused() {
    let Some(bench) = Bench::new() else { return };
    let lines: Vec<String> = (0..257)
        .map(|number| {
            format!(
                "addr add 10.77.{}.{}/32 dev a",
                number / 250,
                number % 250 + 1
            )
        })
        .collect();
    let batch = format!("printf '{}' | ip -b -", lines.join("\\n"));
    let mut shell = Command::new("ip");
    shell.args([
        "netns",
        "exec",
        &bench.name(Side::Middle),
        "sh",
        "-c",
        &batch,
    ]);
    let added = shell.output().expect("a shell");
    assert!(added.status.success(), "{added:?}");
    let output = bench.run("bridge xdp:a,keep-local null:");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("257 addresses and keep-local can keep 256"),
        "{said}"
    );
}

/// Sends one frame ten times from the left and says how many of them the right host gets.
const FRAMES: &str = "
import socket, sys, time
side, frame = sys.argv[1], bytes.fromhex(sys.argv[2])
sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
sock.bind((sys.argv[3], 0))
if side == 'send':
    for _ in range(10):
        sock.send(frame)
        time.sleep(0.01)
else:
    print('ready', flush=True)
    sock.settimeout(1.5)
    seen = 0
    try:
        while True:
            got = sock.recv(2048)
            seen += got[-4:] == frame[-4:]
    except TimeoutError:
        pass
    print(seen)
";

fn cross(bench: &Bench, frame: &str) -> u32 {
    let python = |side: Side, words: [&str; 2]| {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &bench.name(side), "python3", "-c", FRAMES]);
        command.args([words[0], frame, words[1]]);
        command
    };
    let receiver = python(Side::Right, ["receive", "r"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python3");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let sent = python(Side::Left, ["send", "l"]).status();
    assert!(sent.expect("python3").success());
    let said = receiver.wait_with_output().expect("its output").stdout;
    let said = String::from_utf8_lossy(&said);
    let count = said.lines().last().and_then(|line| line.parse().ok());
    count.unwrap_or_else(|| panic!("{said}"))
}

#[test]
fn only_questions_for_the_host_and_in_its_vlan_are_left_to_it() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: there is no python3");
        return;
    }
    let Some(bench) = Bench::new() else { return };
    bench.ip(&format!("addr add {HOST_ADDRESS}/24 dev a"));
    let running = bench.bridge("xdp:a,keep-local xdp:b");
    ping(&bench);
    let broadcast = "ffffffffffff020000000001";
    let arp = |operation: &str, target: &str| {
        format!("00010800060400{operation}0200000000010ac90001000000000000{target}")
    };
    let (host, right) = ("0ac90009", "0ac90002");
    let mark = |letter: &str| letter.repeat(8);
    let cases = [
        // A question for the host, and the same in a VLAN where it has no address.
        (
            format!("{broadcast}0806{}{}", arp("01", host), mark("a")),
            0,
        ),
        (
            format!("{broadcast}8100000a0806{}{}", arp("01", host), mark("b")),
            10,
        ),
        // Tag 0 is a priority and no VLAN; an outer tag of 802.1ad is not the host's.
        (
            format!("{broadcast}810060000806{}{}", arp("01", host), mark("c")),
            0,
        ),
        (
            format!(
                "{broadcast}88a8000081000000{}{}",
                arp("01", host),
                mark("d")
            ),
            10,
        ),
        // Questions for others, other operations and broken ones.
        (
            format!("{broadcast}0806{}{}", arp("01", right), mark("e")),
            10,
        ),
        (
            format!("{broadcast}0806{}{}", arp("03", host), mark("f")),
            10,
        ),
        (format!("{broadcast}0806{}", &arp("01", host)[..40]), 10),
    ];
    for (frame, expected) in cases {
        assert_eq!(cross(&bench, &frame), expected, "{frame}");
    }
    running.stop();
}

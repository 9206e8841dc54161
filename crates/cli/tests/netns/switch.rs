//! The switch beside the kernel's bridge and Open vSwitch, and between hosts of the kernel.

use std::process::Command;

/// Runs a judge of `tests`, which says why it is skipped where it cannot run.
#[track_caller]
pub(crate) fn judge(script: &str, words: &str) {
    let path = format!("{}/../../tests/{script}", env!("CARGO_MANIFEST_DIR"));
    let judged = Command::new("python3")
        .args([&path, env!("CARGO_BIN_EXE_linerate")])
        .args(words.split_whitespace())
        .output();
    let Ok(judged) = judged else {
        println!("skipped: `python3` is not installed");
        return;
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, complaints) = (text(&judged.stdout), text(&judged.stderr));
    assert!(
        judged.status.success(),
        "{script} {words}: {said}{complaints}"
    );
    print!("{said}");
}

/// Each row: driver, ports, workers, seed.
#[test]
fn packet_sockets_get_the_same_frames_as_of_the_kernels_bridge() {
    for words in ["packet 2 1 1", "packet 4 2 2"] {
        judge("switch/kernel.py", words);
    }
}

#[test]
fn xdp_gets_the_same_frames_as_of_the_kernels_bridge() {
    for words in ["xdp 3 1 3", "xdp 8 2 4"] {
        judge("switch/kernel.py", words);
    }
}

/// Each row: kind of bridge, ports, workers, seed.
#[test]
fn the_same_bytes_leave_by_the_same_ports_as_of_open_vswitch() {
    for words in ["customer 8 1 5", "customer 6 2 3", "provider 6 2 4"] {
        judge("switch/ovs.py", words);
    }
}

/// Each row: driver, workers. A link goes down and comes up meanwhile.
#[test]
fn hosts_of_the_kernel_speak_through_it() {
    for words in ["packet 1", "packet 2", "xdp 2"] {
        judge("switch/hosts.py", words);
    }
}

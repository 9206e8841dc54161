//! TCP against the kernel's, both roles, over a TUN device in a network namespace.
//!
//! It needs root, `unshare`, `ip` and `python3`; elsewhere it says why it is skipped.
//! `TCP_KERNEL_SEED` and `TCP_KERNEL_TRANSFERS` choose another run than the usual one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that stands for an end. Where only this test is built, it is not there or old.
fn end() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "-q",
            "-p",
            "linerate-stack",
            "--example",
            "tcp_end",
        ])
        .status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "the example is built"
    );
    let test = std::env::current_exe().expect("the test has a path");
    let target = test.ancestors().nth(2).expect("it lies in target/*/deps");
    target.join("examples/tcp_end")
}

/// Why it cannot run here.
fn hindrance() -> Option<&'static str> {
    if !Path::new("/dev/net/tun").exists() {
        return Some("there is no /dev/net/tun");
    }
    let can_unshare = Command::new("unshare")
        .args(["-n", "python3", "-c", ""])
        .status();
    let is_able = can_unshare.is_ok_and(|status| status.success());
    (!is_able).then_some("no network namespace can be made, or python3 is not there")
}

#[test]
fn transfers_with_the_kernel_bring_every_byte() {
    if let Some(why) = hindrance() {
        println!("skipped: {why}");
        return;
    }
    let judge = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tcp/judge.py");
    let set = |name: &str, otherwise: &str| std::env::var(name).unwrap_or(otherwise.to_owned());
    let output = Command::new("unshare")
        .args(["-n", "python3"])
        .arg(judge)
        .arg(end())
        .args([
            set("TCP_KERNEL_SEED", "1"),
            set("TCP_KERNEL_TRANSFERS", "6"),
        ])
        .output()
        .expect("unshare runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{failed}");
    assert_eq!(said.matches("all right").count(), 6, "{said}");
}

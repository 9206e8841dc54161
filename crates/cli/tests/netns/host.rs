//! A host of its own, with the kernel's TCP and UDP as the other end in both roles.

use crate::switch::judge;

/// Each row: driver.
#[test]
fn the_kernel_asks_and_answers() {
    for words in ["packet", "xdp"] {
        judge("tcp/host.py", words);
    }
}

/// Each row: driver.
#[test]
fn the_kernel_sends_datagrams_and_answers_them() {
    for words in ["packet", "xdp"] {
        judge("udp/host.py", words);
    }
}

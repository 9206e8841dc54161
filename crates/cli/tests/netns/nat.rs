//! NAT beside that of the kernel, between clients and servers of the kernel.

use crate::switch::judge;

/// Each row: driver.
#[test]
fn hosts_behind_it_see_what_they_see_behind_nft() {
    for words in ["packet", "xdp"] {
        judge("nat/kernel.py", words);
    }
}

/// Each row: workers.
#[test]
fn beside_the_kernel_outside_addresses_are_followed() {
    judge("nat/followed.py", "1");
}

#[test]
fn the_example_gateway_runs_as_it_stands() {
    judge("nat/gateway.py", "");
}

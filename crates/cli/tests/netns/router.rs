//! The router beside the kernel, and between hosts of the kernel.

use crate::switch::judge;

/// Each row: driver, workers.
#[test]
fn every_kind_of_packet_fares_as_with_the_kernel() {
    for words in ["packet 1", "xdp 1", "xdp 2"] {
        judge("router/kernel.py", words);
    }
}

/// Each row: driver, workers.
#[test]
fn hosts_of_the_kernel_reach_each_other_through_it() {
    for words in ["packet 1", "xdp 2"] {
        judge("router/hosts.py", words);
    }
}

/// Each row: driver, workers.
#[test]
fn by_the_kernels_routes_packets_fare_as_with_the_kernel() {
    for words in ["packet 1", "xdp 2"] {
        judge("router/followed.py", words);
    }
}

#[test]
fn no_packet_takes_a_wrong_next_hop_while_the_kernels_routes_change() {
    judge("router/churn.py", "xdp 2");
}

/// Each row: driver, workers, routing daemon. FRR, which starts slowly, is `./soak.sh router`'s.
#[test]
fn routing_daemons_of_the_kernel_feed_it() {
    for words in ["xdp 2 bird", "packet 1 bird"] {
        judge("router/daemons.py", words);
    }
}

/// Each row: workers.
#[test]
fn services_behind_a_tap_have_the_routers_address() {
    for words in ["1", "2"] {
        judge("router/punt.py", words);
    }
}

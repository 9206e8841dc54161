//! The kernel's own stack across the bridge, on each driver and mode.

use crate::bench::{Bench, RIGHT_ADDRESS, RIGHT_ADDRESS_6, Side};
use crate::drivers::{Driver, on_each_driver};

on_each_driver!(ping_is_answered);

/// Five echo requests of each family answered, the neighbour found by ARP and by neighbour
/// discovery first. `ping` sends on until it has five answers: the first of all may ask for the
/// address in vain, when it comes before the bridge has lent the kernel a frame.
fn ping_is_answered(driver: Driver) {
    let Some(bench) = Bench::dual() else { return };
    let bridge = driver.bridge(&bench, "");
    for (family, address) in [("-4", RIGHT_ADDRESS), ("-6", RIGHT_ADDRESS_6)] {
        let words = format!("ping {family} -c 5 -i 0.05 -w 20 {address}");
        let said = bench.expect(Side::Left, &words);
        assert!(!said.contains("DUP!"), "frames came twice: {said}");
        let neighbour = bench.expect(Side::Left, &format!("ip {family} neigh show dev l"));
        assert!(neighbour.contains(address), "{neighbour}");
    }
    bridge.stop();
}

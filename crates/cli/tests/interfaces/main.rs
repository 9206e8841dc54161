//! The bridge between interfaces of the kernel: two hosts, each a network namespace, and between
//! them a third one in which the program runs. Needs root; elsewhere each test says so and passes.

mod accounts;
mod left_as_found;
mod lengths;
mod merged;
mod packet;
mod tap;
mod topology;
mod vlan;

//! Interfaces of this host as the kernel has them: changes and watches them, moves no frame.
//!
//! [`routing`] mirrors links, addresses, routes and neighbours of a network namespace by route
//! netlink, and asks the kernel to find neighbours. Nothing here waits longer than it is told, and
//! there is no runtime: whoever uses it polls.

#![forbid(unsafe_code)]

pub mod routing;

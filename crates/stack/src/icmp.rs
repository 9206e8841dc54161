//! ICMP and ICMPv6 of a router or host: errors about packets, sent and taken (RFC 792, RFC 1812
//! section 4.3, RFC 4443), and answers to echo requests.

mod about;
mod echo;
mod error;
mod report;

pub use about::may_be_reported;
pub use echo::echo_reply;
pub use error::ErrorAbout;
pub use report::{REPORT_BYTES_MAX, Report, write_report};

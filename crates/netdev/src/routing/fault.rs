//! Why a message of the kernel cannot be read.

use std::fmt;

/// A message that was left out, since it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its type (`RTM_NEWLINK` and so on, `linux/rtnetlink.h`).
    pub message: u16,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It ends before it should.
    Truncated,
    /// The length of an attribute is impossible.
    Attribute,
    /// The value of an attribute is none that it can have.
    Value,
    /// What it is about has no name or number.
    Anonymous,
    /// The kernel refused a request, with this error number.
    Refused(i32),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message;
        match self.reason {
            Reason::Truncated => write!(f, "a netlink message of type {message} is truncated"),
            Reason::Attribute => write!(
                f,
                "a netlink message of type {message} has an attribute of impossible length"
            ),
            Reason::Value => write!(
                f,
                "a netlink message of type {message} has an attribute with an impossible value"
            ),
            Reason::Anonymous => write!(
                f,
                "a netlink message of type {message} does not say what it is about"
            ),
            Reason::Refused(error) => write!(
                f,
                "the kernel refused a netlink request of type {message}: {}",
                std::io::Error::from_raw_os_error(error)
            ),
        }
    }
}

impl std::error::Error for Fault {}

//! The end of a router that goes by the kernel's routes.

/// What happens to packets when the router has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExit {
    /// None is forwarded: a kernel that would go on is refused at the start.
    #[default]
    Closed,
    /// The kernel may go on by itself, without sets and checks.
    Open,
}

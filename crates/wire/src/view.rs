//! Views: one header over bytes, read and written field by field.
//!
//! `new_checked` proves once that the header is there, and names the [`crate::Malformed`] reason
//! when it is not. After that no accessor can panic, whatever the bytes say: lengths that lie clip
//! the slice they give. Numbers go in and out in host byte order. Setters exist where `T` is
//! writable; they change one field and no checksum.
//!
//! Do not use `new_checked` on a buffer that is about to be written: what it proves about the old
//! bytes says nothing about the new ones. [`crate::emit`] makes headers.

mod arp;
mod ethernet;
mod field;
mod icmp;
mod ipv4;
mod ipv6;
mod tcp;
mod udp;

pub use arp::ArpView;
pub use ethernet::EthernetView;
pub use icmp::IcmpView;
pub use ipv4::Ipv4View;
pub use ipv6::Ipv6View;
pub use tcp::TcpView;
pub use udp::UdpView;

#[cfg(test)]
mod tests;

/// Declares a view and what every view has.
macro_rules! view {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name<T>(T);

        impl<T> $name<T> {
            /// The bytes this was a view of.
            #[inline]
            pub fn into_inner(self) -> T {
                self.0
            }
        }
    };
}
use view;

//! Why memory could not be had.

use core::fmt;

/// Why memory could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryError {
    /// More than is available. Touching it would make the kernel end this or another process, so
    /// it is not tried.
    NotAvailable {
        /// Bytes asked for.
        wanted_bytes: u64,
        /// Bytes available.
        available_bytes: u64,
    },
    /// The kernel refused.
    Refused {
        /// Bytes asked for.
        wanted_bytes: u64,
        /// The error number of the system call.
        errno: i32,
    },
    /// More bytes than an address can name.
    TooLarge,
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotAvailable {
                wanted_bytes,
                available_bytes,
            } => write!(
                f,
                "{} MiB are needed and {} MiB are available: ask for less, or end other programs",
                wanted_bytes.div_ceil(1 << 20),
                available_bytes >> 20
            ),
            Self::Refused {
                wanted_bytes,
                errno,
            } => write!(
                f,
                "the kernel refused {} MiB ({}): ask for less, or raise the memory limit",
                wanted_bytes.div_ceil(1 << 20),
                std::io::Error::from_raw_os_error(errno)
            ),
            Self::TooLarge => f.write_str("more memory is needed than an address can name"),
        }
    }
}

impl core::error::Error for MemoryError {}

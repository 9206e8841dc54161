//! The clock of a NIC, compared with the kernel's (linux/ptp_clock.h).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use libc::{c_int, c_ulong, clockid_t};

/// `PTP_SYS_OFFSET_EXTENDED`: the kernel's clock, the NIC's, the kernel's again, some times over.
const COMPARE: c_ulong = 0xc4c0_3d09;
const SAMPLES_MAX: usize = 25;
/// Taken at once: the best of them counts.
const SAMPLES: u32 = 9;

/// `struct ptp_clock_time`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    seconds: i64,
    nanos: u32,
    reserved: u32,
}

/// `struct ptp_sys_offset_extended`; since Linux 6.12 with the kernel's clock to compare with,
/// which before must be 0, the time of day.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Request {
    samples: u32,
    clock: clockid_t,
    reserved: [u32; 2],
    times: [[Time; 3]; SAMPLES_MAX],
}

const _: () = assert!(size_of::<Request>() as c_ulong == COMPARE >> 16 & 0x3fff);

/// One comparison: at the time `kernel` of the kernel's monotonic clock the NIC's said `nic`, up
/// to `doubt`; nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) kernel: u64,
    pub(crate) nic: u64,
    pub(crate) doubt: u64,
}

/// The clock of a NIC, open.
#[derive(Debug)]
pub(crate) struct PtpClock(File);

impl PtpClock {
    /// Where the clock of this number is.
    pub(crate) fn path(number: u32) -> String {
        format!("/dev/ptp{number}")
    }

    /// Only to look at, which needs no right but to open it.
    pub(crate) fn open(number: u32) -> io::Result<Self> {
        File::open(Self::path(number)).map(Self)
    }

    /// Compares it with the kernel's monotonic clock: by the kernel itself where it can, else by
    /// the time of day.
    pub(crate) fn compare(&self) -> io::Result<Comparison> {
        match self.ask(libc::CLOCK_MONOTONIC) {
            Ok(request) => best(&request.times, 0),
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => self.compare_by_day(),
            Err(error) => Err(error),
        }
    }

    fn compare_by_day(&self) -> io::Result<Comparison> {
        let before = monotonic_minus_day()?;
        let request = self.ask(0)?;
        let after = monotonic_minus_day()?;
        let compared = best(&request.times, after)?;
        // The time of day is pushed by some parts in a million, or was set meanwhile.
        let moved = before.abs_diff(after);
        Ok(Comparison {
            doubt: compared.doubt.saturating_add(moved),
            ..compared
        })
    }

    fn ask(&self, clock: clockid_t) -> io::Result<Request> {
        let mut request = Request {
            samples: SAMPLES,
            clock,
            reserved: [0; 2],
            times: [[Time::default(); 3]; SAMPLES_MAX],
        };
        // SAFETY: the kernel reads and writes one such structure, whose size the number of the
        // request says and is checked above.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), COMPARE as _, &raw mut request) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(request)
    }
}

/// The narrowest of the samples, whose times of the kernel's clock are `shift` too small.
fn best(times: &[[Time; 3]; SAMPLES_MAX], shift: i64) -> io::Result<Comparison> {
    let sample = |[before, nic, after]: &[Time; 3]| {
        let before = before.nanoseconds()?.checked_add_signed(shift)?;
        let after = after.nanoseconds()?.checked_add_signed(shift)?;
        let width = after.checked_sub(before)?;
        Some(Comparison {
            kernel: before + width / 2,
            nic: nic.nanoseconds()?,
            doubt: width.div_ceil(2),
        })
    };
    let taken = times.iter().take(SAMPLES as usize).filter_map(sample);
    taken
        .min_by_key(|compared| compared.doubt)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

impl Time {
    /// `None` before 1970 and after 2554.
    fn nanoseconds(&self) -> Option<u64> {
        let seconds = u64::try_from(self.seconds).ok()?;
        seconds
            .checked_mul(1_000_000_000)?
            .checked_add(u64::from(self.nanos))
    }
}

/// What is to be added to the time of day to have the monotonic clock's.
fn monotonic_minus_day() -> io::Result<i64> {
    let first = read(libc::CLOCK_MONOTONIC)?;
    let day = read(libc::CLOCK_REALTIME)?;
    let second = read(libc::CLOCK_MONOTONIC)?;
    Ok(first + (second - first) / 2 - day)
}

fn read(clock: clockid_t) -> io::Result<i64> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes one such structure.
    let done: c_int = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(samples: &[[i64; 3]]) -> [[Time; 3]; SAMPLES_MAX] {
        let time = |nanos: i64| Time {
            seconds: nanos.div_euclid(1_000_000_000),
            nanos: nanos.rem_euclid(1_000_000_000) as u32,
            reserved: 0,
        };
        let mut times = [[time(-1); 3]; SAMPLES_MAX];
        for (place, sample) in times.iter_mut().zip(samples) {
            *place = sample.map(time);
        }
        times
    }

    #[test]
    fn the_narrowest_sample_counts() {
        let samples = [
            [1_000, 5_000_000_000, 1_900],
            [3_000, 5_000_002_000, 3_101],
            [5_000, 5_000_004_000, 5_300],
        ];
        let compared = best(&times(&samples), 0).unwrap();
        let expect = Comparison {
            kernel: 3_050,
            nic: 5_000_002_000,
            doubt: 51,
        };
        assert_eq!(compared, expect);
        let moved = best(&times(&samples), -50).unwrap();
        assert_eq!(moved.kernel, 3_000);
    }

    #[test]
    fn samples_that_cannot_be_are_left_out() {
        for broken in [
            [[-5, 1, 1], [1, -1, 2], [9, 1, 8]],
            [[i64::MIN, 1, 2], [1, i64::MIN, 2], [1, 2, i64::MIN]],
        ] {
            assert!(best(&times(&broken), 0).is_err());
        }
        assert!(best(&times(&[[10, 10, 20]]), -30).is_err(), "before 0");
        assert!(best(&times(&[[10, 10, 20]]), i64::MAX).is_ok());
    }

    #[test]
    fn clocks_of_this_machine_are_compared_where_there_are_any() {
        let between = monotonic_minus_day().unwrap();
        assert!(between < 0, "this machine was not started before 1970");
        let Ok(clock) = PtpClock::open(0) else {
            println!("skipped: there is no {}", PtpClock::path(0));
            return;
        };
        let first = clock.compare().unwrap();
        let second = clock.compare().unwrap();
        assert!(second.kernel > first.kernel);
    }
}

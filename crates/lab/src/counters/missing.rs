//! Why something could not be counted, as sentences.

use std::fs;
use std::io;
use std::path::Path;

use super::EventKind;

/// What is missing: names of events, and why.
#[derive(Debug, Default)]
pub(super) struct Missing(Vec<(Reason, Vec<&'static str>)>);

/// Why an event is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    NoPmu,
    /// The CPU or its hypervisor does not have this one.
    Unsupported,
    /// The kernel does not let this user.
    Refused,
    /// A filter of system calls does not let anybody.
    Filtered,
    /// It happens in the kernel alone, and this user may count what happens outside of it.
    KernelOnly,
    /// Counters of the CPU are all taken.
    Busy,
}

impl Missing {
    pub(super) fn add(&mut self, event: &'static str, kind: EventKind, error: &io::Error) {
        self.push(Reason::of(kind, error.raw_os_error(), has_pmu()), event);
    }

    /// An event of the kernel, for a user who may count only what happens outside of it.
    pub(super) fn add_kernel_only(&mut self, event: &'static str) {
        self.push(Reason::KernelOnly, event);
    }

    fn push(&mut self, reason: Reason, event: &'static str) {
        match self.0.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, events)) => events.push(event),
            None => self.0.push((reason, vec![event])),
        }
    }

    /// A sentence for each reason.
    pub(super) fn sentences(&self) -> Vec<String> {
        let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
        let paranoid = paranoid
            .map(|text| text.trim().to_owned())
            .unwrap_or_default();
        let all = self.0.iter();
        all.map(|(reason, events)| reason.sentence(events, &paranoid))
            .collect()
    }
}

impl Reason {
    fn of(kind: EventKind, error: Option<i32>, has_pmu: bool) -> Self {
        match error {
            _ if kind == EventKind::Hardware && !has_pmu => Self::NoPmu,
            Some(libc::EACCES) => Self::Refused,
            Some(libc::EPERM | libc::ENOSYS) => Self::Filtered,
            Some(libc::EBUSY) => Self::Busy,
            _ => Self::Unsupported,
        }
    }

    fn sentence(self, events: &[&'static str], paranoid: &str) -> String {
        let named = events.join(", ");
        match self {
            Self::NoPmu => "no cycles, stalls and misses: the kernel has no PMU here, as in a \
                            virtual machine that is given none"
                .to_owned(),
            Self::Unsupported => format!("not counted by this CPU or kernel: {named}"),
            Self::Refused => format!(
                "not allowed for this user: {named} (kernel.perf_event_paranoid is {paranoid}); \
                 run it as root or with CAP_PERFMON"
            ),
            Self::Filtered => format!(
                "not allowed here: {named}; a container's filter of system calls (seccomp) may \
                 forbid perf_event_open, or the process is another user's"
            ),
            Self::KernelOnly => format!(
                "not counted, since they happen in the kernel: {named}; this user may count only \
                 what happens outside of it (kernel.perf_event_paranoid is {paranoid}): run it as \
                 root or with CAP_PERFMON"
            ),
            Self::Busy => format!("not counted: {named}; others use all counters of the CPU"),
        }
    }
}

/// Whether the kernel drives counters of this machine's CPUs.
fn has_pmu() -> bool {
    let devices = ["cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3"];
    devices.iter().any(|device| {
        let path = Path::new("/sys/bus/event_source/devices").join(device);
        path.exists()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_go_by_the_error_and_what_the_machine_has() {
        let (hardware, software) = (EventKind::Hardware, EventKind::Software);
        for (kind, error, has_pmu, expected) in [
            (hardware, libc::ENOENT, false, Reason::NoPmu),
            (hardware, libc::EOPNOTSUPP, false, Reason::NoPmu),
            (hardware, libc::ENOENT, true, Reason::Unsupported),
            (hardware, libc::EINVAL, true, Reason::Unsupported),
            (hardware, libc::EACCES, false, Reason::NoPmu),
            (hardware, libc::EACCES, true, Reason::Refused),
            (hardware, libc::EBUSY, true, Reason::Busy),
            (software, libc::ENOENT, false, Reason::Unsupported),
            (software, libc::EACCES, true, Reason::Refused),
            (software, libc::EPERM, true, Reason::Filtered),
            (software, libc::ENOSYS, true, Reason::Filtered),
        ] {
            assert_eq!(Reason::of(kind, Some(error), has_pmu), expected, "{error}");
        }
    }

    #[test]
    fn one_sentence_says_a_reason_for_all_events_that_have_it() {
        let mut missing = Missing::default();
        let refused = io::Error::from_raw_os_error(libc::EACCES);
        for event in ["minor_faults", "major_faults"] {
            missing.add(event, EventKind::Software, &refused);
        }
        missing.add_kernel_only("context_switches");
        let sentences = missing.sentences();
        assert_eq!(sentences.len(), 2);
        assert!(
            sentences[0].contains("minor_faults, major_faults"),
            "{sentences:?}"
        );
        assert!(sentences[1].contains("context_switches"), "{sentences:?}");
    }
}

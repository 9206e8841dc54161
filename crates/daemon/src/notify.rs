//! Telling systemd how it goes: ready, reloading, stopping, and that workers go round.
//!
//! The protocol is sd_notify(3): datagrams of `KEY=VALUE` lines to the socket that `NOTIFY_SOCKET`
//! names. Without it nothing is told.

use std::env;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Something that wants to be told, or nobody.
#[derive(Debug)]
pub(crate) struct Notifier {
    service: Option<UnixDatagram>,
    watchdog: Option<Duration>,
}

impl Notifier {
    /// As the environment says.
    pub(crate) fn of_environment() -> Self {
        let value = |name| env::var(name).ok();
        Self {
            service: env::var_os("NOTIFY_SOCKET").and_then(|path| connect(path.as_bytes())),
            watchdog: watchdog(
                value("WATCHDOG_USEC").as_deref(),
                value("WATCHDOG_PID").as_deref(),
                std::process::id(),
            ),
        }
    }

    /// How often it wants to hear that all is well, if at all: half of the time after which it
    /// would end the daemon.
    pub(crate) fn watchdog(&self) -> Option<Duration> {
        self.service
            .as_ref()
            .and(self.watchdog)
            .map(|time| time / 2)
    }

    /// Frames pass.
    pub(crate) fn ready(&self) {
        self.tell("READY=1\nSTATUS=Forwarding\n");
    }

    /// The configuration is read again, until [`Notifier::ready`].
    pub(crate) fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1000;
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={micros}\n"));
    }

    /// The end has begun.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=Stopping\n");
    }

    /// All is well.
    pub(crate) fn alive(&self) {
        self.tell("WATCHDOG=1\n");
    }

    /// All is not well: which is a line in `systemctl status`.
    pub(crate) fn status(&self, sentence: &str) {
        self.tell(&format!("STATUS={sentence}\n"));
    }

    fn tell(&self, text: &str) {
        if let Some(service) = &self.service {
            // A service manager that is gone has nothing to be told.
            let _ = service.send(text.as_bytes());
        }
    }
}

/// A path, or the name of an abstract socket after `@`.
fn connect(address: &[u8]) -> Option<UnixDatagram> {
    let address = match address.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(address)),
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.connect_addr(&address.ok()?).ok()?;
    // It must not be able to hold the daemon up.
    socket.set_nonblocking(true).ok()?;
    Some(socket)
}

/// Microseconds, for this process or for whoever has the variable.
fn watchdog(micros: Option<&str>, pid: Option<&str>, own: u32) -> Option<Duration> {
    let meant = pid.is_none_or(|pid| pid.parse() == Ok(own));
    let micros: u64 = micros?.parse().ok()?;
    (meant && micros != 0).then(|| Duration::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_manager_hears_what_happens() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).expect("a socket");
        let notifier = Notifier {
            service: connect(path.as_os_str().as_bytes()),
            watchdog: Some(Duration::from_secs(20)),
        };
        let heard = || {
            let mut bytes = [0; 200];
            let read = manager.recv(&mut bytes).expect("a datagram");
            String::from_utf8_lossy(&bytes[..read]).into_owned()
        };
        notifier.ready();
        assert_eq!(heard(), "READY=1\nSTATUS=Forwarding\n");
        notifier.reloading();
        assert!(heard().starts_with("RELOADING=1\nMONOTONIC_USEC="));
        notifier.alive();
        assert_eq!(heard(), "WATCHDOG=1\n");
        notifier.stopping();
        assert!(heard().starts_with("STOPPING=1\n"));
        assert_eq!(notifier.watchdog(), Some(Duration::from_secs(10)));
    }

    #[test]
    fn nobody_is_told_without_a_socket() {
        assert!(connect(b"/no/such/socket").is_none());
        let alone = Notifier {
            service: None,
            watchdog: Some(Duration::from_secs(2)),
        };
        alone.ready();
        assert_eq!(alone.watchdog(), None);
    }

    #[test]
    fn the_watchdog_is_for_the_process_it_names() {
        let two = Some(Duration::from_secs(2));
        assert_eq!(watchdog(Some("2000000"), None, 7), two);
        assert_eq!(watchdog(Some("2000000"), Some("7"), 7), two);
        assert_eq!(watchdog(Some("2000000"), Some("8"), 7), None);
        for micros in [None, Some("0"), Some("x"), Some("-1")] {
            assert_eq!(watchdog(micros, None, 7), None);
        }
    }
}

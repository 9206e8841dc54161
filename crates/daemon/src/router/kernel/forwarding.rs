//! Whether the kernel would forward the same packets.

use std::fs;

use port::PortSpec;

use crate::router::OnExit;

/// The links of the ports, and what may be.
#[derive(Debug)]
pub(super) struct Forwarding {
    /// With whether the kernel sees their frames too.
    links: Vec<(String, bool)>,
    on_exit: OnExit,
}

impl Forwarding {
    pub(super) fn new(ports: &[PortSpec], on_exit: OnExit) -> Self {
        let link = |port: &PortSpec| {
            let name = port.interface()?.to_owned();
            Some((name, matches!(port, PortSpec::Packet(_))))
        };
        Self {
            links: ports.iter().filter_map(link).collect(),
            on_exit,
        }
    }

    /// Whether the kernel lets the router alone.
    ///
    /// # Errors
    /// A sentence with the remedy.
    pub(super) fn check(&self) -> Result<(), String> {
        let twice = |name: &str, setting: &str| {
            format!(
                "packet:{name}: the kernel sees the same frames and would forward them a second \
                 time: `sysctl -w {setting}=0`, or name the port xdp:{name}"
            )
        };
        let after = |name: &str, setting: &str| {
            format!(
                "xdp:{name}: the kernel would go on forwarding when the router has ended, without \
                 its sets and checks: `sysctl -w {setting}=0`, or say on-exit open"
            )
        };
        for (name, is_shared) in &self.links {
            let Some(setting) = setting_of(name) else {
                continue;
            };
            match (is_shared, self.on_exit) {
                (true, _) => return Err(twice(name, &setting)),
                (false, OnExit::Closed) => return Err(after(name, &setting)),
                (false, OnExit::Open) => {}
            }
        }
        Ok(())
    }
}

/// The setting by which the kernel forwards what comes by a link, where it does.
fn setting_of(link: &str) -> Option<String> {
    let v4 = is_set(&format!("/proc/sys/net/ipv4/conf/{link}/forwarding"));
    let v6 = is_set("/proc/sys/net/ipv6/conf/all/forwarding");
    match (v4, v6) {
        (true, _) => Some(format!(
            "net.ipv4.conf.{}.forwarding",
            link.replace('.', "/")
        )),
        (_, true) => Some("net.ipv6.conf.all.forwarding".to_owned()),
        _ => None,
    }
}

fn is_set(path: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.trim() == "1")
}

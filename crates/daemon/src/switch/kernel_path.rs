//! Ports of which the kernel forwards past the program.

use port::{Bypass, PortSpec};

/// Why a switch cannot have this port: the kernel forwards between two ports and knows no VLANs.
#[must_use]
pub fn kernel_path(port: &PortSpec, stage: &str) -> Option<String> {
    let passes_by = match port {
        PortSpec::Xdp(xdp) => xdp.shortcut || xdp.bypass != Bypass::Off,
        _ => false,
    };
    passes_by.then(|| {
        let spec = port.to_string();
        // Driver and interface; the other settings are of no interest here.
        let short = spec.split(',').next().unwrap_or_default();
        format!(
            "{short} would let frames pass by the {stage}: leave bypass and shortcut out, which a \
             bridge of two ports has"
        )
    })
}

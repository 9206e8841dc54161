//! The largest MTU whose frames reach a socket, by what hands them over.

use super::HEADER_BYTES;
use super::spec::XdpMode;
use crate::interface::{Interface, XdpSupport};
use crate::sys::xdp_bpf::AttachMode;
use crate::sys::xdp_chunks::Chunks;
use crate::{PortError, PortErrorKind};

/// What a driver has for a frame that it shows to a program in one piece, where that is less than
/// a chunk: virtio_net puts its own header of 20 bytes, the room before a frame and the kernel's
/// `skb_shared_info` into the same page, and drops what does not fit, without a word (measured on
/// Linux 6.1: an MTU of 3,480 passes, and of one of 3,490 every full frame is lost).
const ONE_PIECE_BYTES: [(&str, u32); 1] = [("virtio_net", 4096 - 256 - 20 - 320)];

/// The largest MTU whose frames, with two VLAN tags, AF_XDP carries: in a chunk of the kernel's
/// each, or with `several_pieces` in several, which not every driver and kernel grants.
pub(super) fn xdp_mtu_max(several_pieces: bool) -> u32 {
    let largest = Chunks::of(u32::MAX);
    let largest = largest.map_or(0, |chunks| chunks.frame_bytes_max(several_pieces));
    largest.saturating_sub(HEADER_BYTES)
}

/// The largest MTU of which full frames reach a program in the driver of this name, and by it a
/// socket; `several_pieces` where the driver says that it hands long frames over in several.
#[must_use]
pub fn native_mtu_max(driver: Option<&str>, several_pieces: bool) -> u32 {
    let known = ONE_PIECE_BYTES
        .iter()
        .find(|&&(name, _)| !several_pieces && Some(name) == driver);
    let driver_has = known.map_or(u32::MAX, |(_, bytes)| bytes - HEADER_BYTES);
    driver_has.min(xdp_mtu_max(several_pieces))
}

/// The largest MTU on an interface that does not need several descriptors a frame.
pub(super) fn one_piece_mtu_max_on(name: &str, mode: XdpMode) -> u32 {
    let interface = (mode != XdpMode::Generic).then(|| Interface::existing(name).ok());
    let driver = interface.flatten().and_then(|found| found.driver().ok());
    native_mtu_max(driver.as_deref(), false)
}

/// Where the program may be attached, in this order, for frames of this MTU.
///
/// # Errors
/// Full frames would be lost in the driver, and the spec leaves nothing else.
pub(super) fn attach_order(
    name: &str,
    mode: XdpMode,
    mtu: u32,
    native_max: u32,
) -> Result<&'static [AttachMode], PortError> {
    match mode {
        XdpMode::Generic => Ok(&[AttachMode::Generic]),
        XdpMode::Auto if mtu > native_max => Ok(&[AttachMode::Generic]),
        XdpMode::Auto => Ok(&[AttachMode::Native, AttachMode::Generic]),
        _ if mtu > native_max => {
            let sentence = format!(
                "xdp:{name}: its driver drops full frames of its MTU of {mtu} before a program \
                 sees them; `ip link set dev {name} mtu {native_max}` or less, mode=generic, or \
                 packet:{name}"
            );
            Err(PortError::new(PortErrorKind::Setting, sentence))
        }
        _ => Ok(&[AttachMode::Native]),
    }
}

/// Whether the driver hands long frames over in several pieces; not where the kernel does not say.
pub(super) fn in_several_pieces(interface: u32) -> bool {
    XdpSupport::of(interface).is_ok_and(|support| support.several_pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_drivers_where_it_is_less_than_a_chunk() {
        for (driver, several, limit) in [
            (Some("virtio_net"), false, 3478),
            (Some("virtio_net"), true, xdp_mtu_max(true)),
            (Some("e1000e"), false, 3818),
            (None, false, 3818),
            (None, true, xdp_mtu_max(true)),
        ] {
            assert_eq!(
                native_mtu_max(driver, several),
                limit,
                "{driver:?} {several}"
            );
        }
    }

    #[test]
    fn no_mode_is_tried_in_which_full_frames_are_lost() {
        use AttachMode::{Generic, Native};
        let fits = (3478, 3478);
        let too_long = (3479, 3478);
        for (mode, sizes, order) in [
            (XdpMode::Auto, fits, Some(&[Native, Generic][..])),
            (XdpMode::Auto, too_long, Some(&[Generic])),
            (XdpMode::Copy, fits, Some(&[Native])),
            (XdpMode::Copy, too_long, None),
            (XdpMode::ZeroCopy, too_long, None),
            (XdpMode::Generic, too_long, Some(&[Generic])),
        ] {
            let found = attach_order("eth0", mode, sizes.0, sizes.1);
            assert_eq!(found.as_ref().ok().copied(), order, "{mode:?} {sizes:?}");
            if let Err(refused) = found {
                assert!(refused.to_string().contains("mtu 3478"), "{refused}");
            }
        }
    }
}

//! The beginning of a capture: what kind it is.

use wire::capture::pcap::{self, FileHeader};
use wire::capture::{ByteOrder, CaptureFault, Container};

use super::interfaces::Interfaces;
use super::window::{Fill, Window};
use crate::{PortError, PortErrorKind};

/// The two formats, and what a reader must remember of each.
pub(super) enum Kind {
    Pcap(FileHeader),
    Pcapng {
        order: ByteOrder,
        interfaces: Interfaces,
    },
}

/// Reads the file header of a pcap, or sees that a pcapng begins.
pub(super) fn read_head(window: &mut Window) -> Result<Kind, PortError> {
    let not_a_capture = |window: &Window, fault: CaptureFault| {
        let what = match fault {
            CaptureFault::TooShort => "ends within its file header",
            fault => fault.sentence(),
        };
        let name = window.source().name();
        let sentence = format!("{name} is no capture that can be read: it {what}");
        PortError::new(PortErrorKind::NotACapture, sentence)
    };
    wait_for(window, 4);
    let container =
        Container::detect(window.bytes()).map_err(|fault| not_a_capture(window, fault))?;
    match container {
        Container::Pcapng => Ok(Kind::Pcapng {
            order: ByteOrder::NATIVE,
            interfaces: Interfaces::default(),
        }),
        Container::Pcap => {
            wait_for(window, pcap::FILE_HEADER_BYTES);
            let header =
                FileHeader::parse(window.bytes()).map_err(|fault| not_a_capture(window, fault))?;
            window.take(pcap::FILE_HEADER_BYTES);
            Ok(Kind::Pcap(header))
        }
    }
}

/// Waits until `count` bytes are there or the capture has ended.
fn wait_for(window: &mut Window, count: usize) {
    while window.fill(count) == Fill::Waiting {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

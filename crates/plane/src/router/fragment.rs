//! IPv4 packets that are longer than the link takes, cut (RFC 791 section 3.2, RFC 1812 section
//! 4.2.2.7).

use frame::Frame;
use wire::Malformed;
use wire::view::Ipv4View;

use super::Router;
use super::forward::{Leaving, Sent};
use super::process::Routed;
use super::wait::Ticket;
use crate::{DropReason, Forwarding, Origin, Outgoing, Verdict};

/// Room for a link header in front of a fragment that is made.
const LINK: usize = 14;
/// Fragments begin at multiples of so many bytes.
const UNIT: usize = 8;
/// Where the data of the longest packet ends.
const OFFSET_MAX: usize = 65_535;
const PLAIN_HEADER: usize = 20;
const NO_OPERATION: u8 = 1;
/// The option is part of every fragment.
const COPIED: u8 = 0x80;

/// A packet that is cut.
struct Cut {
    /// Its header, with the TTL that it leaves with.
    header: [u8; 60],
    header_len: usize,
    /// Where its data is in its datagram, bytes.
    offset: usize,
    /// More fragments follow it.
    more: bool,
}

impl Router {
    /// Cuts a packet: the frame becomes the first piece, and others follow it.
    pub(super) fn fragment(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        leaving: &Leaving,
        at: usize,
        frame: &mut Frame,
    ) -> Verdict {
        let packet = &routed.packet;
        let mtu = self.table.link(leaving.hop.interface).mtu;
        let part = mtu.saturating_sub(packet.header_len) / UNIT * UNIT;
        let data = packet.l3 + packet.header_len..packet.l3 + packet.len;
        let Some(cut) = Cut::of(frame.bytes(), packet.l3).filter(|_| part != 0) else {
            return Verdict::Drop(DropReason::NoFrameRoom);
        };
        // Pieces that begin past the end would be taken for others.
        if cut.offset + data.len() > OFFSET_MAX {
            return Verdict::Drop(DropReason::Malformed(Malformed::FragmentBeyondPacket));
        }
        // What a capture cut off is nowhere.
        if frame.len() < data.end {
            return Verdict::Drop(DropReason::NoFrameRoom);
        }
        // All pieces leave, or none.
        let others_count = data.len().div_ceil(part) - 1;
        if others_count > cx.out.room() {
            return Verdict::Drop(DropReason::NoFrameRoom);
        }
        let mut others = std::mem::take(&mut self.pieces);
        for begin in (data.start + part..data.end).step_by(part) {
            let bytes = &frame.bytes()[begin..data.end.min(begin + part)];
            let Some(mut piece) = cut.piece(cx, begin - data.start, bytes, begin + part < data.end)
            else {
                others.drain(..).for_each(|piece| cx.pool.free(piece));
                self.pieces = others;
                return Verdict::Drop(DropReason::NoFrameRoom);
            };
            if let Some(meta) = frame.meta() {
                *piece.meta_mut() = *meta;
                piece.meta_mut().original_len = 0;
            }
            others.push(piece);
        }
        debug_assert_eq!(others.len(), others_count);
        let first_len = data.start + part;
        if frame.set_len(first_len).is_ok() {
            if frame.meta().is_some() {
                frame.meta_mut().original_len = 0;
            }
            cut.write(&mut frame.bytes_mut()[packet.l3..], 0, true);
        }
        self.counts.fragmented += 1;
        self.counts.fragments += 1 + others.len() as u64;
        let sent = self.send(cx, leaving, frame);
        let verdict = self.verdict(cx, routed, leaving, sent);
        for piece in others.drain(..) {
            self.send_piece(cx, routed, leaving, at, piece);
        }
        self.pieces = others;
        verdict
    }

    fn send_piece(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        leaving: &Leaving,
        at: usize,
        mut piece: Frame,
    ) {
        let leaving = Leaving {
            l3: LINK,
            ..*leaving
        };
        let sent = self.send(cx, &leaving, &mut piece);
        self.hand_out(cx, routed, (at + 1, Origin::Copy), sent, piece);
    }

    /// Sends a frame that is not of the burst, before the frame at `after`, or has it wait; one
    /// that can do neither ends.
    pub(super) fn hand_out(
        &mut self,
        cx: &mut Forwarding<'_>,
        routed: &Routed,
        (after, origin): (usize, Origin),
        sent: Sent,
        frame: Frame,
    ) {
        let refused = match sent {
            Sent::By(port) => cx.out.push(Outgoing {
                frame,
                from: cx.from,
                origin,
                verdict: Verdict::Forward(port),
                after,
            }),
            Sent::Waits(key) => {
                let ticket = Ticket {
                    key,
                    from: cx.from,
                    arrival: routed.arrival,
                    origin,
                    // The first piece counts for the packet.
                    is_forwarded: false,
                };
                self.waiting.add(ticket, frame);
                Ok(())
            }
            Sent::Unresolved | Sent::Full | Sent::NoRoom => Err(frame),
        };
        if let Err(frame) = refused {
            cx.pool.free(frame);
        }
    }
}

impl Cut {
    fn of(frame: &[u8], l3: usize) -> Option<Self> {
        let view = Ipv4View::new_checked(frame.get(l3..)?).ok()?;
        let mut header = [0; 60];
        let header_len = view.header_len();
        header
            .get_mut(..header_len)?
            .copy_from_slice(frame.get(l3..l3 + header_len)?);
        Some(Self {
            header,
            header_len,
            offset: usize::from(view.fragment_offset()),
            more: view.more_fragments(),
        })
    }

    /// A frame with a piece of the data, `from` bytes behind its start.
    fn piece(
        &self,
        cx: &mut Forwarding<'_>,
        from: usize,
        data: &[u8],
        more: bool,
    ) -> Option<Frame> {
        let mut piece = cx.pool.alloc()?;
        let begin = LINK + self.header_len;
        if piece.set_len(begin + data.len()).is_err() {
            cx.pool.free(piece);
            return None;
        }
        let bytes = piece.bytes_mut();
        bytes[LINK..begin].copy_from_slice(&self.header[..self.header_len]);
        bytes[begin..].copy_from_slice(data);
        self.write(&mut bytes[LINK..], from, more);
        Some(piece)
    }

    /// Makes the header that `packet` begins with one of the piece `from` bytes behind the start.
    fn write(&self, packet: &mut [u8], from: usize, more: bool) {
        let len = packet.len() as u16;
        if from != 0 {
            keep_copied(packet.get_mut(PLAIN_HEADER..self.header_len));
        }
        if let Ok(mut view) = Ipv4View::new_checked(packet) {
            view.set_total_len(len);
            view.set_fragment((self.offset + from) as u16, more || self.more);
            view.fill_checksum();
        }
    }
}

/// Options that are not part of every fragment become ones without meaning.
fn keep_copied(options: Option<&mut [u8]>) {
    let options = options.unwrap_or_default();
    let mut at = 0;
    while let Some(&kind) = options.get(at) {
        let len = match kind {
            0 => return,
            NO_OPERATION => 1,
            _ => usize::from(options.get(at + 1).copied().unwrap_or(0)).max(2),
        };
        let end = options.len().min(at + len);
        if kind & COPIED == 0 {
            options[at..end].fill(NO_OPERATION);
        }
        at = end;
    }
}

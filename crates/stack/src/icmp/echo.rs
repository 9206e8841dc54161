//! Echo requests become their replies (RFC 792, RFC 1122 section 3.2.2.6, RFC 4443 section 4.2).

use wire::view::{Ipv4View, Ipv6View};
use wire::{checksum, protocol};

use super::about::{is_one_host_v4, is_one_host_v6};

const REQUEST_V4: u8 = 8;
const REPLY_V4: u8 = 0;
const REQUEST_V6: u8 = 128;
const REPLY_V6: u8 = 129;
/// The hop limit of replies.
const HOPS: u8 = 64;
const PLAIN_HEADER: usize = 20;
const V6_HEADER: usize = 40;

/// Makes of an echo request its reply, in place; where the reply begins in `packet`, since it has
/// no options. `None`, and the packet as it was, where it is no whole echo request from one host to
/// one host with right lengths and checksums. `packet` begins with its IP header and ends where it
/// ends.
#[must_use]
pub fn echo_reply(packet: &mut [u8]) -> Option<usize> {
    match packet.first()? >> 4 {
        4 => reply_v4(packet),
        6 => reply_v6(packet),
        _ => None,
    }
}

fn reply_v4(packet: &mut [u8]) -> Option<usize> {
    let view = Ipv4View::new_checked(&*packet).ok()?;
    let header = view.header_len();
    let is_whole = view.fragment_offset() == 0
        && !view.more_fragments()
        && usize::from(view.total_len()) == packet.len()
        && view.checksum_is_right();
    let is_direct = is_one_host_v4(view.src()) && is_one_host_v4(view.dst());
    let message = packet.get(header..)?;
    let is_request = view.protocol() == protocol::ICMP && message.first() == Some(&REQUEST_V4);
    let is_fit = is_whole && is_direct && is_request;
    if !is_fit || message.len() < 8 || checksum::checksum(message) != 0 {
        return None;
    }
    let (src, dst) = (view.src(), view.dst());
    rename(packet, header, [REQUEST_V4, REPLY_V4]);
    let begin = header - PLAIN_HEADER;
    packet.copy_within(..PLAIN_HEADER, begin);
    let len = (packet.len() - begin) as u16;
    let mut reply = Ipv4View::new_checked(packet.get_mut(begin..)?).ok()?;
    reply.set_header_len(PLAIN_HEADER);
    reply.set_total_len(len);
    reply.set_fragment(0, false);
    reply.set_ttl(HOPS);
    reply.set_src(dst);
    reply.set_dst(src);
    reply.fill_checksum();
    Some(begin)
}

fn reply_v6(packet: &mut [u8]) -> Option<usize> {
    let view = Ipv6View::new_checked(&*packet).ok()?;
    let message = packet.get(V6_HEADER..)?;
    let is_request = view.next_header() == protocol::ICMPV6 && message.first() == Some(&REQUEST_V6);
    let (src, dst) = (view.src(), view.dst());
    let is_whole = usize::from(view.payload_len()) == message.len();
    let is_fit = is_whole && is_request && is_one_host_v6(src) && is_one_host_v6(dst);
    let pseudo = checksum::pseudo_v6(src, dst, protocol::ICMPV6, message.len() as u32);
    if !is_fit || message.len() < 8 || checksum::transport(pseudo, message) != 0 {
        return None;
    }
    rename(packet, V6_HEADER, [REQUEST_V6, REPLY_V6]);
    let mut reply = Ipv6View::new_checked(packet).ok()?;
    reply.set_hop_limit(HOPS);
    reply.set_src(dst);
    reply.set_dst(src);
    Some(0)
}

/// Changes the type of the message at `at`, and its checksum with it. Swapped addresses change
/// no sum.
fn rename(packet: &mut [u8], at: usize, [from, to]: [u8; 2]) {
    if let Some(message) = packet.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<4>) {
        let [_, code, high, low] = *message;
        let (old, new) = (
            u16::from_be_bytes([from, code]),
            u16::from_be_bytes([to, code]),
        );
        let sum = checksum::update(u16::from_be_bytes([high, low]), old, new);
        let [high, low] = sum.to_be_bytes();
        *message = [to, code, high, low];
    }
}

#[cfg(test)]
mod tests;

//! Why frames are dropped: the one declaration from which counters, tables, JSON and docs derive.

use wire::Malformed;

/// Whose doing a drop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The policy asked for it.
    Policy,
    /// The frame is at fault.
    Frame,
    /// This machine could not keep up or is shutting down.
    Resource,
}

impl Severity {
    /// One word for tables: `policy`, `frame` or `resource`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Frame => "frame",
            Self::Resource => "resource",
        }
    }
}

macro_rules! drop_reasons {
    ($(
        $variant:ident = $name:literal, $severity:ident, $sentence:literal, $remedy:literal;
    )+) => {
        /// Why a frame was dropped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum DropReason {
            $(#[doc = concat!($sentence, ".")] $variant,)+
            /// The frame breaks a protocol's rules; which rule is the field.
            Malformed(Malformed),
        }

        impl DropReason {
            const OWN: &'static [Self] = &[$(Self::$variant),+];

            /// The name in counters and JSON, `snake_case`; faults of frames keep the name under
            /// which `wire` declares them.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                    Self::Malformed(fault) => fault.name(),
                }
            }

            /// One sentence for people, without capital and full stop, to stand in a table or a
            /// phrase.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Self::$variant => $sentence,)+
                    Self::Malformed(fault) => fault.sentence(),
                }
            }

            /// What to do about it, without capital and full stop.
            #[must_use]
            pub fn remedy(self) -> &'static str {
                match self {
                    $(Self::$variant => $remedy,)+
                    Self::Malformed(fault) => malformed_remedy(fault),
                }
            }

            /// Whose doing it is.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$variant => Severity::$severity,)+
                    Self::Malformed(_) => Severity::Frame,
                }
            }

            /// The place of this reason in a column of [`DropReason::COUNT`] counters.
            #[must_use]
            #[inline]
            pub fn index(self) -> usize {
                match self {
                    Self::Malformed(fault) => Self::OWN.len() + fault as usize,
                    own => own.own_index(),
                }
            }

            #[inline]
            fn own_index(self) -> usize {
                #[derive(Clone, Copy)]
                enum Place { $($variant),+ }
                match self {
                    $(Self::$variant => Place::$variant as usize,)+
                    Self::Malformed(_) => 0,
                }
            }
        }
    };
}

drop_reasons! {
    BlockedSrc = "blocked_src", Policy,
        "the source address is in a block set and in no allow set",
        "this is what block sets are for; where it should have passed, `linerate set test \
         ADDRESS` names the entry, which can be deleted, or its set be put into count mode or \
         exempted by an allow set";
    BlockedDst = "blocked_dst", Policy,
        "the destination address is in a block set and in no allow set",
        "as of blocked_src; a set that is about who sends can be limited to the source side";
    NotAllowed = "not_allowed", Policy,
        "the default is to drop, and neither address is in an allow set",
        "add one of the addresses to an allow set, or let the default be to forward; what a \
         network needs passes by `--pass`";
    Rule = "rule", Policy,
        "a rule drops it, or no rule lets it pass and the policy of the rules is to drop",
        "this is what `--rules` is for; the report counts what each rule matched, and `linerate \
         rules check FILE --test PACKET` names the one that decides";
    NotEstablished = "not_established", Policy,
        "the bridge is stateful, and the packet is of no known flow and may begin none",
        "this is what `--stateful` is for; where it should have passed, name the side it comes in \
         by under `allow-new`, or give flows more room";
    OtherSide = "other_side", Policy,
        "the bridge is stateful, and the packet is of a known flow but came in by the side \
         of the other end",
        "a capture that holds both directions is given as two captures, one a side; on interfaces \
         somebody poses as the other end, or a switch sends frames back";
    RouterSide = "router_side", Policy,
        "a router advertisement, redirect or answer of a DHCP server that comes from elsewhere \
         than the router side",
        "this keeps hosts from posing as routers; where a router or DHCP server is behind that \
         port, name it with `--router`";
    IcmpUnrelated = "icmp_unrelated", Policy,
        "the bridge is stateful, and the ICMP error is about no packet of a known flow",
        "nothing, where nobody misses it: errors about flows that are over come late";
    FragmentUnknown = "fragment_unknown", Policy,
        "the bridge is stateful, and the fragment cannot be told to be of any packet",
        "with `--fragments off` fragments that come before the first one of their packet are \
         lost, and with several workers all but the first; else the fragment is malformed, or a \
         fragment of a fragment";
    FragmentOverlap = "fragment_overlap", Frame,
        "another fragment of the packet holds some of the same bytes (RFC 5722, RFC 8200)",
        "nobody sends such fragments by mistake, but identifications that are used again within \
         the timeout look like it: find out who sends them with `linerate capture --drops`";
    FragmentDuplicate = "fragment_duplicate", Frame,
        "the same fragment has come before; its packet is not harmed",
        "nothing, where few come: a link that repeats frames shows in all traffic";
    FragmentLength = "fragment_length", Frame,
        "the fragments of the packet contradict each other on its length, or one is empty",
        "nobody sends such fragments by mistake: find out who does with `linerate capture \
         --drops`";
    FragmentPieces = "fragment_pieces", Resource,
        "the packet has more fragments than are followed",
        "raise `--fragments pieces=N` if the packets are good: 45 fragments of 1,500 bytes are the \
         longest packet there is";
    FragmentTooLong = "fragment_too_long", Resource,
        "the packet that its fragments make is longer than a chunk, or there is no free one",
        "give ends that put packets together longer chunks: 65,535 bytes and the link header are \
         the most there can be";
    FragmentReused = "fragment_reused", Frame,
        "two first fragments with the same identification differ: they are of two packets",
        "the sender numbers packets faster than they are forgotten (RFC 6864): shorten \
         `--fragments timeout=MS`, or let it keep to the path's MTU";
    FragmentTimeout = "fragment_timeout", Frame,
        "it waited for the first fragment of its packet, which did not come in time",
        "fragments are lost on the way, or it is a flood; where paths are slow raise \
         `--fragments timeout=MS`";
    FragmentEvicted = "fragment_evicted", Resource,
        "it was to wait for the first fragment of its packet, and there was no room for all",
        "raise `--fragments held=N` and `datagrams=N`, unless it is a flood";
    FragmentSource = "fragment_source", Resource,
        "its source has more packets in fragments under way than its share",
        "one source that begins very many is a flood; if it is not, raise `--fragments \
         datagrams=N` and `held=N`";
    NonIp = "non_ip", Policy,
        "the frame is not IP, and the policy drops such frames",
        "forward them if ARP, LLDP or spanning tree must pass: a link without ARP carries no \
         IPv4 for long";
    BadSource = "bad_source", Frame,
        "its source is a group address or all zero, which no station has",
        "look at some with `linerate capture --drops`: the sender writes bad link headers, or \
         something is generated without an address";
    ReservedAddress = "reserved_address", Policy,
        "it is addressed to 01-80-C2-00-00-00 to 0F, which a switch does not forward",
        "these are for the next device alone (spanning tree, LLDP, LACP); where they should \
         pass, use `--reserved forward`";
    FrameType = "frame_type", Policy,
        "the port takes frames with a tag alone, or without one alone, and it is of the other kind",
        "`--accept PORT=all` takes both; where the far side should send the other kind, set it \
         there";
    NoVlan = "no_vlan", Policy,
        "it names no VLAN, and the port it came in by has no PVID",
        "give the port a PVID (`--pvid PORT=VLAN`), or let the far side send tagged frames";
    VlanReserved = "vlan_reserved", Frame,
        "its tag has the VLAN number 4095, which is never sent",
        "look at some with `linerate capture --drops`: the sender writes bad tags";
    VlanUnknown = "vlan_unknown", Policy,
        "its VLAN is not in the VLAN table",
        "add the VLAN with its members (`--vlan VLAN=PORTS`), or take it off the far side";
    NotMember = "not_member", Policy,
        "the port it came in by, or the one that its destination is behind, is no member of its \
         VLAN or group",
        "make the port a member of the VLAN or the group; frames that come in by a port that is \
         none are taken with `--filter PORT=off`";
    Isolated = "isolated", Policy,
        "its destination is behind an isolated port, and so is its source",
        "this is what isolated ports are for; where the two should talk, isolate one of them only";
    SamePort = "same_port", Policy,
        "its destination is behind the port that it came in by",
        "nothing, where a hub or another switch is behind that port; where it should be sent back \
         (access points, virtual machines), use `--hairpin PORT`";
    NoPort = "no_port", Policy,
        "no other port would take a frame to all or to an unknown station",
        "a VLAN or group with one port carries nothing: add a member, or take it off the port";
    Storm = "storm", Policy,
        "more frames a second came in by the port than it may have flooded",
        "broadcasts in such numbers are a loop or a flood: find out who sends them with `linerate \
         capture --drops`; where they are wanted, raise `--storm`";
    LoopQuiet = "loop_quiet", Policy,
        "a loop was noticed at its port, which `--loop-quiet` leaves out for a while",
        "look for a second way between the two ports that the log names, or for two stations with \
         one address";
    NoTagRoom = "no_tag_room", Resource,
        "its chunk has no room for the VLAN tag that it was to leave with",
        "give the port a smaller MTU or the pools longer chunks, so that 4 bytes are free";
    OtherStation = "other_station", Policy,
        "it is addressed to another station than the router or host, or to a group of them",
        "nothing, where a switch floods; where it should be routed, the sender has a wrong \
         Ethernet address for its gateway (`mac=` of the interface)";
    NoInterface = "no_interface", Policy,
        "the router or host has no interface for its port and VLAN",
        "add one with `--interface NAME=PORT.VLAN,ADDRESS/LENGTH`, or take the VLAN off the far \
         side";
    MartianSource = "martian_source", Frame,
        "its source is an address that no packet on a link may come from (RFC 1812 section 5.3.7), \
         or the router's or host's own",
        "look at some with `linerate capture --drops`: the sender has no address yet, or poses as \
         another";
    MartianDestination = "martian_destination", Frame,
        "its destination is an address that no packet on a link may go to",
        "look at some with `linerate capture --drops`: the sender is misconfigured";
    ReversePath = "reverse_path", Policy,
        "there is no route to its source, or the route leads by another interface",
        "this is what `--reverse-path` is for; where paths differ by direction, use loose or off";
    LinkScope = "link_scope", Policy,
        "its source or destination is of one link alone: multicast, broadcast or link-local",
        "nothing: a router does not forward such packets";
    SourceRoute = "source_route", Policy,
        "it names the routers that it is to take (source route)",
        "nothing: source routes have been used for little but attacks (RFC 7126, RFC 5095)";
    HeaderChecksum = "header_checksum", Frame,
        "the checksum of its IPv4 header is wrong",
        "something on the way damages frames; look at some with `linerate capture --drops`";
    HeaderOption = "header_option", Frame,
        "an option of its IP header is malformed",
        "look at some with `linerate capture --drops`: the sender writes bad options";
    TtlExpired = "ttl_expired", Frame,
        "its TTL or hop limit ran out here",
        "few are of traceroute; many are a routing loop: look at the routes of the neighbours";
    NoRoute = "no_route", Policy,
        "no route leads to its destination",
        "add a route, or a default one, with `--route`";
    Blackhole = "blackhole", Policy,
        "its route is a blackhole",
        "this is what blackhole routes are for; a longer prefix lets a part pass";
    RouteUnreachable = "route_unreachable", Policy,
        "its route says that it cannot be reached",
        "this is what unreachable routes are for; a longer prefix lets a part pass";
    RouteProhibited = "route_prohibited", Policy,
        "its route says that it is prohibited",
        "this is what prohibit routes are for; a longer prefix lets a part pass";
    TooBig = "too_big", Frame,
        "it is longer than the MTU of the interface that it was to leave by, and may not be cut",
        "its sender was told by ICMP; where connections hang, something on the way drops ICMP: \
         give all links of the path the same MTU";
    Unresolved = "unresolved", Frame,
        "its next hop does not answer ARP or neighbour discovery, or too many packets wait for one \
         that may",
        "see if the next hop is up and on this link; a scan of addresses that nobody has looks \
         the same";
    Local = "local", Policy,
        "it is for the router or host itself, and nobody here takes it",
        "nothing: a router answers ARP, neighbour discovery and pings alone, and a host TCP and \
         UDP too";
    NatUnknown = "nat_unknown", Policy,
        "it is of no flow that NAT knows, and its destination, or the source of an answer, is \
         hidden behind NAT",
        "nothing, where nobody is to be reached from there; a server inside needs a `dnat` rule, \
         and addresses that are not hidden an `accept` rule";
    NatUnrelated = "nat_unrelated", Policy,
        "it is an ICMP error about no packet of a flow that NAT knows, or a damaged one",
        "nothing, where nobody misses it: errors about flows that are over come late";
    NatProtocol = "nat_protocol", Policy,
        "NAT translates TCP, UDP and ICMP echo alone, and without translation it must not leave",
        "an `accept` rule for its addresses lets it leave with its own source";
    NatFragment = "nat_fragment", Frame,
        "it is a fragment that came before the first one of its packet, whose ports NAT needs",
        "fragments were lost or came in another order; give all links of the path the same MTU";
    NatPorts = "nat_ports", Resource,
        "NAT has no outside port left for a flow to this destination",
        "more addresses in the `snat` rule, or shorter timeouts; one host that begins very many \
         flows is held by `flows-per-address`";
    NatAddress = "nat_address", Policy,
        "the interface that it leaves by has no IPv4 address to masquerade with",
        "give it one: where a DHCP client does, see whether it has a lease";
    NatFull = "nat_full", Resource,
        "NAT has as many flows as it may",
        "raise `flows` of the NAT file, or hold single hosts by `flows-per-address`";
    NatLimit = "nat_limit", Policy,
        "the inside address it comes from has as many flows as one may",
        "this is what `flows-per-address` of the NAT file is for; raise it, if the host needs more";
    NoFrameRoom = "no_frame_room", Resource,
        "its chunk, or the pool, has no room for what it was to become",
        "give the pools longer chunks or more frames; a capture that cut the packet cannot be \
         fragmented";
    NoTransmit = "no_transmit", Resource,
        "the port it was to leave by does not transmit",
        "choose another port for that side: this one only brings frames in";
    PortFailed = "port_failed", Resource,
        "the port it was to leave by has failed; the report names the error",
        "`linerate show ports` and the log say what failed; a kernel interface is opened again \
         when it returns";
    TxRingFull = "tx_ring_full", Resource,
        "the port took no more, its queue being full or its link down, and the source cannot wait",
        "`linerate show ports` says whether the link is down; if it is up, the far side is \
         slower than this one: more workers and queues, or less traffic";
    TxRefused = "tx_refused", Resource,
        "the port can never send it: longer than the interface allows, for instance",
        "give both interfaces the same MTU, and switch off merging on receive (`linerate \
         doctor` tells)";
    HandoffRingFull = "handoff_ring_full", Resource,
        "the ring to the worker that owns its flow had no room, and the source cannot wait",
        "one worker has more than it can do: `linerate top` shows which; more workers, or \
         receive queues that spread flows (RSS)";
    FlowsFull = "flows_full", Resource,
        "the table of flows had no room for the one that the packet would begin",
        "more `--flows`, or `--flows-full evict`; one side that begins very many is a flood";
    Shutdown = "shutdown", Resource,
        "it was still under way when the run was ended",
        "nothing: it happens once, at the end";
}

/// What to do about malformed frames: by the layer that is at fault.
fn malformed_remedy(fault: Malformed) -> &'static str {
    use Malformed as M;
    match fault {
        M::EthernetTruncated
        | M::VlanTagTruncated
        | M::TooManyVlanTags
        | M::LlcTruncated
        | M::SnapTruncated
        | M::LlcLengthBeyondFrame
        | M::ArpTruncated => {
            "look at some with `linerate capture --drops`: the sender, or a device that tags \
             frames on the way, writes bad link headers"
        }
        M::FragmentBeyondPacket | M::FragmentUnaligned | M::TinyFragment => {
            "nobody sends such fragments by mistake: find out who does with `linerate capture \
             --drops`; `malformed = \"forward\"` lets them pass"
        }
        M::Ipv4LengthBeyondFrame | M::Ipv6LengthBeyondFrame | M::UdpLengthBeyondPacket => {
            "something cuts frames on their way: unequal MTUs, or a mirror port that snaps them; \
             `linerate doctor` looks at this machine's interfaces"
        }
        _ => {
            "look at some with `linerate capture --drops`; hosts drop such packets themselves, \
             and `malformed = \"forward\"` leaves that to them"
        }
    }
}

impl DropReason {
    /// How many reasons there are: the length of a column of counters.
    pub const COUNT: usize = Self::OWN.len() + Malformed::ALL.len();

    /// Every reason, in the order of [`DropReason::index`].
    pub fn all() -> impl Iterator<Item = Self> {
        let faults = Malformed::ALL.iter().copied().map(Self::Malformed);
        Self::OWN.iter().copied().chain(faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_reason_has_its_own_place_name_and_sentence() {
        let mut names = HashSet::new();
        for (place, reason) in DropReason::all().enumerate() {
            assert_eq!(reason.index(), place);
            assert!(names.insert(reason.name()), "{} twice", reason.name());
            let sentence = reason.sentence();
            assert!(
                sentence.len() > 10 && !sentence.ends_with('.'),
                "{sentence}"
            );
            let remedy = reason.remedy();
            assert!(remedy.len() > 20 && !remedy.ends_with('.'), "{remedy}");
        }
        assert_eq!(names.len(), DropReason::COUNT);
    }
}

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What of the packets to addresses of the host is not the host's: NAT has translated what they
 * answer, or forwards them. The rest stays with the host.
 */

/* Must be DIVERSIONS_MAX of crates/port/src/xdp/diversions.rs. */
enum { DIVERSIONS_MAX = 64 };

/* Packets to one address of the host. */
struct diversion {
	/* In network order. */
	u32 address;
	/* Destination ports, or identifiers of echo replies. */
	u16 first;
	u16 last;
	/* Which: bits of enum kind. */
	u32 kinds;
	u32 spare;
};

enum kind { OF_TCP = 1, OF_UDP = 2, OF_ECHO_REPLY = 4, OF_ECHO_REQUEST = 8 };

/* The value of a map. Entries from `count` on are zero. */
struct diversions {
	u32 count;
	u32 spare[3];
	/* One more than there can be: the verifier takes no pointer behind the value. */
	struct diversion all[DIVERSIONS_MAX + 1];
};
extern const volatile struct diversions diversions;

/* ICMP messages. */
enum { ICMP = 1, ECHO_REPLY = 0, ECHO_REQUEST = 8, ICMP_BYTES = 8 };

INLINE int is_icmp_error(u8 kind)
{
	return kind == 3 || kind == 4 || kind == 11 || kind == 12;
}

/* What a packet to an address of the host is. */
struct question {
	u32 address;
	/* Bits of enum kind; 0 where the packet is the host's. */
	u32 kinds;
	/* Ports that it may be for. */
	u32 first;
	u32 last;
};

INLINE int is_in_diversions(const struct question *asked)
{
#pragma nounroll
	for (u32 at = 0; at < DIVERSIONS_MAX && at < diversions.count; at++) {
		const volatile struct diversion *one = &diversions.all[at];

		if (one->kinds & asked->kinds && one->address == asked->address &&
		    one->first <= asked->last && asked->first <= one->last)
			return 1;
	}
	return 0;
}

INLINE void ask(struct question *asked, u32 kinds, u32 first, u32 last)
{
	asked->kinds = kinds;
	asked->first = first;
	asked->last = last;
}

/* By the header behind that of IPv4, whose source port counts, or its destination port. */
INLINE void ask_of_port(struct question *asked, u32 protocol, u32 port)
{
	if (protocol == TCP)
		ask(asked, OF_TCP, port, port);
	if (protocol == UDP)
		ask(asked, OF_UDP, port, port);
}

/* The verifier takes no offset that it does not know: each word of options is a step of its own. */
#define SKIP_IPV4_HEADER(at, words)                                                                \
	do {                                                                                       \
		SKIP(at, IPV4_BYTES);                                                              \
		_Pragma("unroll") for (u32 word = 5; word < 15; word++) if (words > word)          \
			SKIP(at, 4);                                                               \
	} while (0)

/* By the packet that an ICMP error to this address quotes: the host, or NAT, sent it. */
INLINE void ask_of_quote(struct question *asked, const u8 *quote, const u8 *end)
{
	if (quote + IPV4_BYTES > end || *(const u32 *)(quote + 12) != asked->address)
		return;
	if (*(const u16 *)(quote + 6) & NETWORK_ORDER(0x1fff))
		return;

	u32 protocol = quote[9], words = quote[0] & 15;

	SKIP_IPV4_HEADER(quote, words);
	if (quote + ICMP_BYTES > end)
		return;
	if (protocol != ICMP)
		return ask_of_port(asked, protocol, NETWORK_ORDER(*(const u16 *)quote));

	u32 identifier = NETWORK_ORDER(*(const u16 *)(quote + 4));

	if (quote[0] == ECHO_REPLY)
		ask(asked, OF_ECHO_REQUEST, 0, 65535);
	if (quote[0] == ECHO_REQUEST)
		ask(asked, OF_ECHO_REPLY, identifier, identifier);
}

INLINE void ask_of_packet(struct question *asked, const u8 *ip, const u8 *end)
{
	/* Later fragments have no ports. */
	if (*(const u16 *)(ip + 6) & NETWORK_ORDER(0x1fff))
		return ask(asked, ~0U, 0, 65535);

	u32 protocol = ip[9], words = ip[0] & 15;

	SKIP_IPV4_HEADER(ip, words);
	if (ip + ICMP_BYTES > end)
		return;
	if (protocol != ICMP)
		return ask_of_port(asked, protocol, NETWORK_ORDER(*(const u16 *)(ip + 2)));
	if (is_icmp_error(ip[0])) {
		SKIP(ip, ICMP_BYTES);
		return ask_of_quote(asked, ip, end);
	}

	u32 identifier = NETWORK_ORDER(*(const u16 *)(ip + 4));

	if (ip[0] == ECHO_REQUEST)
		ask(asked, OF_ECHO_REQUEST, 0, 65535);
	if (ip[0] == ECHO_REPLY)
		ask(asked, OF_ECHO_REPLY, identifier, identifier);
}

/* Whether an IPv4 packet to an address of the host is for a worker nevertheless. */
INLINE int is_diverted(const u8 *ip, const u8 *end)
{
	struct question asked = {};

	if (!diversions.count || ip + IPV4_BYTES > end)
		return 0;
	asked.address = *(const u32 *)(ip + 16);
	ask_of_packet(&asked, ip, end);
	return asked.kinds && is_in_diversions(&asked);
}

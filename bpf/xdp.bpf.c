// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The XDP program of `xdp:` ports: gives each frame to the AF_XDP socket of its receive queue, and
 * what no socket is there for to whom the settings say.
 *
 * Maps are undefined symbols; the loader (crates/port/src/xdp/program.rs) makes them and writes
 * them into the instructions by name.
 * So are the kernel functions that read what the driver keeps beside a frame: where one cannot be
 * called, the loader puts the answer "not supported" in place of the call.
 */

#include "kernel.h"

typedef long long s64;

/* The program is compiled for little-endian machines, as the loader checks. */
#define NETWORK_ORDER(half) ((u16)__builtin_bswap16(half))

static long (*const bpf_xdp_adjust_head)(struct frame *frame, int delta) = (void *)44;
static long (*const bpf_xdp_adjust_meta)(struct frame *frame, int delta) = (void *)54;
static u64 (*const bpf_jiffies64)(void) = (void *)118;
static u64 (*const bpf_ktime_get_coarse_ns)(void) = (void *)160;

/* The tag that lies beside the frame: its type in network byte order, its value in the host's.
 * Negative where the frame has none there. A function of kernels from 6.8 on. */
extern int bpf_xdp_metadata_rx_vlan_tag(const struct frame *frame, u16 *type, u16 *value);

/* When the interface's own clock says that the frame came, nanoseconds. Kernels from 6.3 on. */
extern int bpf_xdp_metadata_rx_timestamp(const struct frame *frame, u64 *stamp);

/* What the interface hashed the frame to, and of which of its fields. Kernels from 6.3 on. */
extern int bpf_xdp_metadata_rx_hash(const struct frame *frame, u32 *hash, u32 *fields);

/* XSKMAP: the socket of each receive queue. */
extern struct map sockets;

/*
 * What the user chose. The value of a frozen map: the kernel's verifier reads it as constants and
 * takes out the branches that no frame can take, so that what is not asked for costs nothing.
 */
struct settings {
	/* The verdict on frames of a queue without a socket: XDP_PASS or XDP_DROP. */
	u32 unclaimed;
	/* Which frames are left to the host: enum keep_local. */
	u32 keep_local;
	/* Whether frames that no worker takes go straight to the other interface. */
	u32 bypass;
	/* Not for this program: what was changed on the interface and outlives the process. */
	u32 changed;
	/* Whether frames that are surely in no list go straight to the other interface. */
	u32 shortcut;
	/* What the interface is asked about frames for sockets: enum asked. */
	u32 asked;
};

/* None; those for the host itself; those and all that no router forwards. */
enum keep_local { KEEP_NONE, KEEP_OWN, KEEP_CONTROL };

enum asked { ASKED_STAMP = 1, ASKED_HASH = 2 };
extern const volatile struct settings settings;

/* The value of a map: the host's address on this Ethernet. */
struct identity {
	u32 mac_first;
	u16 mac_last;
	u16 spare;
};
extern const volatile struct identity identity;

/* Hash of struct place: addresses of the host; the value is not zero where they are this
 * interface's. */
extern struct map local;

struct place {
	/* IPv6, or IPv4 as ::ffff:a.b.c.d. */
	cell address[2];
	/* The VLAN it is in; 0 for frames without a tag. */
	cell vlan;
};

/* Array of struct beat, by queue. */
extern struct map beats;

struct beat {
	/* When its worker was last at work, as CLOCK_MONOTONIC has it, nanoseconds; 0 for never. */
	u64 nanos;
	/* The tick of the kernel in which that was found recent; the worker writes 0. */
	u64 recent;
};

/* DEVMAP of one: the other interface. */
extern struct map peer;

/* A worker that has not beaten for so long hangs, nanoseconds. */
#define BEAT_AGE_MAX 1000000000LL

/* Per-CPU array of u64, by enum count. */
extern struct map counts;

enum count { STEERED, UNCLAIMED, TAG_LOST, KEPT, BYPASSED, STRANDED, SHORTCUT };

/* What stands right before a frame that the interface was asked about. */
struct told {
	/* When it came, by the interface's clock; 0 where that was not told. */
	u64 stamp;
	/* Its hash, where `fields` names any. */
	u32 hash;
	/* TOLD, and in the lower half which fields were hashed (enum xdp_rss_hash_type). */
	u32 fields;
};

/* "lr": not what a frame before left there. */
#define TOLD 0x6c720000

/* Half-words of both addresses, of a tag, and of the type behind it. */
enum { ADDRESSES = 6, TAG = 2, TYPE = 1 };

enum {
	ETHERNET_BYTES = 14,
	TAG_BYTES = 4,
	ARP_BYTES = 28,
	IPV4_BYTES = 20,
	IPV6_BYTES = 40,
	/* A neighbour solicitation up to the end of its target. */
	SOLICITATION_BYTES = 24,
	ICMPV6 = 58,
	SOLICITATION = 135,
};

#define ETHERTYPE_IPV4 NETWORK_ORDER(0x0800)
#define ETHERTYPE_ARP NETWORK_ORDER(0x0806)
#define ETHERTYPE_VLAN NETWORK_ORDER(0x8100)
#define ETHERTYPE_IPV6 NETWORK_ORDER(0x86dd)
#define ETHERTYPE_SERVICE NETWORK_ORDER(0x88a8)
#define ARP_REQUEST NETWORK_ORDER(1)
#define ARP_REPLY NETWORK_ORDER(2)

#include "sieve.h"
#include "diversions.h"

static inline void add_one(cell what)
{
	u64 *count = bpf_map_lookup_elem(&counts, &what);

	if (count)
		*count += 1;
}

/* Whether the address is the host's: on any interface, or on this one. */
static inline int is_address(const struct place *place, int here)
{
	u32 *found = bpf_map_lookup_elem(&local, place);

	return found && (!here || *found);
}

static inline void put_ipv4(struct place *place, const u8 *address)
{
	/* The bytes 00 00 ff ff before it. */
	place->address[1] = (u64)*(const u32 *)address << 32 | 0xffff0000;
}

static inline void put_ipv6(struct place *place, const u8 *address)
{
	place->address[0] = *(const u64 *)address;
	place->address[1] = *(const u64 *)(address + 8);
}

/* ARP, where its target is the host's. */
static inline int is_arp_for_host(const u8 *arp, const u8 *end, struct place *place)
{
	if (arp + ARP_BYTES > end)
		return 0;
	/* Ethernet and IPv4, with addresses as long as theirs. */
	if (*(const u16 *)arp != NETWORK_ORDER(1) || *(const u16 *)(arp + 2) != ETHERTYPE_IPV4)
		return 0;
	if (*(const u16 *)(arp + 4) != NETWORK_ORDER(0x0604))
		return 0;

	u16 operation = *(const u16 *)(arp + 6);

	if (operation != ARP_REQUEST && operation != ARP_REPLY)
		return 0;
	put_ipv4(place, arp + 24);
	return is_address(place, 1);
}

/* IPv6 to the host's address, or a neighbour solicitation to a group for one. */
static inline int is_ipv6_for_host(const u8 *ip, const u8 *end, int group, struct place *place)
{
	if (ip + IPV6_BYTES > end)
		return 0;
	if (!group) {
		put_ipv6(place, ip + 24);
		return is_address(place, 0);
	}
	if (ip[6] != ICMPV6 || ip + IPV6_BYTES + SOLICITATION_BYTES > end)
		return 0;
	if (ip[IPV6_BYTES] != SOLICITATION)
		return 0;
	put_ipv6(place, ip + IPV6_BYTES + 8);
	return is_address(place, 1);
}

/*
 * Whether a frame is for the host itself: to its Ethernet address and one of its IP addresses, or
 * a question who has one that it has on this interface. Frames that are only bridged have other
 * addresses, so most answers are had from the first six bytes.
 */
static inline int is_for_host(struct frame *frame, int aside, u16 type, u16 value)
{
	const u8 *at = (void *)(u64)frame->data;
	const u8 *end = (void *)(u64)frame->data_end;
	struct place place = {};

	if (at + ETHERNET_BYTES > end)
		return 0;

	int group = at[0] & 1;

	if (!group && (*(const u32 *)at != identity.mac_first ||
		       *(const u16 *)(at + 4) != identity.mac_last))
		return 0;
	if (aside) {
		if (type != ETHERTYPE_VLAN)
			return 0;
		place.vlan = value & 0xfff;
	} else if (*(const u16 *)(at + 12) == ETHERTYPE_VLAN) {
		if (at + ETHERNET_BYTES + TAG_BYTES > end)
			return 0;
		place.vlan = NETWORK_ORDER(*(const u16 *)(at + 14)) & 0xfff;
		SKIP(at, TAG_BYTES);
	}

	u16 ethertype = *(const u16 *)(at + 12);

	at += ETHERNET_BYTES;
	if (ethertype == ETHERTYPE_ARP)
		return is_arp_for_host(at, end, &place);
	if (ethertype == ETHERTYPE_IPV6)
		return is_ipv6_for_host(at, end, group, &place);
	if (ethertype != ETHERTYPE_IPV4 || group || at + IPV4_BYTES > end)
		return 0;
	put_ipv4(&place, at + 16);
	return is_address(&place, 0);
}

/*
 * Whether no router forwards a frame, so that it is the kernel's: to a group, of another protocol
 * than IP, to an IPv6 address of the link, or to an address of the host, whatever VLAN it came in;
 * but for what NAT translates.
 */
static inline int is_for_control(struct frame *frame)
{
	const u8 *at = (void *)(u64)frame->data;
	const u8 *end = (void *)(u64)frame->data_end;
	struct place place = {};

	if (at + ETHERNET_BYTES > end)
		return 0;
	if (at[0] & 1)
		return 1;

	u16 ethertype = *(const u16 *)(at + 12);

	if (ethertype == ETHERTYPE_SERVICE) {
		SKIP(at, TAG_BYTES);
		if (at + ETHERNET_BYTES > end)
			return 0;
		ethertype = *(const u16 *)(at + 12);
	}
	if (ethertype == ETHERTYPE_VLAN) {
		SKIP(at, TAG_BYTES);
		if (at + ETHERNET_BYTES > end)
			return 0;
		ethertype = *(const u16 *)(at + 12);
	}
	at += ETHERNET_BYTES;
	if (ethertype == ETHERTYPE_IPV4) {
		if (at + IPV4_BYTES > end)
			return 0;
		put_ipv4(&place, at + 16);
		return is_address(&place, 0) && !is_diverted(at, end);
	}
	if (ethertype != ETHERTYPE_IPV6)
		return 1;
	if (at + IPV6_BYTES > end)
		return 0;
	/* fe80::/10 */
	if (at[24] == 0xfe && (at[25] & 0xc0) == 0x80)
		return 1;
	put_ipv6(&place, at + 24);
	return is_address(&place, 0);
}

/* Whether a frame is left to the host. */
static inline int is_kept(struct frame *frame, int aside, u16 type, u16 value)
{
	if (settings.keep_local == KEEP_CONTROL)
		return is_for_control(frame);
	return settings.keep_local && is_for_host(frame, aside, type, value);
}

/*
 * Puts a VLAN tag into the frame that a driver, or the kernel for another driver, keeps beside it.
 * Not zero where there is no room, which no driver has shown.
 */
static inline int put_tag_back(struct frame *frame, u16 type, u16 value)
{
	if (bpf_xdp_adjust_head(frame, -2 * TAG) != 0)
		return -1;

	u16 *half = (void *)(u64)frame->data;
	u16 *end = (void *)(u64)frame->data_end;

	if (half + ADDRESSES + TAG + TYPE > end)
		return -1;
#pragma unroll
	for (int place = 0; place < ADDRESSES; place++)
		half[place] = half[place + TAG];
	half[ADDRESSES] = type;
	half[ADDRESSES + 1] = NETWORK_ORDER(value);
	return 0;
}

/*
 * Writes what the interface tells of a frame before it, whence the kernel copies it to the socket.
 * Where there is no room nothing is, and the reader finds no TOLD.
 */
static inline void ask_interface(struct frame *frame)
{
	cell stamp = 0, hash = 0, fields = 0;

	if (!(settings.asked & ASKED_STAMP) || bpf_xdp_metadata_rx_timestamp(frame, &stamp) != 0)
		stamp = 0;
	if (!(settings.asked & ASKED_HASH) ||
	    bpf_xdp_metadata_rx_hash(frame, (u32 *)&hash, (u32 *)&fields) != 0)
		fields = 0;
	if (bpf_xdp_adjust_meta(frame, -(int)sizeof(struct told)) != 0)
		return;

	struct told *told = (void *)(u64)frame->data_meta;

	if ((void *)(told + 1) > (void *)(u64)frame->data)
		return;
	told->stamp = stamp;
	told->hash = hash;
	told->fields = TOLD | (fields & 0xffff);
}

/* Whether a frame of this queue goes anywhere but to the host: the host would see its tag twice. */
static inline int is_taken(cell queue)
{
	return settings.bypass || bpf_map_lookup_elem(&sockets, &queue);
}

/*
 * Whether the worker of this queue was at work a moment ago. Asked of the clock once a tick: a call
 * each frame took 50 ns of a program of 130, and the tick's number is had without one. The coarse
 * clock may be some milliseconds behind the one that the worker reads.
 */
static inline int is_alive(cell queue)
{
	struct beat *beat = bpf_map_lookup_elem(&beats, &queue);
	u64 tick = bpf_jiffies64();

	if (!beat)
		return 0;
	if (beat->recent == tick)
		return 1;
	if ((s64)(bpf_ktime_get_coarse_ns() - beat->nanos) >= BEAT_AGE_MAX)
		return 0;
	beat->recent = tick;
	return 1;
}

/* To the other interface, past everything. */
static inline int pass_by(void)
{
	long verdict = bpf_redirect_map(&peer, 0, XDP_DROP);

	add_one(verdict == XDP_REDIRECT ? BYPASSED : STRANDED);
	return verdict;
}

SECTION("xdp.frags")
int linerate(struct frame *frame)
{
	cell type = 0, value = 0, queue = frame->rx_queue_index;
	int aside = bpf_xdp_metadata_rx_vlan_tag(frame, (u16 *)&type, (u16 *)&value) == 0;

	if (is_kept(frame, aside, type, value)) {
		add_one(KEPT);
		return XDP_PASS;
	}
	if (aside && is_taken(queue) && put_tag_back(frame, type, value) != 0) {
		/* Without its tag it would cross to another VLAN. */
		add_one(TAG_LOST);
		return XDP_DROP;
	}
	if (settings.shortcut && is_clean(frame)) {
		/* While the other interface is away a worker drops it, and counts it. */
		if (bpf_redirect_map(&peer, 0, XDP_DROP) == XDP_REDIRECT) {
			add_one(SHORTCUT);
			return XDP_REDIRECT;
		}
	}
	if (settings.bypass && !is_alive(queue))
		return pass_by();
	if (settings.asked && bpf_map_lookup_elem(&sockets, &queue))
		ask_interface(frame);

	long verdict = bpf_redirect_map(&sockets, queue, settings.unclaimed & 3);

	if (settings.bypass && verdict != XDP_REDIRECT)
		return pass_by();
	add_one(verdict == XDP_REDIRECT ? STEERED : UNCLAIMED);
	return verdict;
}

char licence[] SECTION("license") = "Dual MIT/GPL";

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What is sound and surely in no list: the same questions of the same words as in
 * crates/table/src/sieve.rs. A frame that this says nothing of is judged by a worker, so it knows
 * plain frames only: at most one VLAN tag, IPv4 without options and fragments or IPv6 without
 * extension headers, TCP or UDP with lengths that hold (crates/wire/src/parse/fast.rs).
 */

/* The value of a map, written while no frame is asked about: `open` goes first and comes last. */
struct sieve {
	u64 factor;
	u64 sum;
	/* Blocks of the filter; 0 while all frames are for workers. */
	u32 open;
	/* Whether there are IPv4 networks. */
	u32 networks;
	/* Whether IPv6 may pass. */
	u32 ipv6;
	/* The longest frame that the other interface carries. */
	u32 bytes_max;
};
extern const volatile struct sieve sieve;

struct block {
	u64 words[8];
};

/* Array of struct block: the filter. */
extern struct map sieve_words;

/* Array of struct block: a bit for each IPv4 network of 24 bits. */
extern struct map sieve_networks;

static u64 (*const bpf_xdp_get_buff_len)(struct frame *frame) = (void *)188;

#define IPV4_UNFRAGMENTED(half) (!((half) & NETWORK_ORDER(0x3fff)))

enum { TCP = 6, UDP = 17, TCP_BYTES = 20, UDP_BYTES = 8 };

INLINE u64 mixed(u64 hash, u64 factor)
{
	return (hash ^ hash >> 32) * factor;
}

/* 1 unless what has this hash is in no list. */
INLINE int may_hold(u64 hash)
{
	cell place = (hash >> 32) * sieve.open >> 32;
	struct block *block = bpf_map_lookup_elem(&sieve_words, &place);
	u64 first = 1ULL << (hash & 63) | 1ULL << (hash >> 6 & 63) | 1ULL << (hash >> 12 & 63);
	u64 second = 1ULL << (hash >> 21 & 63) | 1ULL << (hash >> 27 & 63) | 1ULL << (hash >> 33 & 63);

	if (!block)
		return 1;
	return !((~block->words[hash >> 18 & 7] & first) | (~block->words[hash >> 39 & 7] & second));
}

INLINE int network_may_hold(u32 address)
{
	cell place = address >> 17;
	struct block *block = bpf_map_lookup_elem(&sieve_networks, &place);

	return !block || block->words[address >> 14 & 7] >> (address >> 8 & 63) & 1;
}

INLINE u64 reversed(u64 word)
{
	word = (word & 0x5555555555555555ULL) << 1 | (word >> 1 & 0x5555555555555555ULL);
	word = (word & 0x3333333333333333ULL) << 2 | (word >> 2 & 0x3333333333333333ULL);
	word = (word & 0x0f0f0f0f0f0f0f0fULL) << 4 | (word >> 4 & 0x0f0f0f0f0f0f0f0fULL);
	return __builtin_bswap64(word);
}

INLINE int ipv4_may_hold(u32 address, u64 factor)
{
	return may_hold(mixed((address ^ sieve.sum) * factor, factor));
}

/* Both halves in the host's order. */
INLINE int ipv6_may_hold(u64 high, u64 low, u64 factor)
{
	u64 hash = (high ^ sieve.sum) * factor;
	u64 prefix_factor = reversed(sieve.factor) | 1;
	u64 prefix = ((high >> 32) ^ reversed(sieve.sum)) * prefix_factor;

	hash = (hash ^ hash >> 32 ^ low) * factor;
	return may_hold(mixed(hash, factor)) | may_hold(mixed(prefix, prefix_factor));
}

INLINE u64 host_order(const u8 *half)
{
	return __builtin_bswap64((u64)*(const u32 *)(half + 4) << 32 | *(const u32 *)half);
}

/* Whether datagrams to this port, in network order, may carry other packets, whose addresses are
 * the worker's to look up: VXLAN, Linux's own port of it, GENEVE, GTP-U. */
INLINE int is_tunnel(u16 port)
{
	return port == NETWORK_ORDER(4789) || port == NETWORK_ORDER(8472) ||
	       port == NETWORK_ORDER(6081) || port == NETWORK_ORDER(2152);
}

/* Whether a header of UDP or TCP says nothing that `bytes` from its beginning contradict, and
 * leads into no tunnel. */
INLINE int is_sound_transport(const u8 *at, const u8 *end, u8 protocol, u32 bytes)
{
	if (protocol == UDP && at + UDP_BYTES <= end) {
		u32 said = NETWORK_ORDER(*(const u16 *)(at + 4));

		return said >= UDP_BYTES && said <= bytes && !is_tunnel(*(const u16 *)(at + 2));
	}
	if (protocol == TCP && at + TCP_BYTES <= end) {
		u32 said = at[12] >> 4 << 2;

		return said >= TCP_BYTES && said <= bytes;
	}
	return 0;
}

INLINE int is_clean_ipv4(const u8 *ip, const u8 *end, u32 bytes)
{
	if (ip + IPV4_BYTES > end || ip[0] != 0x45 || !IPV4_UNFRAGMENTED(*(const u16 *)(ip + 6)))
		return 0;

	u32 total = NETWORK_ORDER(*(const u16 *)(ip + 2));

	if (total < IPV4_BYTES || total > bytes)
		return 0;
	if (!is_sound_transport(ip + IPV4_BYTES, end, ip[9], total - IPV4_BYTES))
		return 0;

	u32 source = __builtin_bswap32(*(const u32 *)(ip + 12));
	u32 destination = __builtin_bswap32(*(const u32 *)(ip + 16));
	u64 factor = sieve.factor | 1;

	/* Both, whatever the first says, so that their words are on the way together. */
	if (ipv4_may_hold(source, factor) | ipv4_may_hold(destination, factor))
		return 0;
	return !sieve.networks || !(network_may_hold(source) | network_may_hold(destination));
}

INLINE int is_clean_ipv6(const u8 *ip, const u8 *end, u32 bytes)
{
	if (!sieve.ipv6 || ip + IPV6_BYTES > end || ip[0] >> 4 != 6)
		return 0;

	u32 payload = NETWORK_ORDER(*(const u16 *)(ip + 4));

	if (IPV6_BYTES + payload > bytes)
		return 0;
	if (!is_sound_transport(ip + IPV6_BYTES, end, ip[6], payload))
		return 0;

	u64 factor = sieve.factor | 1;

	return !(ipv6_may_hold(host_order(ip + 8), host_order(ip + 16), factor) |
		 ipv6_may_hold(host_order(ip + 24), host_order(ip + 32), factor));
}

/* Whether the frame is sound, in no list, and one that the other interface carries. */
INLINE int is_clean(struct frame *frame)
{
	const u8 *at = (void *)(u64)frame->data;
	const u8 *end = (void *)(u64)frame->data_end;

	if (!sieve.open || at + ETHERNET_BYTES + TAG_BYTES > end)
		return 0;

	u16 ethertype = *(const u16 *)(at + 12);
	u32 link = ETHERNET_BYTES;

	if (ethertype == ETHERTYPE_VLAN) {
		ethertype = *(const u16 *)(at + 16);
		link = ETHERNET_BYTES + TAG_BYTES;
		SKIP(at, TAG_BYTES);
	}
	SKIP(at, ETHERNET_BYTES);
	if (ethertype != ETHERTYPE_IPV4 && ethertype != ETHERTYPE_IPV6)
		return 0;

	u64 bytes = bpf_xdp_get_buff_len(frame);

	if (bytes > sieve.bytes_max || bytes < link)
		return 0;
	if (ethertype == ETHERTYPE_IPV4)
		return is_clean_ipv4(at, end, bytes - link);
	return is_clean_ipv6(at, end, bytes - link);
}

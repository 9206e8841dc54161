// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What `linerate lab run veth` holds this bridge against: a set of IPv4 addresses in the kernel's
 * hash map, source and destination of each frame looked up in it, and what is in neither redirected
 * to the other interface. What is not IPv4 passes.
 *
 * As in xdp.bpf.c, maps are undefined symbols.
 */

#include "kernel.h"

/* The program is compiled for little-endian machines, as the loader checks. */
#define ETHERTYPE_IPV4 0x0008

/* Hash of u32, addresses in network byte order. */
extern struct map addresses;

/* DEVMAP of one: the other interface. */
extern struct map interfaces;

enum { TYPE_AT = 12, SOURCE_AT = 26, DESTINATION_AT = 30, HEADERS_BYTES = 34 };

SECTION("xdp.frags")
int hash_set(struct frame *frame)
{
	u8 *at = (void *)(u64)frame->data;
	u8 *end = (void *)(u64)frame->data_end;

	if (at + HEADERS_BYTES <= end && *(u16 *)(at + TYPE_AT) == ETHERTYPE_IPV4) {
		u32 source = *(u32 *)(at + SOURCE_AT);
		u32 destination = *(u32 *)(at + DESTINATION_AT);

		if (bpf_map_lookup_elem(&addresses, &source) ||
		    bpf_map_lookup_elem(&addresses, &destination))
			return XDP_DROP;
	}
	return bpf_redirect_map(&interfaces, 0, XDP_DROP);
}

char licence[] SECTION("license") = "Dual MIT/GPL";

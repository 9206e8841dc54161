// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What `linerate lab run veth` holds this bridge against: a set of IPv4 addresses in the kernel's
 * hash map, source and destination of each frame looked up in it, and what is in neither redirected
 * to the other interface. What is not IPv4 passes.
 *
 * As in xdp.bpf.c, no header is included and maps are undefined symbols.
 */

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SECTION(name) __attribute__((section(name), used))

/* The program is compiled for little-endian machines, as the loader checks. */
#define ETHERTYPE_IPV4 0x0008

enum verdict { XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT };

/* What the kernel shows of a frame: struct xdp_md. */
struct frame {
	u32 data;
	u32 data_end;
	u32 data_meta;
	u32 ingress_ifindex;
	u32 rx_queue_index;
	u32 egress_ifindex;
};

struct map;

static void *(*const bpf_map_lookup_elem)(struct map *map, const void *key) = (void *)1;
static long (*const bpf_redirect_map)(struct map *map, u64 key, u64 flags) = (void *)51;

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

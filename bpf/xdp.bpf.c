// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The XDP program of `xdp:` ports: gives each frame to the AF_XDP socket of its receive queue, and
 * what no socket is there for to whom the settings say.
 *
 * No header is included: the few types and helper numbers below are the kernel's stable interface,
 * so the object does not depend on which headers a machine has. Maps are undefined symbols; the
 * loader (crates/port/src/xdp/program.rs) makes them and writes them into the instructions by name.
 */

typedef unsigned int u32;
typedef unsigned long long u64;

#define SECTION(name) __attribute__((section(name), used))

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

/* XSKMAP: the socket of each receive queue. */
extern struct map sockets;

/* Array of one: what the user chose. */
extern struct map settings;

struct settings {
	/* The verdict on frames of a queue without a socket: XDP_PASS or XDP_DROP. */
	u32 unclaimed;
};

/* Per-CPU array of u64, by enum count. */
extern struct map counts;

enum count { STEERED, UNCLAIMED };

SECTION("xdp.frags")
int linerate(struct frame *frame)
{
	u32 first = 0;
	u64 unclaimed = XDP_PASS;
	struct settings *chosen = bpf_map_lookup_elem(&settings, &first);

	if (chosen)
		unclaimed = chosen->unclaimed & 3;

	/* A VLAN tag that the driver took off is to be read here, before the frame leaves, and put
	 * into the metadata before the frame, which copy mode carries along. */

	long verdict = bpf_redirect_map(&sockets, frame->rx_queue_index, unclaimed);
	u32 what = verdict == XDP_REDIRECT ? STEERED : UNCLAIMED;
	u64 *count = bpf_map_lookup_elem(&counts, &what);

	if (count)
		*count += 1;
	return verdict;
}

char licence[] SECTION("license") = "Dual MIT/GPL";

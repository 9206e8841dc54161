// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The XDP program of `xdp:` ports: gives each frame to the AF_XDP socket of its receive queue, and
 * what no socket is there for to whom the settings say.
 *
 * No header is included: the few types and helper numbers below are the kernel's stable interface,
 * so the object does not depend on which headers a machine has. Maps are undefined symbols; the
 * loader (crates/port/src/xdp/program.rs) makes them and writes them into the instructions by name.
 * So is the kernel function that reads VLAN tags: where it cannot be called, the loader puts the
 * answer "not supported" in place of the call.
 */

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SECTION(name) __attribute__((section(name), used))

/* The program is compiled for little-endian machines, as the loader checks. */
#define NETWORK_ORDER(half) __builtin_bswap16(half)

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
static long (*const bpf_xdp_adjust_head)(struct frame *frame, int delta) = (void *)44;
static long (*const bpf_redirect_map)(struct map *map, u64 key, u64 flags) = (void *)51;

/* The tag that lies beside the frame: its type in network byte order, its value in the host's.
 * Negative where the frame has none there. A function of kernels from 6.8 on. */
extern int bpf_xdp_metadata_rx_vlan_tag(const struct frame *frame, u16 *type, u16 *value);

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

enum count { STEERED, UNCLAIMED, TAG_LOST };

/* Half-words of both addresses, of a tag, and of the type behind it. */
enum { ADDRESSES = 6, TAG = 2, TYPE = 1 };

static inline void add_one(u32 what)
{
	u64 *count = bpf_map_lookup_elem(&counts, &what);

	if (count)
		*count += 1;
}

/*
 * Puts a VLAN tag into the frame that a driver, or the kernel for another driver, keeps beside it.
 * A frame without a socket to go to stays as it is: the host would see the tag twice. Not zero
 * where there is no room, which no driver has shown.
 */
static inline int put_tag_back(struct frame *frame)
{
	u16 type = 0, value = 0;
	u32 queue = frame->rx_queue_index;

	if (bpf_xdp_metadata_rx_vlan_tag(frame, &type, &value) != 0)
		return 0;
	if (!bpf_map_lookup_elem(&sockets, &queue))
		return 0;
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

SECTION("xdp.frags")
int linerate(struct frame *frame)
{
	u32 first = 0;
	u64 unclaimed = XDP_PASS;
	struct settings *chosen = bpf_map_lookup_elem(&settings, &first);

	if (chosen)
		unclaimed = chosen->unclaimed & 3;

	if (put_tag_back(frame) != 0) {
		/* Without its tag it would cross to another VLAN. */
		add_one(TAG_LOST);
		return XDP_DROP;
	}

	long verdict = bpf_redirect_map(&sockets, frame->rx_queue_index, unclaimed);

	add_one(verdict == XDP_REDIRECT ? STEERED : UNCLAIMED);
	return verdict;
}

char licence[] SECTION("license") = "Dual MIT/GPL";

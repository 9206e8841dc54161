// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * What all programs here say of the kernel: types, verdicts and helper numbers of its stable
 * interface, so that an object does not depend on which headers a machine has.
 */

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

/* Into its caller: the loader knows no calls within an object. */
#define INLINE static inline __attribute__((always_inline))

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

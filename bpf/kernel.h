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

/*
 * Moves a pointer into a frame by a constant, in one instruction of its own: without CAP_PERFMON the
 * verifier takes no other arithmetic with such a pointer, and the compiler would put the constant
 * of two branches into one register.
 */
#define SKIP(at, bytes) asm volatile("%0 += %1" : "+r"(at) : "i"(bytes))

/*
 * What stands on the stack and is shown to the kernel by its address, whose first bytes it takes:
 * always written whole. Without CAP_PERFMON the verifier of kernels before 6.9 takes no shorter
 * write to a place of 64 bits that was written before, whatever part of it.
 */
typedef u64 cell;

struct map;

static void *(*const bpf_map_lookup_elem)(struct map *map, const void *key) = (void *)1;
static long (*const bpf_redirect_map)(struct map *map, u64 key, u64 flags) = (void *)51;

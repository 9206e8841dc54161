// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The frames that a worker has the kernel send, and what became of them: as
 * crates/port/src/sys/xdp_batch.rs has it.
 */

#include "kernel.h"

enum {
	/* Frames begin below this. */
	AT_END = 1 << 17,
	LENGTH_MIN = 14,
	LENGTH_MAX = 3200,
	/* Pages of memory for a batch. */
	BATCH_BYTES = 33 * 4096,
	HEAD_BYTES = 160,
	/* Frames that the kernel gives to a driver together, at most (DEV_MAP_BULK_SIZE). */
	TOGETHER = 16,
	/* Those and the one that made them so many are redirected and not yet given; a power of two. */
	LENGTHS = 32,
};

struct batch {
	/* The first byte of the next frame's record, and of none. */
	u32 at;
	u32 end;
	/* Frames that there was no interface for, and their bytes. */
	u32 stranded;
	u32 stranded_bytes;
	/* Frames redirected to the interface, less those that were not taken for it; and how many of
	   them were given to its driver. */
	u32 queued;
	u32 passed;
	/* Frames not taken for it, or not by its driver, and their bytes. */
	u32 lost;
	u32 lost_bytes;
	/* Lengths of the frames redirected last, each where its number says. */
	u16 lengths[LENGTHS];
	/* Where it runs. */
	u32 cpu;
	u8 unused[HEAD_BYTES - 100];
	/* Records, each a length of 64 bits and as many bytes, rounded up to eight. */
	u8 records[BATCH_BYTES - HEAD_BYTES];
};

/* What runs on a CPU, or ran there last. */
struct running {
	u64 queue;
};

/* Array of struct batch, by the queue that the run is given: one of each worker. */
extern struct map batches;

/* Per-CPU array of one struct running. */
extern struct map running;

static u32 (*const bpf_get_smp_processor_id)(void) = (void *)8;

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Sends the frames of a worker: the kernel runs it over frames of its own (BPF_PROG_RUN with
 * BPF_F_TEST_XDP_LIVE_FRAMES) while the worker waits, and it fills each with the next of a batch and
 * redirects it to the interface. No socket buffer is made for a frame.
 *
 * As in xdp.bpf.c, maps are undefined symbols.
 */

#include "batch.h"

static long (*const bpf_xdp_adjust_tail)(struct frame *frame, int delta) = (void *)65;
static long (*const bpf_xdp_store_bytes)(struct frame *frame, u32 at, const void *from,
					 u32 bytes) = (void *)190;

enum {
	/* Frames of 64 bytes without FCS. */
	SHORTEST = 60,
};

/* DEVMAP of one: the interface. */
extern struct map interfaces;

/* Tells what sees whether they arrive (sent.bpf.c) of a frame that is redirected next. */
INLINE void note(struct batch *batch, u32 queue, u32 length)
{
	u32 queued = batch->queued;

	/* The first since the driver was given all: so it is for each that a CPU begins with. */
	if (queued == batch->passed) {
		u32 zero = 0;
		struct running *here = bpf_map_lookup_elem(&running, &zero);

		if (here)
			here->queue = queue;
		batch->cpu = bpf_get_smp_processor_id();
	}
	batch->lengths[queued % LENGTHS] = length;
	batch->queued = queued + 1;
}

/* Why it was given a frame and has none to send is not for it to say. */
SECTION("xdp.frags")
int send(struct frame *frame)
{
	u32 queue = frame->rx_queue_index;
	struct batch *batch = bpf_map_lookup_elem(&batches, &queue);

	if (!batch || batch->at >= batch->end)
		return XDP_DROP;

	u32 at = batch->at & (AT_END - 1) & ~7u;
	const u8 *record = batch->records + at;
	u32 length = *(const u32 *)record;

	if (length < LENGTH_MIN || length > LENGTH_MAX)
		return XDP_ABORTED;
	batch->at = at + 8 + ((length + 7) & ~7u);

	u8 *to = (void *)(u64)frame->data;
	u8 *end = (void *)(u64)frame->data_end;
	int more = (int)length - (int)(end - to);

	if (more == 0 && length == SHORTEST && to + SHORTEST <= end) {
#pragma unroll
		for (int word = 0; word < SHORTEST / 4; word++)
			((u32 *)to)[word] = ((const u32 *)(record + 8))[word];
	} else {
		if (more != 0 && bpf_xdp_adjust_tail(frame, more) != 0)
			goto stranded;
		if (bpf_xdp_store_bytes(frame, 0, record + 8, length) != 0)
			goto stranded;
	}
	if (bpf_redirect_map(&interfaces, 0, XDP_DROP) == XDP_REDIRECT) {
		note(batch, queue, length);
		return XDP_REDIRECT;
	}
stranded:
	batch->stranded += 1;
	batch->stranded_bytes += length;
	return XDP_DROP;
}

char licence[] SECTION("license") = "Dual MIT/GPL";

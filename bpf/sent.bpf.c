// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Sees what becomes of the frames that send.bpf.c redirects, at the two places of the kernel that
 * tell of it (tracepoints): xdp_redirect_err, where a frame is not taken for the interface, and
 * xdp_devmap_xmit, where up to 16 that were taken are given to the driver, which takes the first few
 * of them, all, or none. Both are passed before the run ends. While frames are redirected and not
 * given yet, softirqs are off and nothing else redirects on that CPU: what is told there then is
 * told of them.
 *
 * As in xdp.bpf.c, maps are undefined symbols.
 */

#include "batch.h"

/* What is shown at xdp_devmap_xmit. */
struct transmitted {
	u64 from_device;
	u64 to_device;
	u64 sent;
	u64 drops;
	u64 error;
};

/* The batch that frames of this CPU are under way of. */
INLINE struct batch *under_way(void)
{
	u32 zero = 0;
	struct running *here = bpf_map_lookup_elem(&running, &zero);

	if (!here)
		return 0;

	u32 queue = here->queue;
	struct batch *batch = bpf_map_lookup_elem(&batches, &queue);

	if (!batch || batch->queued == batch->passed || batch->cpu != bpf_get_smp_processor_id())
		return 0;
	return batch;
}

SECTION("raw_tp/xdp_redirect_err")
int not_taken(void *unused)
{
	struct batch *batch = under_way();

	(void)unused;
	if (!batch)
		return 0;
	/* The frame that was redirected last: nothing was given to the driver since. */
	batch->queued -= 1;
	batch->lost += 1;
	batch->lost_bytes += batch->lengths[batch->queued % LENGTHS];
	return 0;
}

SECTION("raw_tp/xdp_devmap_xmit")
int given(const struct transmitted *transmitted)
{
	struct batch *batch = under_way();
	u32 sent = transmitted->sent;
	u32 drops = transmitted->drops;

	if (!batch || sent + drops > batch->queued - batch->passed)
		return 0;

	u32 first = batch->passed + sent;

	batch->passed = first + drops;
	if (drops == 0)
		return 0;
	batch->lost += drops;
	for (u32 place = 0; place < TOGETHER; place++) {
		if (place < drops)
			batch->lost_bytes += batch->lengths[(first + place) % LENGTHS];
	}
	return 0;
}

char licence[] SECTION("license") = "Dual MIT/GPL";

// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The generator of `linerate lab run veth`. The kernel runs it over frames of its own
 * (BPF_PROG_RUN with BPF_F_TEST_XDP_LIVE_FRAMES), and it gives each a fresh random source and
 * destination and sends it into an interface. No buffer of a socket is made for a frame, so that
 * one CPU sends several times what any path in between can take.
 *
 * As in xdp.bpf.c, maps are undefined symbols.
 */

#include "kernel.h"

/* DEVMAP: interfaces to send into. */
extern struct map interfaces;

/* Array of u32: addresses in network byte order, in random order. */
extern struct map samples;

/* The value of a map. */
struct state {
	/* Of the random numbers; never 0. */
	u64 random;
	/* Frames sent since the state was written. */
	u64 sent;
	/* 0 ends it: what the kernel still asks for is dropped. */
	u32 running;
	/* Place of the interface. */
	u32 interface;
	/* Samples to use, one a frame, in turn; none if there are 0 of them. */
	u32 samples_first;
	u32 samples_count;
	u32 samples_next;
	/* Of the IPv4 header without addresses, as a sum of half-words. */
	u32 checksum;
};
extern volatile struct state state;

/* Of an IPv4 header behind an Ethernet header, and the bytes of a frame of 64 without FCS. */
enum { CHECKSUM_AT = 24, SOURCE_AT = 26, DESTINATION_AT = 30, FRAME_BYTES = 60 };

/* xorshift64* (Vigna 2016). */
static inline u64 next_random(void)
{
	u64 random = state.random;

	random ^= random >> 12;
	random ^= random << 25;
	random ^= random >> 27;
	state.random = random;
	return random * 0x2545f4914f6cdd1dULL;
}

static inline u32 halves(u32 word)
{
	return (word & 0xffff) + (word >> 16);
}

SECTION("xdp.frags")
int generate(struct frame *frame)
{
	u8 *at = (void *)(u64)frame->data;
	u8 *end = (void *)(u64)frame->data_end;

	if (!state.running || at + FRAME_BYTES > end)
		return XDP_DROP;

	u64 random = next_random();
	u32 source = random;
	u32 destination = random >> 32;

	if (state.samples_count) {
		u32 place = state.samples_next;
		u32 next = place + 1;

		if (next >= state.samples_count)
			next = 0;
		state.samples_next = next;
		place += state.samples_first;

		u32 *sample = bpf_map_lookup_elem(&samples, &place);

		/* Every other one as source, the rest as destination. */
		if (sample && (place & 1))
			source = *sample;
		else if (sample)
			destination = *sample;
	}

	u32 checksum = halves(halves(state.checksum + halves(source) + halves(destination)));

	*(u16 *)(at + CHECKSUM_AT) = ~checksum;
	*(u16 *)(at + SOURCE_AT) = source;
	*(u16 *)(at + SOURCE_AT + 2) = source >> 16;
	*(u16 *)(at + DESTINATION_AT) = destination;
	*(u16 *)(at + DESTINATION_AT + 2) = destination >> 16;
	state.sent += 1;
	return bpf_redirect_map(&interfaces, state.interface, XDP_DROP);
}

char licence[] SECTION("license") = "Dual MIT/GPL";

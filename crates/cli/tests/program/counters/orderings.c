/* Two functions of which one makes most of the instructions and the other takes most of the time:
 * orderings [sum|chase], or both. Of docs/profiling.md. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUMS 200000000L
#define HOPS 3000000L
#define NODES (16L << 20)

/* Five instructions a round at -O2, none of which waits for memory. */
static __attribute__((noinline)) uint64_t sum(void)
{
    uint64_t total = 1;
    for (long round = 0; round < SUMS; round++) {
        total += total >> 3;
        __asm__ volatile("" : "+r"(total));
    }
    return total;
}

/* Four instructions a round, of which one waits for a line of memory. */
static __attribute__((noinline)) uint32_t chase(const uint32_t *next)
{
    uint32_t node = 0;
    for (long round = 0; round < HOPS; round++) {
        node = next[node];
        __asm__ volatile("" : "+r"(node));
    }
    return node;
}

/* One cycle through all nodes, in an order that no prefetcher foresees. */
static uint32_t *nodes(void)
{
    uint32_t *next = malloc(NODES * sizeof *next);
    if (!next)
        exit(1);
    for (uint32_t node = 0; node < NODES; node++)
        next[node] = (node * 1664525u + 1013904223u) & (NODES - 1);
    return next;
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "both";
    uint64_t result = 0;
    if (strcmp(part, "chase"))
        result += sum();
    if (strcmp(part, "sum"))
        result += chase(nodes());
    printf("%llu\n", (unsigned long long)result);
    return 0;
}

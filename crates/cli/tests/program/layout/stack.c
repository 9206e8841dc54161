// Stores to a variable that lies on the stack and, in one of four places, crosses the end of a line of
// the cache: the size of the environment decides which place it is. An argument chooses one itself.
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct counter {
    char before[12];
    volatile uint64_t value;
} __attribute__((packed));

// The variable has no alignment beyond the usual one: it moves with the stack.
static __attribute__((noinline)) void work(void)
{
    struct counter counter __attribute__((aligned(16)));
    counter.value = 0;
    clock_t begun = clock();
    for (int step = 0; step < 6000000; step++) {
        counter.value = step;
        counter.value = step;
        counter.value = step;
        counter.value = step;
    }
    printf("microseconds: %ld\n", (long)(clock() - begun));
}

static __attribute__((noinline)) void lower(size_t bytes)
{
    volatile char *room = alloca(bytes + 16);
    room[0] = 0;
    work();
}

int main(int count, char **words)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (count > 1) lower((here - (uintptr_t)atoi(words[1])) % 64);
    else work();
    return 0;
}

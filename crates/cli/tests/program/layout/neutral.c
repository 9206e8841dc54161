// Large blocks that are only written once, and much arithmetic: layout decides nothing.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 12
#define BYTES (144 << 10)

int main(void)
{
    char *blocks[BLOCKS];
    for (int block = 0; block < BLOCKS; block++) {
        blocks[block] = malloc(BYTES);
        memset(blocks[block], block, 8192);
    }
    uint64_t random = 1;
    for (long step = 0; step < 4000000; step++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
    }
    printf("%llu\n", (unsigned long long)random + (unsigned char)blocks[random % BLOCKS][5]);
    for (int block = 0; block < BLOCKS; block++) free(blocks[block]);
    return 0;
}

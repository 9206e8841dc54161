// Forty large blocks, of which two are used: a loop stores to one and loads from the other what lies
// at the same place in a page. An argument places one of the two so many bytes further.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 40
#define BYTES (144 << 10)

static char *allocate(size_t bytes)
{
    char *block = malloc(bytes);
    for (int at = 0; at < 8192; at++) block[at] = 0;
    return block;
}

int main(int count, char **words)
{
    char *blocks[BLOCKS];
    for (int block = 0; block < BLOCKS; block++) blocks[block] = allocate(BYTES);
    size_t further = count > 1 ? (size_t)atoi(words[1]) : 0;
    // The load is of the word that was stored to one step before, in the other block: the two are
    // equal in the low twelve bits while the blocks begin a multiple of 4 KiB apart.
    volatile uint64_t *to = (volatile uint64_t *)blocks[11];
    volatile uint64_t *from = (volatile uint64_t *)(blocks[29] + further);
    uint64_t sum = 0;
    clock_t begun = clock();
    for (int round = 0; round < 5000; round++)
        for (int at = 1; at < 400; at++) {
            to[at] = sum * 3;
            sum = from[at - 1 + (sum & 1)];
        }
    printf("microseconds: %ld (%llu)\n", (long)(clock() - begun), (unsigned long long)sum);
    for (int block = 0; block < BLOCKS; block++) free(blocks[block]);
    return 0;
}

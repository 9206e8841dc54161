// Sixteen large blocks, of which the first lines are read in turn: they fall into one set of the L1
// cache while all blocks begin at the same place in a page. An argument places each so many bytes
// further than the one before.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS 16
#define BYTES (144 << 10)

int main(int count, char **words)
{
    size_t further = count > 1 ? (size_t)atoi(words[1]) : 0;
    char *blocks[BLOCKS];
    void **lines[BLOCKS];
    for (size_t block = 0; block < BLOCKS; block++) {
        blocks[block] = malloc(BYTES);
        lines[block] = (void **)(blocks[block] + block * further);
    }
    // Each line has the address of the next: a load waits for the one before.
    for (int block = 0; block < BLOCKS; block++) *lines[block] = lines[(block + 1) % BLOCKS];
    void **at = lines[0];
    clock_t begun = clock();
    for (long step = 0; step < 3000000; step++) at = *at;
    printf("microseconds: %ld (%d)\n", (long)(clock() - begun), at == NULL);
    for (int block = 0; block < BLOCKS; block++) free(blocks[block]);
    return 0;
}

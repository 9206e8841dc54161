// Allocates in every way there is and checks what it gets; run under the shim by ../tests.rs.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE 200000
#define CHECK(holds) \
    do { if (!(holds)) { printf("line %d: " #holds "\n", __LINE__); fflush(stdout); _exit(1); } } while (0)

static void filled(unsigned char *p, size_t size, unsigned char with)
{
    for (size_t i = 0; i < size; i++) CHECK(p[i] == with);
}

static void heap(void)
{
    unsigned char *p = malloc(LARGE);
    CHECK(p && (uintptr_t)p % 16 == 0 && malloc_usable_size(p) >= LARGE);
    memset(p, 7, malloc_usable_size(p));
    p = realloc(p, 2 * LARGE);
    filled(p, LARGE, 7);
    p = realloc(p, 70000);
    filled(p, 70000, 7);
    p = realloc(p, 100);
    filled(p, 100, 7);
    p = realloc(p, LARGE);
    filled(p, 100, 7);
    p = reallocarray(p, 3, LARGE);
    filled(p, 100, 7);
    memset(p, 8, malloc_usable_size(p));
    free(p);
    p = calloc(LARGE, 3);
    filled(p, 3 * LARGE, 0);
    CHECK(realloc(p, 0) == NULL);
    CHECK(calloc(SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
    CHECK(reallocarray(NULL, SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
    CHECK(malloc(SIZE_MAX - 100) == NULL && malloc(PTRDIFF_MAX) == NULL);
    free(NULL);
}

static void aligned(void)
{
    for (size_t align = 8; align <= 65536; align *= 2) {
        void *p = NULL;
        CHECK(posix_memalign(&p, align, LARGE) == 0 && (uintptr_t)p % align == 0);
        memset(p, 1, LARGE);
        p = realloc(p, 2 * LARGE);
        filled(p, LARGE, 1);
        free(p);
        p = aligned_alloc(align, 131072);
        CHECK(p && (uintptr_t)p % align == 0);
        free(p);
        p = memalign(align, LARGE);
        CHECK(p && (uintptr_t)p % align == 0 && malloc_usable_size(p) >= LARGE);
        free(p);
    }
    void *p = NULL;
    CHECK(posix_memalign(&p, 3, LARGE) == EINVAL && posix_memalign(&p, 4, LARGE) == EINVAL);
}

static void mapped(void)
{
    for (int time = 0; time < 2; time++) {
        unsigned char *p = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(p != MAP_FAILED && (uintptr_t)p % 4096 == 0);
        filled(p, LARGE, 0);
        memset(p, 1, LARGE);
        CHECK(munmap(p, LARGE) == 0);
    }
}

static void *many(void *seed)
{
    unsigned char *kept[64] = { 0 };
    unsigned random = (unsigned)(uintptr_t)seed;
    for (int step = 0; step < 3000; step++) {
        unsigned slot = rand_r(&random) % 64;
        if (kept[slot]) CHECK(kept[slot][0] == slot && kept[slot][65000] == slot);
        free(kept[slot]);
        kept[slot] = malloc(65536 + rand_r(&random) % 5000);
        kept[slot][0] = kept[slot][65000] = (unsigned char)slot;
    }
    for (int slot = 0; slot < 64; slot++) free(kept[slot]);
    return NULL;
}

int main(void)
{
    heap();
    aligned();
    mapped();
    // A moved block of the parent is freed and made longer by a child, which is not measured.
    unsigned char *p = malloc(LARGE), *q = malloc(LARGE);
    memset(q, 5, LARGE);
    pid_t child = fork();
    if (!child) {
        CHECK(getenv("LD_PRELOAD") == NULL && getenv("LINERATE_LAYOUT") == NULL);
        free(p);
        q = realloc(q, 3 * LARGE);
        filled(q, LARGE, 5);
        heap();
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    free(p);
    free(q);
    pthread_t threads[4];
    for (uintptr_t n = 0; n < 4; n++) pthread_create(&threads[n], NULL, many, (void *)(n + 1));
    for (int n = 0; n < 4; n++) pthread_join(threads[n], NULL);
    return 0;
}

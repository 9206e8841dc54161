/* One thread waits for a mutex that another holds, so often and for so long as the arguments say:
 * futex ROUNDS MILLISECONDS. It prints how long it waited by its own clock, in nanoseconds. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Not all 0: it lies in memory of the file. */
static struct {
    long mark;
    pthread_mutex_t lock;
} planted = { 1, PTHREAD_MUTEX_INITIALIZER };
static atomic_int held, done;
static long rounds, hold_ms;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pause_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, NULL);
}

static void *holder(void *unused)
{
    for (long round = 1; round <= rounds; round++) {
        pthread_mutex_lock(&planted.lock);
        atomic_store(&held, round);
        pause_ms(hold_ms);
        pthread_mutex_unlock(&planted.lock);
        while (atomic_load(&done) < round)
            pause_ms(1);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    uint64_t waited = 0;

    rounds = argc > 1 ? atol(argv[1]) : 5;
    hold_ms = argc > 2 ? atol(argv[2]) : 50;
    if (pthread_create(&thread, NULL, holder, NULL))
        return 1;
    for (long round = 1; round <= rounds; round++) {
        while (atomic_load(&held) < round)
            pause_ms(1);
        uint64_t begun = now();
        pthread_mutex_lock(&planted.lock);
        waited += now() - begun;
        pthread_mutex_unlock(&planted.lock);
        atomic_store(&done, round);
    }
    pthread_join(thread, NULL);
    printf("waited %llu ns\n", (unsigned long long)waited);
    return 0;
}

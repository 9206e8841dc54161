// Preloaded by `linerate layout` into the program that is measured. It moves large allocations by the
// offsets of a plan, a shared file that `src/layout/shim.rs` lays out alike, and writes there what it
// saw. Only the process that was started is measured: its children pass through.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x6c696e657261746aULL
#define BLOCKS 1024 // with an offset and a record of their own
#define FRAMES 12
#define OFFSET_MAX (16u << 20)
#define API __attribute__((visibility("default")))

enum kind { HEAP, ALIGNED, MAPPING };
struct block { uint64_t address, size, kind, offset, frames[FRAMES]; };
struct plan {
    uint64_t magic, from, stacks, fixed;                // what is to be done
    _Atomic uint64_t seen;                              // what was done
    uint64_t started, kept, nanoseconds, random, stack, children_nanoseconds;
    uint64_t offsets[BLOCKS];
    struct block blocks[BLOCKS];
};

static struct plan *plan;
static pid_t owner;
static int plan_file = -1;
static struct timespec begun;
// Initial-exec: the first use of any other thread-local variable may itself allocate.
static __thread bool inside __attribute__((tls_model("initial-exec")));

static void *(*real_malloc)(size_t), *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t), *(*real_memalign)(size_t, size_t);
static void (*real_free)(void *);
static size_t (*real_usable)(void *);

// dlsym may allocate before it has found malloc.
static _Alignas(16) char early[32768];
static _Atomic size_t early_used;
static bool is_early(void *p) { return (char *)p >= early && (char *)p < early + sizeof early; }
static void *early_malloc(size_t size)
{
    if (size > sizeof early) return NULL;
    size_t at = atomic_fetch_add(&early_used, (size + 31) & ~(size_t)15);
    return at + size <= sizeof early ? early + at : NULL;
}

static bool ready(void)
{
    static bool resolving;
    if (real_usable) return true;
    if (resolving) return false;
    resolving = true;
    *(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&real_memalign = dlsym(RTLD_NEXT, "memalign");
    *(void **)&real_free = dlsym(RTLD_NEXT, "free");
    *(void **)&real_usable = dlsym(RTLD_NEXT, "malloc_usable_size");
    resolving = false;
    return real_usable != NULL;
}

// Blocks that were moved, by the address that the program has. A bucket is a line of addresses, read
// without a lock; a block that finds its bucket full is not moved.
#define BUCKETS 1024
#define WAYS 8
static _Atomic uintptr_t users[BUCKETS][WAYS] __attribute__((aligned(64)));
static void *bases[BUCKETS][WAYS];
static atomic_long moved;

static _Atomic uintptr_t *find(void *user, void ***base)
{
    unsigned bucket = (uintptr_t)user * 0x9E3779B97F4A7C15ULL >> 54;
    for (int way = 0; user && atomic_load(&moved) && way < WAYS; way++)
        if (atomic_load(&users[bucket][way]) == (uintptr_t)user) {
            *base = &bases[bucket][way];
            return &users[bucket][way];
        }
    return NULL;
}

static bool remember(void *user, void *base)
{
    unsigned bucket = (uintptr_t)user * 0x9E3779B97F4A7C15ULL >> 54;
    for (int way = 0; way < WAYS; way++) {
        uintptr_t none = 0; // 1 while it is being written
        if (!atomic_compare_exchange_strong(&users[bucket][way], &none, 1)) continue;
        bases[bucket][way] = base;
        atomic_fetch_add(&moved, 1);
        atomic_store(&users[bucket][way], (uintptr_t)user);
        return true;
    }
    return false;
}

// The offset of the next large block, a multiple of its alignment; -1 in `order` for all others.
static size_t next(size_t size, size_t align, long *order)
{
    *order = -1;
    if (!plan || inside || size < plan->from || getpid() != owner) return 0;
    uint64_t seen = atomic_fetch_add(&plan->seen, 1);
    if (seen >= BLOCKS) return 0;
    *order = (long)seen;
    uint64_t offset = plan->offsets[seen];
    if (align < 16) align = 16;
    if (!offset || offset > OFFSET_MAX || align > OFFSET_MAX) return 0;
    return (offset + align - 1) / align * align;
}

static void record(long order, void *at, size_t size, enum kind kind, size_t offset)
{
    if (order < 0 || !at) return;
    struct block *block = &plan->blocks[order];
    *block = (struct block){ (uintptr_t)at, size, kind, offset, { 0 } };
    if (!plan->stacks) return;
    void *frames[FRAMES];
    inside = true;
    int depth = backtrace(frames, FRAMES);
    inside = false;
    for (int frame = 0; frame < depth; frame++) block->frames[frame] = (uintptr_t)frames[frame];
}

static void *place_by(long order, size_t offset, size_t size, size_t align, bool zeroed)
{
    size_t total;
    if (__builtin_add_overflow(size, offset, &total)) total = size, offset = 0;
    char *base = align > 16 ? real_memalign(align, total)
                 : zeroed   ? real_calloc(1, total)
                            : real_malloc(total);
    if (base && offset && !remember(base + offset, base)) {
        plan->kept++;
        offset = 0;
    }
    void *user = base ? base + offset : NULL;
    record(order, user, size, align > 16 ? ALIGNED : HEAP, offset);
    return user;
}

static void *place(size_t size, size_t align, bool zeroed)
{
    long order;
    size_t offset = next(size, align, &order);
    return place_by(order, offset, size, align, zeroed);
}

API void *malloc(size_t size) { return ready() ? place(size, 0, false) : early_malloc(size); }

API void *calloc(size_t count, size_t each)
{
    size_t size;
    if (__builtin_mul_overflow(count, each, &size)) return errno = ENOMEM, NULL;
    return ready() ? place(size, 0, true) : early_malloc(size);
}

API void free(void *p)
{
    void **base, *whole = p;
    if (is_early(p) || !ready()) return;
    _Atomic uintptr_t *user = find(p, &base);
    if (user) {
        whole = *base;
        atomic_store(user, 0);
        atomic_fetch_sub(&moved, 1);
    }
    real_free(whole);
}

API size_t malloc_usable_size(void *p)
{
    void **base;
    if (is_early(p)) return (size_t)(early + sizeof early - (char *)p);
    if (!ready()) return 0;
    return find(p, &base) ? real_usable(*base) - (size_t)((char *)p - (char *)*base) : real_usable(p);
}

API void *realloc(void *p, size_t size)
{
    void **base;
    if (!p) return malloc(size);
    if (!ready()) return NULL;
    bool ours = is_early(p) || find(p, &base);
    if (!size && ours) return free(p), NULL;
    long order;
    size_t offset = next(size, 0, &order);
    if (!ours && !offset) {
        void *grown = real_realloc(p, size);
        record(order, grown, size, HEAP, 0);
        return grown;
    }
    void *copy = place_by(order, offset, size, 0, false);
    if (!copy) return NULL;
    size_t had = malloc_usable_size(p);
    memcpy(copy, p, had < size ? had : size);
    free(p);
    return copy;
}

API void *reallocarray(void *p, size_t count, size_t each)
{
    size_t size;
    if (__builtin_mul_overflow(count, each, &size)) return errno = ENOMEM, NULL;
    return realloc(p, size);
}

static bool is_power(size_t n) { return n && !(n & (n - 1)); }

API void *memalign(size_t align, size_t size)
{
    if (!ready()) return NULL;
    return is_power(align) ? place(size, align, false) : real_memalign(align, size);
}

API void *aligned_alloc(size_t align, size_t size)
{
    return is_power(align) ? memalign(align, size) : (errno = EINVAL, NULL);
}

API int posix_memalign(void **into, size_t align, size_t size)
{
    if (!is_power(align) || align % sizeof(void *)) return EINVAL;
    int before = errno;
    void *p = memalign(align, size);
    errno = before;
    return p ? (*into = p, 0) : ENOMEM;
}

// A mapping begins at a page: it moves by whole pages, and those before it go back at once.
API void *mmap(void *at, size_t size, int prot, int flags, int file, off_t start)
{
    const int other = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_HUGETLB | MAP_GROWSDOWN;
    long order = -1;
    size_t offset = 0, total;
    if (!at && (flags & MAP_ANONYMOUS) && !(flags & other))
        offset = next(size, (size_t)sysconf(_SC_PAGESIZE), &order);
    if (__builtin_add_overflow(size, offset, &total)) total = size, offset = 0;
    char *base = (char *)syscall(SYS_mmap, at, total, prot, flags, file, start);
    if (base == MAP_FAILED) return base;
    if (offset) munmap(base, offset);
    record(order, base + offset, size, MAPPING, offset);
    return base + offset;
}

API void *mmap64(void *at, size_t size, int prot, int flags, int file, off_t start)
{
    return mmap(at, size, prot, flags, file, start);
}

// Addresses that are the same in each run: a new start of the same program, once, since the kernel
// places a program when it starts.
static void fix_addresses(char **argv, char **envp)
{
    char path[4096];
    int now = personality(0xffffffff);
    if (now == -1 || now & ADDR_NO_RANDOMIZE) return;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) == -1) return;
    path[length] = 0;
    execve(path, argv, envp);
}

// What the program starts runs without us; a LD_PRELOAD of the user's stands behind ours.
static void hide(void)
{
    char *preload = getenv("LD_PRELOAD");
    char *rest = preload ? strchr(preload, ':') : NULL;
    if (rest) memmove(preload, rest + 1, strlen(rest));
    else unsetenv("LD_PRELOAD");
    unsetenv("LINERATE_LAYOUT");
}

__attribute__((constructor)) static void begin(int argc, char **argv, char **envp)
{
    const char *word = getenv("LINERATE_LAYOUT");
    char *end = NULL;
    int file = word ? (int)strtol(word, &end, 10) : -1;
    int shim_file = end && *end == ',' ? atoi(end + 1) : -1;
    struct stat stat;
    (void)argc;
    if (file < 3 || fstat(file, &stat) || (size_t)stat.st_size < sizeof(struct plan)) return;
    struct plan *found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (found == MAP_FAILED || found->magic != MAGIC || !ready()) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (found->fixed) fix_addresses(argv, envp);
    found->random = !(personality(0xffffffff) & ADDR_NO_RANDOMIZE);
    found->stack = (uintptr_t)argv;
    hide();
    if (shim_file > 2) close(shim_file);
    if (found->stacks) {
        void *frame;
        backtrace(&frame, 1); // loads its library now and not in the first allocation
        plan_file = fcntl(file, F_DUPFD_CLOEXEC, 100);
    }
    close(file);
    owner = getpid();
    found->started = 1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    plan = found;
}

// The list of mappings, behind the plan, gives addresses of code their names.
static void write_mappings(void)
{
    char piece[4096];
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    off_t at = sizeof(struct plan);
    for (ssize_t got; maps >= 0 && (got = read(maps, piece, sizeof piece)) > 0; at += got)
        if (pwrite(plan_file, piece, (size_t)got, at) != got) break;
    if (maps >= 0) close(maps);
}

__attribute__((destructor)) static void end(void)
{
    struct timespec now;
    if (!plan || getpid() != owner) return;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    int64_t seconds = now.tv_sec - begun.tv_sec;
    plan->nanoseconds = (uint64_t)(seconds * 1000000000 + now.tv_nsec - begun.tv_nsec);
    struct rusage children;
    if (!getrusage(RUSAGE_CHILDREN, &children)) {
        uint64_t whole = (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec);
        uint64_t rest = (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
        plan->children_nanoseconds = whole * 1000000000 + rest * 1000;
    }
    if (plan_file >= 0) write_mappings();
}

// Some programs, shells among them, end without calling destructors.
API void _exit(int code)
{
    end();
    for (;;) syscall(SYS_exit_group, code);
}

API void _Exit(int code) { _exit(code); }

/* Faults of the machine, for any program that is started with this as LD_PRELOAD.
 *
 * The file that GNOMON_FAULTS names has two bytes: which fault there is now, and how many calls out
 * of a hundred it hits. 'i': files of stores cannot be written or synchronised (EIO). 's': there is
 * no room for them (ENOSPC). 'd': there are no descriptors (EMFILE). 0: all is well. Files of stores
 * are those of SQLite, and of PostgreSQL its log ('l' and 'L' for EIO and ENOSPC in it alone) and
 * its tables.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile const unsigned char *told;
static __thread unsigned int chance = 7;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("GNOMON_FAULTS");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *found = mmap(NULL, 2, PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED)
        told = found;
    close(file);
}

static int strikes(unsigned char fault) {
    return told && told[0] == fault && (unsigned)(rand_r(&chance) % 100) < told[1];
}

static int has(int file, const char *one, const char *other, const char *third) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0)
        return 0;
    path[size] = 0;
    return (strstr(path, one) || strstr(path, other) || strstr(path, third)) &&
           !strstr(path, ".lock");
}

static int is_store(int file) {
    return has(file, ".sqlite3", "/data/pg_wal/", "/data/base/");
}

static int is_log(int file) {
    return has(file, "/data/pg_wal/", "/data/pg_wal/", "/data/pg_wal/");
}

static int fails(int file, int syncs) {
    int kept = errno;
    if ((strikes('i') && is_store(file)) || (strikes('l') && is_log(file))) {
        errno = EIO;
        return 1;
    }
    if (!syncs && ((strikes('s') && is_store(file)) || (strikes('L') && is_log(file)))) {
        errno = ENOSPC;
        return 1;
    }
    errno = kept;
    return 0;
}

static int is_scarce(void) {
    if (!strikes('d'))
        return 0;
    errno = EMFILE;
    return 1;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) \
        real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t write(int file, const void *data, size_t size) {
    REAL(write);
    return fails(file, 0) ? -1 : real(file, data, size);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    REAL(pwrite);
    return fails(file, 0) ? -1 : real(file, data, size, at);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    REAL(pwrite64);
    return fails(file, 0) ? -1 : real(file, data, size, at);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
    REAL(pwritev);
    return fails(file, 0) ? -1 : real(file, parts, count, at);
}

int posix_fallocate(int file, off_t at, off_t size) {
    REAL(posix_fallocate);
    return fails(file, 0) ? errno : real(file, at, size);
}

int fsync(int file) {
    REAL(fsync);
    return fails(file, 1) ? -1 : real(file);
}

int fdatasync(int file) {
    REAL(fdatasync);
    return fails(file, 1) ? -1 : real(file);
}

int pipe2(int ends[2], int flags) {
    REAL(pipe2);
    return is_scarce() ? -1 : real(ends, flags);
}

int socket(int domain, int type, int protocol);
int socket(int domain, int type, int protocol) {
    REAL(socket);
    return is_scarce() ? -1 : real(domain, type, protocol);
}

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); \
        va_end(rest); \
        return is_scarce() ? -1 : real(path, flags, mode); \
    }

OPENS(open)
OPENS(open64)

int openat(int where, const char *path, int flags, ...) {
    REAL(openat);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return is_scarce() ? -1 : real(where, path, flags, mode);
}

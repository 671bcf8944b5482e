/*
 * For LD_PRELOAD: refuses calls that a system may refuse, and makes times as coarse as on FAT or HFS+.
 *
 * REFUSED: the calls, each with the number of its error: "chmod=1 utimes=38".
 * COARSE:  the number of seconds by which a stamp of a file may be off.
 * REFUSALS: a file to which a byte is appended for each refused call and each coarse stamp.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void count(void)
{
    const char *path = getenv("REFUSALS");
    int before = errno;
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd >= 0) {
        ssize_t written = write(fd, ".", 1);
        (void)written;
        close(fd);
    }
    errno = before;
}

/* Sets errno if the call is refused. */
static int refuse(const char *call)
{
    const char *at = getenv("REFUSED");
    size_t length = strlen(call);
    for (; at && *at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL) {
        if (strncmp(at, call, length) != 0 || at[length] != '=') continue;
        count();
        errno = atoi(at + length + 1);
        return 1;
    }
    return 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The specs call these on the main thread, lib in the pool. */
static int is_pool(void)
{
    return REAL(syscall)(SYS_gettid) != getpid();
}

int chmod(const char *path, mode_t mode)
{
    return is_pool() && refuse("chmod") ? -1 : REAL(chmod)(path, mode);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    return refuse("fchown") ? -1 : REAL(fchown)(fd, owner, group);
}

int utimensat(int fd, const char *path, const struct timespec times[2], int flags)
{
    return is_pool() && refuse("utimes") ? -1 : REAL(utimensat)(fd, path, times, flags);
}

static int is_folder(int fd)
{
    struct stat stats;
    return fstat(fd, &stats) == 0 && S_ISDIR(stats.st_mode);
}

int fsync(int fd)
{
    return (is_folder(fd) ? refuse("fsync-folder") : refuse("fsync-file")) ? -1 : REAL(fsync)(fd);
}

ssize_t readlink(const char *path, char *buffer, size_t size)
{
    int is_descriptor = strncmp(path, "/proc/self/fd/", 14) == 0;
    return is_descriptor && refuse("readlink-descriptor") ? -1 : REAL(readlink)(path, buffer, size);
}

int inotify_init1(int flags)
{
    return refuse("inotify_init") ? -1 : REAL(inotify_init1)(flags);
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    return refuse("inotify_add_watch") ? -1 : REAL(inotify_add_watch)(fd, path, mask);
}

static void coarsen(struct statx_timestamp *stamp, long seconds)
{
    stamp->tv_sec -= stamp->tv_sec % seconds;
    stamp->tv_nsec = 0;
}

/* libuv calls statx by its number. */
long syscall(long number, ...)
{
    long words[6];
    va_list list;
    va_start(list, number);
    for (int at = 0; at < 6; at++) words[at] = va_arg(list, long);
    va_end(list);
    long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long result = real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    const char *seconds = getenv("COARSE");
    if (number == SYS_statx && result == 0 && seconds) {
        struct statx *stats = (struct statx *)words[4];
        coarsen(&stats->stx_mtime, atol(seconds));
        coarsen(&stats->stx_ctime, atol(seconds));
        count();
    }
    return result;
}

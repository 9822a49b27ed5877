/* The one file: unpacks the program on its first start, and starts it.
 *
 * This file is linked statically, so that it starts on any Linux and can say what is missing. Behind it stands the
 * payload: every file of the program in one deflate stream, and a footer. PyInstaller's own one file unpacks 160 MB at
 * every start, which takes 1.6 seconds of processor time; this one does so once for each version and user.
 *
 * Root unpacks it where every user may read it: with server.user, the server goes on as another user, and starts its workers
 * from there.
 *
 * What is unpacked is only used from a folder that belongs to this user, that nobody else may write, and whose place
 * nobody else may take. It is complete when it gets its name. The list of its files is compared at each start, because
 * cleaners of temporary folders may remove some. A lock that is held until the program ends keeps other versions from
 * removing it meanwhile.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "zlib.h"

#ifndef ST_NOEXEC
#define ST_NOEXEC 8
#endif
#define LIST "files.txt"
#define PART (256 * 1024)

struct footer {
    char magic[8];
    uint64_t offset, length, unpacked;
    char id[64]; /* version and hash of the payload, ends with NUL */
};

struct source {
    int file;
    uint64_t left;
    z_stream stream;
    unsigned char raw[PART];
};

static struct footer footer;
static struct source source;
static mode_t rights; /* of what is made: 0700, and of root 0755 for all users */
static mode_t mask;   /* the umask of the program */
static char refused[4096]; /* the folders that were tried, and why not */

static int fail(const char *sentence)
{
    fprintf(stderr, "esign: %s\n", sentence);
    return 2;
}

static void refuse(const char *folder, const char *reason)
{
    size_t used = strlen(refused);
    snprintf(refused + used, sizeof refused - used, "%s%s (%s)", used ? ", " : "", folder, reason);
}

/* Fill a buffer with unpacked bytes; 0 if the payload ends early or is damaged. */
static int take(void *target, size_t size)
{
    source.stream.next_out = target;
    source.stream.avail_out = size;
    while (source.stream.avail_out) {
        if (!source.stream.avail_in && source.left) {
            ssize_t got = read(source.file, source.raw, source.left < PART ? source.left : PART);
            if (got <= 0) return 0;
            source.left -= got;
            source.stream.next_in = source.raw;
            source.stream.avail_in = got;
        }
        int told = inflate(&source.stream, Z_NO_FLUSH);
        if (told == Z_STREAM_END) return source.stream.avail_out == 0;
        if (told != Z_OK) return 0;
    }
    return 1;
}

static int write_all(int file, const char *bytes, size_t size)
{
    while (size) {
        ssize_t done = write(file, bytes, size);
        if (done < 0) return 0;
        bytes += done;
        size -= done;
    }
    return 1;
}

static void make_parents(char *path, size_t from)
{
    for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, rights);
        *slash = '/';
    }
}

/* Unpack everything into a folder that exists. Return NULL, or the reason why not. */
static const char *unpack(const char *folder)
{
    static char part[PART];
    char path[PATH_MAX], name[1024];
    snprintf(path, sizeof path, "%s/" LIST, folder);
    /* Nobody else may open the list, and so hold a lock on it. */
    int opened = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *list = opened < 0 ? NULL : fdopen(opened, "w");
    if (!list || lseek(source.file, footer.offset, SEEK_SET) < 0) return strerror(errno);
    source.left = footer.length;
    memset(&source.stream, 0, sizeof source.stream); /* an earlier folder may have been too small for all of it */
    if (inflateInit(&source.stream) != Z_OK) return "no memory";
    for (;;) {
        struct { uint32_t name, mode; uint64_t size; } head;
        if (!take(&head, sizeof head)) return "this file is damaged; download it again";
        if (!head.name) break;
        if (head.name >= sizeof name || !take(name, head.name)) return "this file is damaged; download it again";
        name[head.name] = 0;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        make_parents(path, strlen(folder) + 1);
        if (S_ISLNK(head.mode)) {
            if (head.size >= sizeof part || !take(part, head.size)) return "this file is damaged; download it again";
            part[head.size] = 0;
            if (symlink(part, path)) return strerror(errno);
        } else {
            int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, head.mode & rights);
            if (file < 0) return strerror(errno);
            for (uint64_t left = head.size; left;) {
                size_t size = left < sizeof part ? left : sizeof part;
                if (!take(part, size)) return "this file is damaged; download it again";
                if (!write_all(file, part, size)) return strerror(errno);
                left -= size;
            }
            if (close(file)) return strerror(errno);
        }
        fprintf(list, "%llu %s\n", (unsigned long long)head.size, name);
    }
    inflateEnd(&source.stream);
    return fclose(list) ? strerror(errno) : NULL;
}

static void remove_tree(const char *path)
{
    struct stat found;
    if (lstat(path, &found)) return;
    if (S_ISDIR(found.st_mode)) {
        DIR *folder = opendir(path);
        struct dirent *entry;
        while (folder && (entry = readdir(folder))) {
            char child[PATH_MAX];
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
            snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
            remove_tree(child);
        }
        if (folder) closedir(folder);
        rmdir(path);
    } else {
        unlink(path);
    }
}

/* Whether every file of the list is there in its size; then the list stays open, locked for as long as the program runs. */
static int is_complete(const char *folder)
{
    char path[PATH_MAX], line[1280];
    snprintf(path, sizeof path, "%s/" LIST, folder);
    int file = open(path, O_RDONLY);
    if (file < 0) return 0;
    if (flock(file, LOCK_SH | LOCK_NB)) { close(file); return 0; }
    FILE *list = fdopen(dup(file), "r");
    int whole = 0;
    while (list && fgets(line, sizeof line, list)) {
        char *name;
        struct stat found;
        unsigned long long size = strtoull(line, &name, 10);
        name[strcspn(name, "\n")] = 0;
        snprintf(path, sizeof path, "%s/%s", folder, name + 1);
        whole = !lstat(path, &found) && (unsigned long long)found.st_size == size;
        if (!whole) break;
    }
    if (list) fclose(list);
    if (!whole) close(file);
    return whole;
}

/* Whether a hidden entry is what a start that was killed has left: .PID.new or .PID.old, and there is no such process. */
static int is_abandoned(const char *name)
{
    int process = atoi(name + 1);
    return process > 0 && kill(process, 0) && errno == ESRCH;
}

/* Remove what other versions have unpacked, unless it is in use. */
static void remove_others(const char *home)
{
    DIR *folder = opendir(home);
    struct dirent *entry;
    unsigned number = 0;
    while (folder && (entry = readdir(folder))) {
        char path[PATH_MAX], list[PATH_MAX], old[PATH_MAX];
        if (!strcmp(entry->d_name, footer.id)) continue;
        snprintf(path, sizeof path, "%s/%s", home, entry->d_name);
        if (entry->d_name[0] == '.') {
            if (is_abandoned(entry->d_name)) remove_tree(path);
            continue;
        }
        snprintf(list, sizeof list, "%s/" LIST, path);
        int file = open(list, O_RDONLY | O_CLOEXEC);
        if (file < 0) continue;
        /* It loses its name first: a start of that version may unpack it again meanwhile. */
        snprintf(old, sizeof old, "%s/.%d.%u.old", home, (int)getpid(), number++);
        if (!flock(file, LOCK_EX | LOCK_NB) && !rename(path, old)) remove_tree(old);
        close(file);
    }
    if (folder) closedir(folder);
}

/* Whether nobody but root and this user can put another folder in the place of this one. Its path has no links. */
static int is_firm(const char *home)
{
    struct stat found;
    char path[PATH_MAX];
    strcpy(path, home);
    for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
        slash[slash == path] = 0;
        if (stat(path, &found) || (found.st_uid && found.st_uid != geteuid())) return 0;
        int others = found.st_mode & 002 || (found.st_mode & 020 && found.st_gid && found.st_gid != getegid());
        if (others && !(found.st_mode & S_ISVTX)) return 0;
        if (slash == path) return 1;
    }
    return 1;
}

/* Return whether a folder for unpacked programs can be used: ours alone, and programs may run there. `home` then is its
 * path without symbolic links. */
static int is_usable(char *home)
{
    struct stat found;
    struct statvfs system;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/", home);
    make_parents(path, 1);
    /* What is looked at is what is used: a link may lead elsewhere a moment later. */
    if (!realpath(home, path) || lstat(path, &found)) return refuse(home, strerror(errno)), 0;
    if (!S_ISDIR(found.st_mode)) return refuse(home, strerror(ENOTDIR)), 0;
    if (found.st_uid != geteuid() || found.st_mode & 022) return refuse(home, "others may write there"), 0;
    if (strlen(path) > PATH_MAX / 2) return refuse(home, "its path is too long"), 0;
    if (!is_firm(path)) return refuse(home, "others may replace a folder above it"), 0;
    if (!statvfs(path, &system) && system.f_flag & ST_NOEXEC) return refuse(home, "mounted noexec"), 0;
    if ((found.st_mode & rights) != rights && chmod(path, rights)) return refuse(home, strerror(errno)), 0;
    strcpy(home, path);
    return 1;
}

static int start_from(char *home, char **arguments)
{
    char folder[PATH_MAX], fresh[PATH_MAX], old[PATH_MAX], program[PATH_MAX];
    if (!is_usable(home)) return 0;
    snprintf(folder, sizeof folder, "%s/%s", home, footer.id);
    if (!is_complete(folder)) {
        snprintf(fresh, sizeof fresh, "%s/.%d.new", home, (int)getpid());
        snprintf(old, sizeof old, "%s/.%d.old", home, (int)getpid());
        remove_tree(fresh);
        const char *reason = mkdir(fresh, rights) ? strerror(errno) : unpack(fresh);
        if (reason) {
            remove_tree(fresh);
            refuse(home, reason);
            return 0;
        }
        /* Another start may have been quicker; what it unpacked is as good. */
        if (!is_complete(folder)) {
            rename(folder, old);
            if (rename(fresh, folder)) refuse(home, strerror(errno));
            remove_tree(old);
            if (!is_complete(folder)) return 0;
        }
        remove_tree(fresh);
        remove_others(home);
    }
    snprintf(program, sizeof program, "%s/esign", folder);
    umask(mask);
    execv(program, arguments);
    umask(022);
    if (errno == ENOENT) exit(fail("this program needs a Linux with glibc, and this one has none; use the container."));
    refuse(folder, strerror(errno));
    return 0;
}

int main(int count, char **arguments)
{
    const char *roots[][3] = {
        {geteuid() ? NULL : "/var/cache", "", "/esign"}, /* before what a user may have left in the environment of root */
        {getenv("CACHE_DIRECTORY"), "", "/unpacked"}, /* of a systemd unit */
        {getenv("XDG_CACHE_HOME"), "", "/esign"},
        {getenv("HOME"), "/.cache", "/esign"},
        {getenv("TMPDIR"), "", "/esign-"},
        {"/tmp", "", "/esign-"},
        {"/var/tmp", "", "/esign-"},
    };
    char home[PATH_MAX];
    (void)count;
    mask = umask(022);
    rights = geteuid() ? 0700 : 0755;
    source.file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (source.file < 0) return fail("/proc is not mounted, and this program needs it.");
    if (lseek(source.file, -(off_t)sizeof footer, SEEK_END) < 0 ||
        read(source.file, &footer, sizeof footer) != sizeof footer || memcmp(footer.magic, "ESIGNONE", 8))
        return fail("this file is not whole; download it again.");
    for (size_t one = 0; one < sizeof roots / sizeof *roots; one++) {
        const char *root = roots[one][0];
        if (!root || root[0] != '/' || strlen(root) > 1024) continue;
        snprintf(home, sizeof home, "%s%s%s", strcmp(root, "/") ? root : "", roots[one][1], roots[one][2]);
        if (home[strlen(home) - 1] == '-')
            snprintf(home + strlen(home), sizeof home - strlen(home), "%u", (unsigned)geteuid());
        start_from(home, arguments);
    }
    fprintf(stderr, "esign: there is no folder to unpack the program into, which takes %llu MB once: %s; set"
        " XDG_CACHE_HOME to one where programs may run, or use the folder in the .tar.zst.\n",
        (unsigned long long)footer.unpacked / 1000000 + 1, refused);
    return 2;
}

"""Many processes that want the same op at once, some of them killed: what tests/faults/ranks_test.py is made of.

What is compiled is counted by a program in front of the compilers (COUNTER), which writes a line into a file, and not by
dsbuild. LATE makes a folder behave as one of a disk of several nodes does.
"""

import collections
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

import testspace
from testspace import children, compile_shim, kill_all, send

# Stands for a compiler: "start PID NODE KEY" before it, "end PID NODE KEY" behind it, one write each; the key is the source.
# Anything else than a compile is passed on without a line. It is no script, for what a script starts is asked anew by each
# build. It and the compiler ignore SIGTERM where a file "ignore" lies beside the lines.
COUNTER = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static void note(const char* what, const char* key) {
  char line[4096];
  char node[256] = "";
  gethostname(node, sizeof node - 1);
  int length = snprintf(line, sizeof line, "%s %d %s %s\n", what, (int)getpid(), node, key);
  int file = open(LOG, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (write(file, line, length) != length) abort();
  close(file);
}
static int ends(const char* word, const char* end) {
  size_t a = strlen(word), b = strlen(end);
  return a >= b && strcmp(word + a - b, end) == 0;
}
int main(int argc, char** argv) {
  const char* key = 0;
  int compiles = 0, status = 0;
  argv[0] = NAME;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "-c")) ++compiles;
    if (!strcmp(argv[i], "--dryrun") || !strcmp(argv[i], "-dryrun") || !strcmp(argv[i], "-E")) compiles -= 9;
    if (ends(argv[i], ".cu") || ends(argv[i], ".cpp")) key = argv[i];
  }
  if (compiles < 1 || !key || strncmp(key, "pack/", 5)) return execv(REAL, argv), 127;
  if (access(IGNORE, F_OK) == 0) signal(SIGTERM, SIG_IGN);
  note("start", key);
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(REAL, argv);
    _exit(127);
  }
  waitpid(child, &status, 0);
  if (status == 0) note("end", key);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
"""

# LATE_FOLDER as a client of NFS sees it: a name that was looked for and was not there stays absent for LATE_SECONDS, though
# another node makes it meanwhile (its negative entry; nfs(5), acdirmin and lookupcache); what this node makes itself is seen
# at once. Its file system is told to be NFS. Each node's memory is a folder of its own, LATE_MEMORY; a line in LATE_LOG is a
# name that was hidden. All is compiled in and it is loaded by /etc/ld.so.preload, for tools get none of the environment.
LATE = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
static int is_shared(const char* path) {
  return path && !strncmp(path, LATE_FOLDER, sizeof LATE_FOLDER - 1);
}
static void marker(const char* path, char* to, size_t size) {
  unsigned long long hash = 1469598103934665603ULL;
  for (; *path; ++path) hash = (hash ^ (unsigned char)*path) * 1099511628211ULL;
  snprintf(to, size, "%s/%016llx", LATE_MEMORY, hash);
}
static int real_stat(const char* path, struct stat* status) {
  REAL(fstatat);
  return real(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
static int real_open(const char* path, int flags) {
  REAL(open);
  return real(path, flags, 0644);
}
static void forget(const char* path) {
  char name[4096];
  if (!is_shared(path)) return;
  int kept = errno;
  marker(path, name, sizeof name);
  unlink(name);
  errno = kept;
}
/* Whether the name is hidden; it is remembered where it is absent. */
static int is_hidden(const char* path) {
  char name[4096];
  struct stat there, remembered;
  struct timespec now;
  int kept = errno, hidden = 0;
  if (!is_shared(path)) return 0;
  marker(path, name, sizeof name);
  clock_gettime(CLOCK_REALTIME, &now);
  int is_there = real_stat(path, &there) == 0;
  if (real_stat(name, &remembered) == 0) {
    double age = now.tv_sec - remembered.st_mtim.tv_sec + (now.tv_nsec - remembered.st_mtim.tv_nsec) / 1e9;
    hidden = age < LATE_SECONDS;
    if (hidden && is_there) {
      int log = real_open(LATE_LOG, O_WRONLY | O_APPEND | O_CREAT);
      if (write(log, "hidden\n", 7) != 7) abort();
      close(log);
    }
    if (!hidden) unlink(name);
  }
  if (!hidden && !is_there) close(real_open(name, O_WRONLY | O_CREAT | O_TRUNC));
  errno = hidden ? ENOENT : kept;
  return hidden;
}
#define OPEN(name) \
  int name(const char* path, int flags, ...) { \
    REAL(name); \
    va_list more; \
    va_start(more, flags); \
    int mode = va_arg(more, int); \
    va_end(more); \
    if (!(flags & O_CREAT) && is_hidden(path)) return -1; \
    int file = real(path, flags, mode); \
    if (file >= 0 && flags & O_CREAT) forget(path); \
    return file; \
  }
OPEN(open) OPEN(open64)
#define STAT(name, type) \
  int name(const char* path, struct type* status) { REAL(name); return is_hidden(path) ? -1 : real(path, status); }
STAT(stat, stat) STAT(lstat, stat) STAT(stat64, stat64) STAT(lstat64, stat64)
int access(const char* path, int mode) { REAL(access); return is_hidden(path) ? -1 : real(path, mode); }
DIR* opendir(const char* path) { REAL(opendir); return is_hidden(path) ? 0 : real(path); }
int rename(const char* from, const char* to) {
  REAL(rename);
  int result = real(from, to);
  if (result == 0) forget(to);
  return result;
}
int mkdir(const char* path, mode_t mode) { REAL(mkdir); int result = real(path, mode); forget(path); return result; }
int symlink(const char* to, const char* path) { REAL(symlink); int result = real(to, path); forget(path); return result; }
#define STATFS(name, type) \
  int name(const char* path, struct type* status) { \
    REAL(name); \
    int result = real(path, status); \
    if (is_shared(path)) status->f_type = 0x6969; \
    return result; \
  }
STATFS(statfs, statfs) STATFS(statfs64, statfs64)
#define FSTATFS(name, type) \
  int name(int file, struct type* status) { \
    REAL(name); \
    char link[64], path[4096]; \
    int result = real(file, status); \
    snprintf(link, sizeof link, "/proc/self/fd/%d", file); \
    ssize_t length = readlink(link, path, sizeof path - 1); \
    if (length > 0 && (path[length] = 0, is_shared(path))) status->f_type = 0x6969; \
    return result; \
  }
FSTATFS(fstatfs, statfs) FSTATFS(fstatfs64, statfs64)
"""

# No lock holds: what the harness must see.
NO_LOCK = "int flock(int file, int operation) { (void)file; (void)operation; return 0; }\n"


class Counter:
    """Counts the compiles of programs that it stands in front of."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.log = self.folder / "compiles"

    def stand_before(self, program):
        """The program stays what it was, with ".real" behind its name."""
        real = program.with_name(program.name + ".real")
        program.rename(real)
        self.stand_for(real, program, program)

    def stand_for(self, real, program, name=None):
        """`name`: that the real one is told to have; its own, by which g++ finds its parts."""
        subprocess.run(["gcc", "-O1", "-w", "-xc", "-", "-o", program, f'-DREAL="{real}"', f'-DNAME="{name or real}"',
                        f'-DLOG="{self.log}"', f'-DIGNORE="{self.folder / "ignore"}"'], input=COUNTER.encode(), check=True)

    def forget(self):
        self.log.write_text("")

    def counts(self, word):
        """{(node, key): number} of compiles that were started, or that ended well."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return collections.Counter((node, key) for what, _, node, key in lines if what == word)


    def is_compiling(self):
        return any(self.counts("start")[each] > self.counts("end")[each] for each in self.counts("start"))


class Rank:
    """One process of a round."""

    def __init__(self, process, node):
        self.process, self.node, self.begun = process, node, time.monotonic()
        self.seconds = self.out = self.err = self.digest = None
        self.was_killed = False

    @property
    def pid(self):
        return self.process.pid

    def is_over(self):
        """Looks at what it made at once."""
        if self.process.poll() is None:
            return False
        self.seconds = time.monotonic() - self.begun
        self.out, self.err = self.process.communicate()
        return True


class Killer:
    """Kills who builds, so often, each time a random while after it is seen, or after it compiles, as chance has it; half of
    them with all that they have started."""

    def __init__(self, generator, holder, kills, is_compiling=lambda: True, longest=0.3):
        self.generator, self.holder, self.left, self.longest = generator, holder, kills, longest
        self.is_compiling = is_compiling
        self.kills = collections.Counter()
        self._at, self._waits_for_compile = None, generator.random() < 0.6

    def step(self, alive):
        """`alive`: ranks by process id."""
        if self.left == 0 or len(alive) < 2:
            return
        if self._at is None:
            if any(pid in alive for pid in self.holder()) and (not self._waits_for_compile or self.is_compiling()):
                self._at = time.monotonic() + self.generator.uniform(0, self.longest)
            return
        if time.monotonic() < self._at:
            return
        self._at, self._waits_for_compile = None, self.generator.random() < 0.6
        pids = [pid for pid in self.holder() if pid in alive]
        if not pids:
            return
        pid = self.generator.choice(pids)
        rank = alive[pid]
        rank.was_killed = True
        self.left -= 1
        self.kills[rank.node] += 1
        below = children(pid) if self.generator.random() < 0.5 else []
        send(pid, signal.SIGKILL)
        for each in below:
            send(each, signal.SIGKILL)


def run_round(ranks, killer, limit, on_end=lambda rank: None):
    """Takes them one by one, as each is started when it is asked for, until all have ended. All of them, and those that had not
    ended after `limit` seconds: they hang, and are ended."""
    alive, started, coming = {}, [], iter(ranks)
    deadline = time.monotonic() + limit
    rank = next(coming, None)
    while (rank or alive) and time.monotonic() < deadline:
        if rank:
            alive[rank.pid] = rank
            started.append(rank)
            rank = next(coming, None)
        else:
            time.sleep(0.002)
        killer.step(alive)
        for pid in [pid for pid, each in alive.items() if each.is_over()]:
            on_end(alive.pop(pid))
    for pid, each in alive.items():
        kill_all(pid)
        each.process.communicate()
    return started, list(alive.values())


def digest_of(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def kept_in_tmp():
    """What a run needs and a /tmp of its own would hide, in the order in which it is mounted: the checkout, the programs."""
    needed = {str(testspace.TESTS.parent)}
    for name in ("DSBUILD", "DSBUILD_FAKE_TOOLS", "DSBUILD_NINJA"):
        if os.environ.get(name):
            needed.add(os.path.dirname(os.path.realpath(os.environ[name])))
    return sorted(folder for folder in needed if folder.startswith("/tmp/"))


class Node:
    """A mount namespace with a /tmp of its own and a host name, in which names in `shared` show up late."""

    def __init__(self, folder, name, shared, log, seconds=3):
        self.name, self.folder = name, folder
        self.tmp, memory, etc = folder / "tmp", folder / "memory", folder / "etc"
        for each in (self.tmp, memory):
            each.mkdir(parents=True)
        self.tmp.chmod(0o1777)
        shim = compile_shim(f'#define LATE_FOLDER "{shared}"\n#define LATE_MEMORY "{memory}"\n#define LATE_LOG "{log}"\n'
                            f"#define LATE_SECONDS {seconds}\n" + LATE, folder / "late.so")
        shutil.copytree("/etc", etc, symlinks=True, ignore=shutil.ignore_patterns("*shadow*", "ssl"))
        (etc / "ld.so.preload").write_text(shim + "\n")
        there = [(place, f"{self.tmp}{place.removeprefix('/tmp')}") for place in kept_in_tmp()]
        kept = "".join(f"mkdir -p '{mounted}' && mount --bind '{place}' '{mounted}' && " for place, mounted in there)
        script = (f"{kept}mount --rbind '{self.tmp}' /tmp && hostname '{name}' && mount --bind '{etc}' /etc && echo ready && "
                  "exec sleep 100000")
        self._holder = subprocess.Popen(["unshare", "--mount", "--uts", "--propagation", "private", "sh", "-c", script],
                                        stdout=subprocess.PIPE, text=True)
        if self._holder.stdout.readline() != "ready\n":
            raise RuntimeError("no mount namespace for a node")
        self.prefix = ["nsenter", "-t", str(self._holder.pid), "-m", "-u"]

    def end(self):
        self._holder.kill()
        self._holder.communicate()


def holder_in(root):
    """Who holds the turns of the builds below a folder of ops, as their lock files say."""
    pids = []
    for file in [*pathlib.Path(root).glob("*/turn"), *pathlib.Path(root).glob("*/turn*/turn")]:
        try:
            word = file.read_bytes().split(b" ", 1)[0]
        except OSError:
            continue
        if word.isdigit():
            pids.append(int(word))
    return pids

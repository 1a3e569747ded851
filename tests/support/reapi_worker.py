"""Workers of a server for remote execution: one that runs an action in a plain folder, and one that only sleeps."""

import contextlib
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from exec_record import Later
from protobuf_lite import message
from reapi_types import DEADLINE_EXCEEDED, INTERNAL, Failure, Result, parse_directory, render_digest

MORTAL = ["/usr/bin/setpriv", "--pdeathsig", "KILL"]
# With mounts and processes of its own: none of both is left afterwards.
IN_ROOT = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-c",
           'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"']


class Job:
    """An action that a worker has. `done(Result or Failure)` is called once."""

    def __init__(self, digest, action, command, outputs, done):
        self.digest, self.action, self.command, self.outputs = digest, action, command, outputs
        self.done = done
        self.lock = threading.Lock()
        self.is_cancelled, self.stop = False, None

    def cancel(self):
        with self.lock:
            self.is_cancelled = True
            if self.stop:
                self.stop()

    def stops_by(self, stop):
        with self.lock:
            self.stop = stop
            if self.is_cancelled and stop:
                stop()


class FolderWorker:
    """Runs an action in a folder that has its inputs and nothing else. `root`: a clean system (mmdebstrap) to run it in, which takes
    root; without one the action sees this machine. Inputs are hard links to one copy of each blob, so that tools are written once."""

    def __init__(self, server, root=None):
        self.server, self.root = server, pathlib.Path(root) if root else None
        base = self.root / "tmp" if self.root else None
        self.base = pathlib.Path(tempfile.mkdtemp(prefix=f"worker-{os.getpid()}-", dir=base))
        (self.base / "blobs").mkdir()
        self.lock, self.jobs = threading.Lock(), 0

    def close(self):
        shutil.rmtree(self.base, ignore_errors=True)

    def start(self, job):
        threading.Thread(target=self.work, args=(job,), daemon=True).start()

    def work(self, job):
        with self.lock:
            self.jobs += 1
            folder = self.base / f"job{self.jobs}"
        try:
            job.done(self.run(job, folder))
        except Failure as failure:
            job.done(failure)
        except OSError as wrong:
            job.done(Failure(INTERNAL, f"the worker: {wrong}"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def run(self, job, folder):
        result = Result()
        tree, texts = folder / "root", folder / "texts"
        texts.mkdir(parents=True)
        self.place_tree(job.action.root, tree)
        work = tree / job.command.folder
        for path in job.outputs:
            (work / path).parent.mkdir(parents=True, exist_ok=True)
        self.call(job, work, texts, result)
        for path in job.outputs:
            self.collect(work, path, result)
        return result

    # Inputs.

    def place_tree(self, digest, folder):
        folder.mkdir()
        found = parse_directory(self.server.blob(digest[0]))
        for file in found.files:
            os.link(self.file_of(file), folder / file.name)
        for link in found.links:
            os.symlink(link.target, folder / link.name)
        for inner in found.folders:
            self.place_tree(inner.digest, folder / inner.name)

    def file_of(self, file):
        place = self.base / "blobs" / f"{file.digest[0]}{'.x' if file.is_executable else ''}"
        with self.lock:
            if not place.exists():
                data = self.server.blob(file.digest[0])
                if data is None:
                    raise Failure(INTERNAL, f"the worker: no blob {file.digest[0]}")
                place.write_bytes(data)
                place.chmod(0o555 if file.is_executable else 0o444)
        return place

    # The process.

    def words(self, command, work):
        """It dies with this process. With the folder and the environment of the new root, where there is one."""
        if not self.root:
            return [*MORTAL, *command.arguments]
        inside = "/" + str(work.relative_to(self.root))
        settings = [f"{name}={value}" for name, value in command.environment]
        return [*MORTAL, *IN_ROOT, str(self.root), "/usr/bin/env", "-i", "-C", inside, *settings, *command.arguments]

    def call(self, job, work, texts, result):
        environment = {"PATH": os.environ["PATH"]} if self.root else dict(job.command.environment)
        result.begin = time.time()
        with open(texts / "out", "wb") as out, open(texts / "err", "wb") as err:
            with self.lock:  # no fork while a program is written: starting that would be "text file busy"
                process = subprocess.Popen(self.words(job.command, work), cwd=work, env=environment, stdin=subprocess.DEVNULL,
                                           stdout=out, stderr=err, start_new_session=True)
            result.exit_code = self.wait(job, process)
        result.end = time.time()
        result.stdout, result.stderr = (texts / "out").read_bytes(), (texts / "err").read_bytes()

    @staticmethod
    def wait(job, process):
        def stop():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        job.stops_by(stop)
        try:
            code = process.wait(job.action.timeout)
        except subprocess.TimeoutExpired:
            stop()
            process.wait()
            raise Failure(DEADLINE_EXCEEDED, "the action ran past its timeout") from None
        finally:
            job.stops_by(None)
        return code if code >= 0 else 128 - code

    # Outputs. What is not there is left out.

    def collect(self, work, path, result):
        place = work / path
        if place.is_symlink():
            result.links.append((path, os.readlink(place)))
        elif place.is_dir():
            children = []
            root = self.collect_folder(place, children)
            result.folders.append((path, self.server.keep(message((1, root), *((2, child) for child in children)))))
        elif place.is_file():
            result.files.append((path, self.server.keep(place.read_bytes()), bool(place.stat().st_mode & 0o100)))

    def collect_folder(self, folder, children):
        """Its Directory; those below it go to `children`."""
        parts = []
        for place in sorted(folder.iterdir(), key=lambda place: place.name):
            if place.is_symlink():
                parts.append((3, message((1, place.name), (2, os.readlink(place)))))
            elif place.is_dir():
                inner = self.collect_folder(place, children)
                children.append(inner)
                parts.append((2, message((1, place.name), (2, render_digest(self.server.digest_of(inner))))))
            else:
                runs = [(4, 1)] if place.stat().st_mode & 0o100 else []
                digest = self.server.keep(place.read_bytes())
                parts.append((1, message((1, place.name), (2, render_digest(digest)), *runs)))
        return message(*sorted(parts, key=lambda part: part[0]))


class SleepWorker:
    """Runs nothing: takes as long as `times` says, and has the outputs of `record` (exec_record.py), else makes some up. `times`:
    {output path, its last part, or digest of the Action: seconds, or {"seconds": …, "bytes": …}}; "default" is for others that are
    not recorded. An environment variable or platform property SLEEP_SECONDS goes before all. `factor`: of all times."""

    def __init__(self, server, times=None, record=None, factor=1):
        self.server, self.times, self.record, self.factor = server, times or {}, record, factor

    def close(self):
        pass

    def facts(self, job, recorded):
        """(seconds, bytes of each output)"""
        names = [job.digest[0], *job.outputs, *(path.rsplit("/", 1)[-1] for path in job.outputs)]
        found = next((self.times[name] for name in names if name in self.times), None)
        if found is None:
            found = self.times.get("default", 0) if recorded is None else recorded
        found = found if isinstance(found, dict) else {"seconds": found}
        said = dict(job.action.platform) | dict(job.command.environment)
        return float(said.get("SLEEP_SECONDS", found.get("seconds", 0))) * self.factor, found.get("bytes", 1000)

    def start(self, job):
        result, recorded, blobs = self.record and self.record.load(job.digest[0]) or (Result(), None, {})
        seconds, size = self.facts(job, recorded)
        result.begin = time.time()

        def wake():
            if not job.is_cancelled:
                result.end = time.time()
                self.server.blobs.update(blobs)
                for path in job.outputs if recorded is None else ():
                    result.files.append((path, self.make_up(job, path, size), False))
                job.done(result)
        self.server.timers.after(seconds, wake)

    def make_up(self, job, path, size):
        """The same for the same action; made again for each who reads it."""
        seed = hashlib.sha256(f"{job.digest[0]} {path}".encode()).digest()

        def make():
            return (seed * (size // len(seed) + 1))[:size]
        digest = self.server.digest_of(make())
        self.server.blobs[digest[0]] = Later(size, make)
        return digest

"""Runs groups of tests, each with a time limit, some side by side, and tells of all of them in one table, whatever happens."""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import figures
import outcome

GROUP = "DSBUILD_GPU_GROUP"  # a variable that all processes of a group have
LOOK = 0.2  # seconds between two looks at the processes
END = 10  # seconds in which a killed process must be gone
TAIL = 25  # lines of a failed group's log
LOG_BYTES = 1_000_000  # of each group, in the part's log


@dataclasses.dataclass(frozen=True)
class Group:
    name: str
    command: list
    lane: str = "gpu"  # groups of a lane wait for each other
    limit: int = 120  # seconds
    environment: dict = dataclasses.field(default_factory=dict)
    needs: tuple = ()  # groups that must have passed
    is_sanitized: bool = False  # compute-sanitizer runs it


@dataclasses.dataclass
class Process:
    group: Group
    popen: subprocess.Popen
    begin: float
    end: float  # of its time


def processes_of(mark):
    """Ids of all processes with this environment, also of those that left their group or their session."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue  # it has ended, or is somebody else's
    return found


def end_all(mark):
    """Kills the processes with this environment. Returns those that are still there after END seconds."""
    deadline = time.monotonic() + END
    while left := processes_of(mark):
        if time.monotonic() > deadline:
            return left
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.02)
    return []


class Run:
    """`lanes`: how many groups of each lane run at once (1, where it is not named); `limit`: seconds for all of them."""

    def __init__(self, part, groups, lanes, limit, work, out, facts):
        self.part, self.lanes, self.facts = part, lanes, facts
        self.begin = time.monotonic()
        self.deadline = self.begin + limit
        self.limit = limit
        self.waiting, self.running, self.results, self.tables = list(groups), [], {}, {}
        self.order = [group.name for group in groups]
        self.stopped = None  # the signal that stopped the run
        # Chosen groups leave the file of the whole part alone.
        self.file_name = "-".join([part, *facts.get("chosen", ())]).replace(" ", "-")[:100]
        self.out = out
        self.folder = work / part
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        out.mkdir(parents=True, exist_ok=True)

    def go(self):
        """Returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup's
                signal.signal(number, self.stop)
        while self.waiting or self.running:
            self.start_what_can()
            self.look_at_running()
            time.sleep(LOOK if self.running else 0)
        self.write()
        print(self.table(), flush=True)
        if self.stopped:
            return 128 + self.stopped
        return 0 if all(row["result"] in ("passed", "skipped") for row in self.results.values()) else 1

    def stop(self, number, _):
        self.stopped = number

    # ---- starting

    def start_what_can(self):
        for group in list(self.waiting):
            why = self.why_not(group)
            if why:
                self.waiting.remove(group)
                self.note(group, {"result": "not run", "why": why, "seconds": 0})
            elif self.has_room(group):
                self.waiting.remove(group)
                self.start(group)

    def why_not(self, group):
        if self.stopped:
            return f"stopped by {signal.Signals(self.stopped).name}"
        if time.monotonic() >= self.deadline:
            return f"the {self.limit} s of this part are over"
        failed = [name for name in group.needs if self.results.get(name, {"result": "passed"})["result"] != "passed"]
        return f"{failed[0]}: {self.results[failed[0]]['result']}" if failed else ""

    def has_room(self, group):
        own = [process for process in self.running if process.group.lane == group.lane]
        return len(own) < self.lanes.get(group.lane, 1) and all(name in self.results for name in group.needs)

    def file(self, name, kind):
        """Of the group with this name."""
        return self.folder / f"{name.replace(' ', '-').replace('/', '-')}.{kind}"

    def mark(self, group):
        return f"{self.folder}/{group.name}"

    def start(self, group):
        temporary = self.file(group.name, "tmp")
        temporary.mkdir()
        environment = {**os.environ, **group.environment, GROUP: self.mark(group), figures.RECORD: str(self.file(group.name, "rows")),
                       "TMPDIR": str(temporary)}
        now = time.monotonic()
        with open(self.file(group.name, "log"), "wb") as log:
            try:
                popen = subprocess.Popen(group.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                         env=environment, start_new_session=True)
            except OSError as error:
                is_missing = group.is_sanitized and isinstance(error, FileNotFoundError)
                return self.note(group, {"result": "skipped" if is_missing else "failed", "seconds": 0,
                                         "why": f"{group.command[0]} is not installed" if is_missing else str(error)})
        self.running.append(Process(group, popen, now, min(now + group.limit, self.deadline)))

    # ---- ending

    def look_at_running(self):
        for process in list(self.running):
            code = process.popen.poll()
            if code is not None:
                self.finish(process, outcome.outcome(code, self.log(process.group), process.group.is_sanitized))
            elif self.stopped:
                self.finish(process, {"result": "stopped", "why": f"by {signal.Signals(self.stopped).name}"})
            elif time.monotonic() >= process.end:
                self.finish(process, {"result": "timed out", "why": self.which_limit(process)})

    def which_limit(self, process):
        if process.end < self.deadline:
            return f"after its {process.group.limit} s"
        return f"the {self.limit} s of this part are over"

    def finish(self, process, found):
        group, seconds = process.group, time.monotonic() - process.begin
        self.running.remove(process)
        left = end_all(f"{GROUP}={self.mark(group)}".encode())
        if process.popen.pid not in left:
            process.popen.wait()
        if left:
            found["why"] += f"; still there: {', '.join(map(str, left))}"
        found = {**outcome.of_unittest(self.log(group)), **found}
        self.note(group, {**found, "seconds": round(seconds, 1)})
        shutil.rmtree(self.file(group.name, "tmp"), ignore_errors=True)

    def log(self, group):
        return self.file(group.name, "log").read_text(encoding="utf-8", errors="replace")

    def note(self, group, found):
        """The part's file is written at once: what is known stays known, also if this process is killed."""
        self.results[group.name] = {"name": group.name, **found}
        rows = self.file(group.name, "rows")
        if rows.exists():
            for name, table in figures.tables_of(rows.read_text(encoding="utf-8").splitlines()).items():
                self.tables[name] = {"group": group.name, **table}
        self.write()
        print(f"== {group.name}: {found['result']}{', ' * bool(found['why'])}{found['why']} ({found['seconds']:.0f} s)", flush=True)
        if found["result"] in ("failed", "timed out") and self.file(group.name, "log").exists():
            print("\n".join(self.log(group).splitlines()[-TAIL:]), flush=True)

    # ---- telling

    def rows(self):
        return [self.results[name] for name in self.order if name in self.results]

    def write(self):
        found = {"schema": 1, "part": self.part, **self.facts, "seconds": round(time.monotonic() - self.begin, 1),
                 "stopped": signal.Signals(self.stopped).name if self.stopped else None, "groups": self.rows(),
                 "behind": figures.behind(self.tables), "tables": self.tables}
        new = self.out / f"{self.file_name}.json.new"
        new.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        new.replace(self.out / f"{self.file_name}.json")
        with open(self.out / f"{self.file_name}.log", "w", encoding="utf-8") as log:
            for name in self.order:
                file = self.file(name, "log")
                if name in self.results and file.exists():
                    log.write(f"== {name}\n{file.read_text(encoding='utf-8', errors='replace')[-LOG_BYTES:]}\n")

    def table(self):
        lines = ["", "| group | tests | passed | skipped | s | result |", "|---|---|---|---|---|---|"]
        for row in self.rows():
            skipped = "; ".join(f"{count}: {reason}" for reason, count in row.get("skipped", {}).items())
            result = row["result"] + (f": {row['why']}" if row["why"] else "")
            lines.append(figures.line_of([row["name"], str(row.get("tests", "–")), str(row.get("passed", "–")), skipped or "–",
                                          f"{row['seconds']:.1f}", result]))
        behind = figures.behind(self.tables)
        if behind:
            lines += ["", "Slower than what they are compared with:", "", "| call | size | ms | compared with | ms | times as fast |",
                      "|---|---|---|---|---|---|"]
            cells = [cell for _, cell in (*figures.CALL[:3], figures.PEER, figures.PEER_MS, figures.RATIO)]
            lines += [figures.line_of([cell(row) for cell in cells]) for row in behind]
        counts = {}
        for row in self.rows():
            counts[row["result"]] = counts.get(row["result"], 0) + 1
        lines += ["", f"{self.part}: {', '.join(f'{number} {result}' for result, number in counts.items())} in "
                  f"{time.monotonic() - self.begin:.0f} s; {self.out / self.file_name}.json"]
        return "\n".join(lines)

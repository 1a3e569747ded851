"""What the processes below one hold together, sampled."""

import pathlib
import threading

PAGE = 4096


def resident(pid):
    """Bytes that a process holds now; 0 when it is gone."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE
    except (OSError, IndexError, ValueError):
        return 0


def descendants(pid):
    """It and every living process below it."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [each for child in task.read_text(encoding="ascii").split() for each in descendants(int(child))]
        except OSError:
            continue
    return found


class Sampler(threading.Thread):
    """The largest sum, of samples taken every `interval` seconds until stop()."""

    def __init__(self, pid, interval=0.1):
        super().__init__(daemon=True)
        self.pid, self.interval = pid, interval
        self.samples = []
        self._ended = threading.Event()
        self.start()

    def run(self):
        while not self._ended.wait(self.interval):
            self.samples.append(sum(resident(pid) for pid in descendants(self.pid)))

    def stop(self):
        self._ended.set()
        self.join()
        return max(self.samples, default=0)

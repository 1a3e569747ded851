"""BuildGrid that executes: its scheduler keeps its queue in PostgreSQL, and workers take from it. Takes Debian's packages postgresql and
bubblewrap, Python 3.12, and what buildgrid.py and casd.py fetch."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import unittest

import bad_server
import casd
import testspace
from buildgrid import BuildGrid, buildgrid_program

PROPERTY = "OSFamily=linux"
BOT = pathlib.Path(__file__).resolve().parent / "buildgrid_bot.py"

CONNECTIONS = """
connections:
  - !sql-connection &sql
    connection-string: {database}
"""
SCHEDULERS = """
schedulers:
  - !sql-scheduler &scheduler
    sql: *sql
    storage: *cas
    action-cache: *ac
    property-set:
      !dynamic-property-set
      match-property-keys: [OSFamily]
    bot-session-keepalive-timeout: 5
    max-execution-timeout: 3600
    assigners:
      - !priority-age-assigner
        count: 2
        interval: 0.05
        priority-assignment-percentage: 100
        bot-assignment-strategy: !assign-by-capacity {}
"""
SERVICES = """
      - !execution
        scheduler: *scheduler
        operation-stream-keepalive-timeout: 20
      - !bots
        scheduler: *scheduler
"""


def postgres_program(name):
    for place in (shutil.which(name), *sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)):
        if place:
            return str(place)
    raise unittest.SkipTest("BuildGrid's scheduler needs PostgreSQL (apt-get install postgresql)")


class Postgres:
    """It does not run as root."""

    def __init__(self, test, folder):
        self.folder, self.port = folder, bad_server.free_port()
        self.as_user = []
        folder.mkdir()
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam("postgres")
            except KeyError:
                raise unittest.SkipTest("PostgreSQL does not run as root, and there is no user postgres") from None
            os.chown(folder, user.pw_uid, user.pw_gid)
            for parent in folder.parents[:3]:
                parent.chmod(parent.stat().st_mode | 0o111)
            self.as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        self.call("initdb", "-D", folder / "data", "-A", "trust", "-U", "bgd", "--no-sync")
        with open(folder / "log", "w") as said:
            self.process = subprocess.Popen([*self.as_user, postgres_program("postgres"), "-D", folder / "data", "-p", str(self.port), "-F", "-c",
                                             "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"], cwd=folder,
                                            stdout=said, stderr=subprocess.STDOUT)
        test.addCleanup(self.stop)
        self.url = f"postgresql://bgd@127.0.0.1:{self.port}/postgres"
        if not testspace.wait_until(lambda: "ready to accept" in (folder / "log").read_text(), seconds=60):
            raise AssertionError((folder / "log").read_text())

    def call(self, name, *words):
        subprocess.run([*self.as_user, postgres_program(name), *map(str, words)], cwd=self.folder, check=True, capture_output=True)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


class Workers(BuildGrid):
    """With so many workers, which share one cache."""

    def __init__(self, test, folder, number):
        postgres_program("postgres")
        casd.execution_words(1)  # whether bubblewrap may be used
        folder.mkdir()
        database = Postgres(test, folder / "postgres").url
        subprocess.run([*buildgrid_program(), "migrate", "apply", database], check=True, capture_output=True, cwd=folder)
        super().__init__(test, folder, connections=CONNECTIONS.format(database=database), schedulers=SCHEDULERS, services=SERVICES)
        self.cache_port = bad_server.free_port()
        cache = self.begin(test, "cache", casd.program("buildbox-casd"), f"--bind=127.0.0.1:{self.cache_port}",
                           f"--remote=http://127.0.0.1:{self.port}", "--proxy-instance=", "--quota-high=2G", "--reserved=1M", folder / "casd")
        if not testspace.wait_until(lambda: not bad_server.is_free(self.cache_port), seconds=30):
            raise AssertionError(cache)
        self.bots = [self.begin(test, f"bot{i}", self.program[0], "-BP", BOT, f"127.0.0.1:{self.port}", f"127.0.0.1:{self.cache_port}",
                                casd.program("buildbox-run"), f"bot{i}", PROPERTY) for i in range(number)]

    def begin(self, test, name, *words):
        with open(self.folder / f"{name}.log", "w") as said:
            process = subprocess.Popen(list(map(str, words)), stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        test.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """With what it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def logs(self):
        return "\n".join(f"{log.name}: {log.read_text()[-2000:]}" for log in sorted(self.folder.glob("*log")))

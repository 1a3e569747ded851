"""A real Slurm of one node on loopback: Debian's slurmctld and slurmd as plain processes, with a configuration of their own."""

import os
import pathlib
import shutil
import socket
import subprocess
import unittest

import bad_server
import testspace

PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "sinfo")


class Slurm:
    """Until the test ends. auth/none instead of munge: nobody else reaches its ports."""

    def __init__(self, test, folder, cpus=4):
        missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
        if missing:
            raise unittest.SkipTest(f"there is no {missing[0]} (slurm-wlm)")
        if os.getuid() != 0:
            raise unittest.SkipTest("slurmd needs root")
        self.folder = pathlib.Path(folder)
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": PATH}
        (self.folder / "slurm.conf").write_text(f"""ClusterName=test
SlurmctldHost={socket.gethostname()}(127.0.0.1)
SlurmctldPort={bad_server.free_port()}
SlurmdPort={bad_server.free_port()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=node NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
""")
        for daemon in ("slurmctld", "slurmd"):
            self.start(test, daemon)
        if not testspace.wait_until(lambda: self.ask("sinfo", "--noheader", "--format=%t") == "idle", step=0.1):
            raise unittest.SkipTest(f"Slurm does not start: {self.log('slurmctld')} {self.log('slurmd')}")

    def start(self, test, daemon):
        with open(self.folder / f"{daemon}.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen([shutil.which(daemon, path=PATH), "-D", "-f", self.folder / "slurm.conf"],
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        test.addCleanup(process.wait)
        test.addCleanup(process.terminate)

    def log(self, daemon):
        return (self.folder / f"{daemon}.log").read_text()[-500:]

    def ask(self, *words):
        """What a command says; "" where it fails."""
        run = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
        return run.stdout.strip() if run.returncode == 0 else ""

    def run_to_end(self, submit, cwd, environment, seconds=testspace.TIME_LIMIT):
        """Runs lines of sh that submit jobs, and waits until no job is left."""
        run = subprocess.run(["sh", "-e", "-c", submit], cwd=cwd, env={**environment, "SLURM_CONF": self.environment["SLURM_CONF"]},
                             capture_output=True, text=True, timeout=60, check=False)
        if run.returncode != 0:
            raise AssertionError((submit, run.stdout, run.stderr))
        if not testspace.wait_until(lambda: self.ask("squeue", "--noheader") == "" and self.ask("sinfo", "--noheader") != "", seconds, 0.2):
            raise AssertionError(f"jobs do not end: {self.ask('squeue')} {self.log('slurmctld')} {self.log('slurmd')}")

"""A server of the Remote Execution API that is a process of this machine: it is killed and started again on its port."""

import signal
import subprocess

import bad_server
import testspace


class ReapiProcess:
    """`words()`: its command line, once `port` and `folder` are known. `seconds`: until it listens."""

    seconds = 20

    def __init__(self, test, folder):
        self.folder, self.port, self.process = folder, bad_server.free_port(), None
        self.url = f"reapi://127.0.0.1:{self.port}"
        folder.mkdir(exist_ok=True)
        self.start()
        test.addCleanup(self.kill)

    def start(self):
        log = self.folder / "log"
        with open(log, "a") as said:
            self.process = subprocess.Popen(self.words(), stdout=said, stderr=subprocess.STDOUT)
        if not testspace.wait_until(self.listens, seconds=self.seconds):
            raise AssertionError(log.read_text())

    def listens(self):
        return not bad_server.is_free(self.port)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

"""Caches that machines share, whose files a test can read and damage: a folder, HTTP, nginx, buildbox-casd. Kinds of files are
"ac" and "cas", names are 64 hex digits."""

import re

from bad_server import Server
from casd import Casd
from nginx import Nginx

NAME = re.compile("[0-9a-f]{64}")


class Files:
    """A server whose files are those of a disk. Files that are being written have other names."""
    folders = {"ac": "ac", "cas": "cas"}
    has_actions = False  # whether entries have names of Actions
    is_process = True    # which can be killed
    writes_late = False  # an entry gets its name before it is written: it is empty for a moment, or for ever after a SIGKILL

    def __init__(self, files, digits):
        self.files, self.digits = files, digits  # the first digits of a name are a folder

    def place(self, kind, name):
        folder = self.files / self.folders[kind]
        return folder / name[:self.digits] / name[self.digits:]

    def names(self, kind):
        folder = self.files / self.folders[kind]
        names = (str(file.relative_to(folder)).replace("/", "") for file in folder.rglob("*") if file.is_file())
        return [name for name in names if NAME.fullmatch(name)]

    def read(self, kind, name):
        """None: there is none."""
        try:
            return self.place(kind, name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, kind, name, data):
        """Past the server. None: there is none from now on."""
        if data is None:
            self.place(kind, name).unlink()
        else:
            self.place(kind, name).write_bytes(data)


class SharedFolder(Files):
    is_process = False

    def __init__(self, _, root):
        super().__init__(root / "shared", 2)
        self.url = f"file://{self.files}"


class SharedNginx(Files, Nginx):
    def __init__(self, test, root):
        Nginx.__init__(self, test, root / "nginx", most_bytes="0")
        Files.__init__(self, self.folder / "www", 0)


class SharedCasd(Files, Casd):
    folders = {"ac": "actioncache/objects", "cas": "cas/objects"}
    has_actions = True
    writes_late = True  # strace shows it of 1.4: rename, then write

    def __init__(self, test, root):
        Casd.__init__(self, test, root / "casd")
        Files.__init__(self, self.folder / "cache", 2)


class SharedHttp(Server):
    """In memory, in this process."""
    has_actions = is_process = writes_late = False

    def __init__(self, test, _):
        super().__init__(test)

    def names(self, kind):
        with self.lock:
            return [path.removeprefix(f"/{kind}/") for path in self.files if path.startswith(f"/{kind}/")]

    def read(self, kind, name):
        with self.lock:
            return self.files.get(f"/{kind}/{name}")

    def write(self, kind, name, data):
        with self.lock:
            if data is None:
                del self.files[f"/{kind}/{name}"]
            else:
                self.files[f"/{kind}/{name}"] = data

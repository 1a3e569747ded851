"""A worker for BuildGrid: takes one lease at a time (Remote Workers API v1test2) and runs it with buildbox-run. PyPI has no worker, so this
stands for one in tests. It runs in BuildGrid's own Python.

    buildgrid_bot.py SERVER CAS BUILDBOX_RUN NAME [KEY=VALUE...]      CAS: a buildbox-casd in front of the server
"""

import os
import subprocess
import sys
import tempfile
import time

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as reapi
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as reapi_grpc
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc

PATIENCE = 20  # seconds that a poll for work lasts


class Bot:
    def __init__(self, server, cas, runner, name, properties):
        channel = grpc.insecure_channel(server)
        self.bots = bots_pb2_grpc.BotsStub(channel)
        self.blobs = reapi_grpc.ContentAddressableStorageStub(channel)
        self.cas, self.runner, self.name = cas, runner, name
        self.session = bots_pb2.BotSession(bot_id=name, status=bots_pb2.OK)
        device = self.session.worker.devices.add(handle=name)
        for word in properties:
            key, _, value = word.partition("=")
            device.properties.add(key=key, value=value)

    def action_of(self, lease):
        action = reapi.Action()
        if lease.payload.Is(reapi.Action.DESCRIPTOR):
            lease.payload.Unpack(action)
            return action
        digest = reapi.Digest()
        lease.payload.Unpack(digest)
        answer = self.blobs.BatchReadBlobs(reapi.BatchReadBlobsRequest(digests=[digest]))
        action.ParseFromString(answer.responses[0].data)
        return action

    def work_on(self, lease):
        """No heartbeat meanwhile: the server takes a lease back after its time for that."""
        with tempfile.TemporaryDirectory() as folder:
            file, result_file = os.path.join(folder, "action"), os.path.join(folder, "result")
            with open(file, "wb") as to:
                to.write(self.action_of(lease).SerializeToString())
            code = subprocess.run([self.runner, f"--action={file}", f"--action-result={result_file}", f"--remote=http://{self.cas}",
                                   "--log-level=error"], check=False).returncode
            result = reapi.ActionResult()
            if os.path.exists(result_file):
                with open(result_file, "rb") as made:
                    result.ParseFromString(made.read())
            elif code:
                lease.status.code, lease.status.message = 13, f"the runner exited with {code}"
            result.execution_metadata.worker = self.name
            lease.result.Pack(result)
        lease.state = bots_pb2.COMPLETED

    def update(self):
        self.session = self.bots.UpdateBotSession(bots_pb2.UpdateBotSessionRequest(name=self.session.name, bot_session=self.session),
                                                  timeout=PATIENCE)

    def serve(self):
        self.session = self.bots.CreateBotSession(bots_pb2.CreateBotSessionRequest(parent="", bot_session=self.session), timeout=PATIENCE)
        while True:
            for state in (bots_pb2.PENDING, bots_pb2.ACTIVE):
                leases = [lease for lease in self.session.leases if lease.state == state]
                for lease in leases:
                    if state == bots_pb2.PENDING:
                        lease.state = bots_pb2.ACTIVE
                    else:
                        self.work_on(lease)
                if leases and state == bots_pb2.PENDING:
                    self.update()
            self.session.status = bots_pb2.OK
            try:
                self.update()
            except grpc.RpcError as wrong:
                if wrong.code() not in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE):
                    raise
                time.sleep(0.2)


if __name__ == "__main__":
    Bot(*sys.argv[1:5], sys.argv[5:]).serve()

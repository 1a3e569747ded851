"""A page in a headless browser, driven through a pair of pipes: what it shows, says and asks for."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import unittest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
TIME_LIMIT = 120


def find_browser():
    for name in (os.environ.get("DSBUILD_BROWSER"), *NAMES):
        if name and shutil.which(name):
            return shutil.which(name)
    raise unittest.SkipTest("no Chromium is installed (DSBUILD_BROWSER)")


class Browser:
    """Messages are JSON with a zero byte behind each: ours on the browser's descriptor 3, its own on 4."""

    def __init__(self):
        self._profile = tempfile.TemporaryDirectory(prefix="dsbuild-browser-")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        words = [find_browser(), "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}",
                 "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                 "--force-color-profile=srgb", "--font-render-hinting=none", "about:blank"]
        # Whatever numbers the pipes have, the browser finds them under 3 and 4.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(["bash", "-c", script, "browser", *words], pass_fds=(to_browser, from_browser),
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                         env={**os.environ, "HOME": self._profile.name})
        os.close(to_browser)
        os.close(from_browser)
        self._pending, self._last, self._session = b"", 0, None
        self.events = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def close(self):
        os.close(self._write)  # it ends with its pipe
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        self._profile.cleanup()

    def _next(self):
        while b"\0" not in self._pending:
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._pending += piece
        message, _, self._pending = self._pending.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **params):
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data):]
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, width=1280, height=900, dark=False):
        """Loads a file in a window of this size."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.ask("Page.navigate", url=f"file://{path}")
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            event = self._next()
            if "method" in event:
                self.events.append(event)

    def value(self, expression):
        """Of a JavaScript expression, as Python has it."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode={"Tab": 9, "ArrowDown": 40}.get(key, 0))

    def screenshot(self, path, height=None):
        """The page from its top, all of it or so high."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(height or size["height"], size["height"]), "scale": 1}
        image = self.ask("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))

    def complaints(self):
        """Errors and warnings of the console, and exceptions that nobody caught, since the page was opened."""
        found = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(str(params["args"]))
            elif event["method"] == "Log.entryAdded":
                found.append(str(params["entry"]))
        return found

    def requests(self):
        """What it asked for since the page was opened, the page itself among it."""
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]

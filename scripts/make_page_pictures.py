#!/usr/bin/env python3
"""make_page_pictures.py [BUILD_DIR]: docs/figures/page-*.png, the page of a build as a window of 1280 and of 390 pixels shows its top,
light and dark; without BUILD_DIR, of all native ops for 7.5, 8.0, 9.0 and PTX. DSBUILD names the program; needs CUDA,
Chromium and what scripts/lib.sh sets up."""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browser import Browser  # noqa: E402

LARGEST = 300_000  # bytes of a picture
HEIGHTS = {1280: 2000, 390: 2800}


def main():
    program = os.path.abspath(os.environ["DSBUILD"])
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(sys.argv[1] if sys.argv[1:] else f"{folder}/.dsbuild").absolute()
        if not sys.argv[1:]:
            subprocess.run([program, "--ops", "all", "--arch", "7.5;8.0;9.0+PTX", "--cache-size", "0"], cwd=folder, check=True)
        page = pathlib.Path(folder) / "page.html"
        subprocess.run([program, "page", build.name, "-o", page], cwd=build.parent, check=True)
        browser = Browser()
        for width, height in HEIGHTS.items():
            for dark in (False, True):
                browser.open(page, width=width, dark=dark)
                picture = ROOT / "docs" / "figures" / f"page-{width}-{'dark' if dark else 'light'}.png"
                browser.screenshot(picture, height)
                size = picture.stat().st_size
                print(f"{picture.relative_to(ROOT)}  {size} bytes")
                if size > LARGEST:
                    sys.exit(f"{picture.name} is larger than {LARGEST} bytes: lower HEIGHTS")
        browser.close()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Device compilers on BuildGrid: a scheduler with PostgreSQL and two workers, one of which is killed in the middle. In the deep tier,
where there are Python 3.12, PostgreSQL and bubblewrap."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import testspace  # noqa: E402
from buildgrid_workers import PROPERTY, Workers  # noqa: E402
from sliced import make_space  # noqa: E402

OPS = "scaling,inner"
TOOLS = 15  # of their three sources: cudafe++, and of each arch cicc and ptxas


@testspace.deep
class BuildGridTest(unittest.TestCase):
    def built(self, space, *more, **options):
        run = space.build("--ops", OPS, "--json", *more, **options)
        self.assertEqual(run.code, 0, run)
        return run

    # Red where a tool's time runs out before BuildGrid has given its lease to the other worker (a deadline of 2 s): then fewer run there.
    def test_a_worker_is_killed_in_the_middle(self):
        local = make_space("local")
        self.built(local)
        space = make_space("elsewhere")
        server = Workers(self, space.root / "buildgrid", 2)
        process = space.start_build("--ops", OPS, "--json", "--remote-exec", server.url, "--remote-local", "never", "--remote-platform", PROPERTY,
                                    "--remote-jobs", "4")
        bot = server.bots[0]
        self.assertTrue(testspace.wait_until(lambda: process.poll() is not None or testspace.children(bot.pid), 60))
        self.assertIsNone(process.poll(), server.logs())
        server.end(bot)
        out, err = process.communicate(timeout=testspace.TIME_LIMIT)
        run = testspace.Run(process.returncode, out, err, 0)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(testspace.bundle_hash(space.out), testspace.bundle_hash(local.out))
        uses = run.result()["execution"]
        self.assertEqual((uses["executed"], uses["failed"], uses["off"]), (TOOLS, 0, None), run)
        self.assertIn("bot1", uses["workers"])


if __name__ == "__main__":
    testspace.main()

"""What a person at a terminal sees while many profiles are judged; and that files see none of it."""
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOFLINT = os.environ.get("ROOFLINT", os.path.join(HERE, "../../build/rooflint"))
PROFILE = os.path.join(HERE, "../profiles/jax-cpu-ops")
RUNS = 400
LINE = re.compile(rb"\rrooflint: (\d+) of (\d+) profiles, ([\d.]+)/s, ([\d.]+) (s|min|h) left\x1b\[K")
ERASED = b"\r\x1b[K"
# Seconds that a unit stands for, and by how many of them what is shown may be rounded.
UNITS = {b"s": (1, 0.5), b"min": (60, 30), b"h": (3600, 180)}


def read_all(fd):
    """Until nobody has the other end any more."""
    said = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            return said
        if not part:
            return said
        said += part


class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        for n in range(RUNS):
            shutil.copytree(PROFILE, os.path.join(cls.dir, f"job-{n:03d}"), copy_function=os.symlink)

    def start(self, stderr):
        return subprocess.Popen([ROOFLINT, "audit", "-j", "1", "."], cwd=self.dir, stderr=stderr,
                                stdout=subprocess.DEVNULL, start_new_session=True)

    def test_terminal(self):
        master, slave = pty.openpty()
        job = self.start(slave)
        os.close(slave)
        # Nothing is shown of what takes less than a second, so it is made to take more.
        time.sleep(0.2)
        os.killpg(job.pid, signal.SIGSTOP)
        time.sleep(1.2)
        os.killpg(job.pid, signal.SIGCONT)
        said = read_all(master)
        os.close(master)
        self.assertEqual(job.wait(), 0, said)
        shown = LINE.findall(said)
        self.assertGreater(len(shown), 1, said)
        done = [int(count) for count, *_ in shown]
        self.assertEqual(done, sorted(set(done)))
        self.assertEqual({int(total) for _, total, *_ in shown}, {RUNS})
        self.assertEqual(done[-1], RUNS)
        for count, _, rate, left, unit in shown[:-1]:
            unit_s, rounded = UNITS[unit]
            seconds, todo = float(left) * unit_s, RUNS - int(count)
            off = 0.05 if b"." in rate else 0.5
            slowest, fastest = max(float(rate) - off, 1e-9), float(rate) + off
            self.assertLessEqual(todo / fastest - rounded, seconds + 1e-6, said)
            self.assertGreaterEqual(todo / slowest + rounded, seconds - 1e-6, said)
        self.assertTrue(said.endswith(ERASED), said[-200:])
        self.assertEqual(LINE.sub(b"", said), ERASED)

    def test_no_terminal(self):
        job = self.start(subprocess.PIPE)
        self.assertEqual(job.communicate()[1], b"")
        self.assertEqual(job.returncode, 0)


if __name__ == "__main__":
    unittest.main()

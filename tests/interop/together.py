"""Tests that mostly wait, several at a time: each has a server, a folder and an environment of its
own.  They are told in their order, as if one had been run after the other."""

import concurrent.futures
import unittest

AT_ONCE = 8


class Remembered(unittest.TestResult):
    """What one test had to say, for another result to be told."""

    def __init__(self):
        super().__init__()
        self.said = []

    def tell(self, test, result):
        result.startTest(test)
        for name, args in self.said:
            getattr(result, name)(*args)
        result.stopTest(test)


for _name in ("addSuccess", "addFailure", "addError", "addSkip", "addSubTest"):
    setattr(Remembered, _name,
            lambda self, *args, name=_name: self.said.append((name, args)))


class Suite(unittest.TestSuite):
    def run(self, result, debug=False):
        def one(test):
            remembered = Remembered()
            test.run(remembered)
            return remembered
        tests = list(self)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for test, remembered in zip(tests, pool.map(one, tests)):
                remembered.tell(test, result)
        return result


def load_tests(loader, tests, pattern):  # noqa: ARG001
    """For modules to import under this name: the protocol of unittest."""
    def flat(suite):
        for test in suite:
            yield from flat(test) if isinstance(test, unittest.TestSuite) else [test]
    return Suite(flat(tests))

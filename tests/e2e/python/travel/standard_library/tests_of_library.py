"""Tests of the standard library, those of the module that is named, run by unittest."""

import importlib
import io
import random
import sys
import unittest

s_name = sys.argv[1]
s_chosen = []
module = importlib.import_module(f"test.{s_name}")
suite = unittest.TestSuite()


def tests_in(found):
    for test in found:
        if isinstance(test, unittest.TestSuite):
            yield from tests_in(test)
        else:
            yield test


every = list(tests_in(unittest.defaultTestLoader.loadTestsFromModule(module)))
for test in random.sample(every, min(len(every), int(sys.argv[2]))):
    s_chosen.append(test.id())
    suite.addTest(test)
s_report = io.StringIO()
result = unittest.TextTestRunner(stream=s_report, verbosity=2).run(suite)
s_counts = result.testsRun, len(result.skipped), [test.id() for test, _ in result.failures + result.errors]
s_text = s_report.getvalue()
pass

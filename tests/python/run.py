"""run.py FOLDER [PYTEST OPTIONS]: runs the tests of the package that was built into FOLDER, and counts them as cmocka
does, for tools/run_tests.sh."""

import pathlib
import sys

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
here = pathlib.Path(__file__).resolve().parent


class Counter:
    """Counts outcomes and collects why tests were skipped."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, []

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.skipped.append(report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else "")
        elif report.failed:
            self.failed += 1
        elif report.when == "call":
            self.passed += 1


def main():
    try:
        import pytest
    except ImportError:
        print("skipped: python3-pytest is missing; ./bough test python installs it\n[  SKIPPED ] 1 test(s).")
        return 0
    counter = Counter()
    status = pytest.main(["-q", "--tb=short", "-p", "no:cacheprovider", *sys.argv[2:], str(here)], plugins=[counter])
    for reason in counter.skipped:
        print("skipped:", reason)
    print(f"\n[  PASSED  ] {counter.passed} test(s).")
    if counter.skipped:
        print(f"[  SKIPPED ] {len(counter.skipped)} test(s).")
    if counter.failed or status:
        print(f"[  FAILED  ] {max(1, counter.failed)} test(s).")
    sys.stdout.flush()
    return int(status)


if __name__ == "__main__":
    sys.exit(main())

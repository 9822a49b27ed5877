"""A pytest plugin (`-p tests.skips`): a run with a skipped test fails, and names it.

One exception: where `../shared/corpus` is absent, tests marked `corpus` may be skipped. An expected failure
counts as a skip: nothing was shown to hold.
"""

from pathlib import Path

import pytest

PLUGIN = "refused skips"


class Skips:
    """Collects what was left out during one run."""

    def __init__(self, corpus: Path) -> None:
        self.corpus_missing = not corpus.is_dir()
        self.refused: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        excused = self.corpus_missing and "corpus" in report.keywords
        if report.skipped and not excused:
            self.refused.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.refused.append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.refused and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.refused:
            terminalreporter.section("skipped, which this run does not allow", red=True)
            for nodeid in self.refused:
                terminalreporter.line(nodeid)


def pytest_configure(config: pytest.Config) -> None:
    corpus = config.rootpath.parent / "shared" / "corpus"
    config.pluginmanager.register(Skips(corpus), PLUGIN)

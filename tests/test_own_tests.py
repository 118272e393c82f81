"""The script that repeats the calls of peers' own tests notices what it should.

What scikit-learn returns is written down by hand, from the definitions; the recorder runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "benchmarks" / "peers"

# Three binary calls with four values, of which one is 0/0; and calls with weights, averages and three classes.
TESTS = """
import pytest
from sklearn.metrics import accuracy_score, class_likelihood_ratios, f1_score, precision_score

def test_values():
    assert accuracy_score(["a", "b", "b"], ["a", "b", "a"]) == 2 / 3
    assert precision_score([1, 0, 0], [0, 0, 0], zero_division=0) == 0
    assert class_likelihood_ratios([1, 1, 0, 0, 0], [1, 0, 1, 0, 0]) == pytest.approx((1.5, 0.75))

def test_others():
    accuracy_score([1, 0], [1, 1], sample_weight=[1, 2])
    f1_score([1, 0], [1, 1], average="macro")
    accuracy_score([1, 2, 3], [1, 2, 2])
"""


def told(tmp_path: Path, before: str = "") -> list[str]:
    """What the recorder says of a file of tests: counts by kind, tests, and what was kept, a line each."""
    (tmp_path / "test_few.py").write_text(TESTS, "utf-8")
    code = (
        f"import own_tests\n{before}\n"
        f"found = own_tests.run('scikit-learn', tests=[{str(tmp_path / 'test_few.py')!r}])\n"
        "print(dict(sorted(found['counted'].items())))\nprint(found['tests'])\nprint(found['kept'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.slow
def test_binary_calls_without_weights_are_compared_and_no_others(tmp_path: Path) -> None:
    counted, tests, kept = told(tmp_path)
    assert counted == "{'calls': 3, 'equal': 3, 'hole': 1, 'other calls': 3}"
    assert tests == "{'passed': 2}"
    assert kept == "[['hole', 'precision_score', '0, 1, 0, 2', '0', 'nan', '', 1]]"


@pytest.mark.slow
def test_another_value_would_be_listed(tmp_path: Path) -> None:
    """A plugin that takes accuracy for its complement: 1/3 here, 2/3 there."""
    (tmp_path / "wrong.py").write_text(
        "import own_tests\nown_tests.SKLEARN['accuracy_score'] = own_tests.SKLEARN['zero_one_loss']\n", "utf-8"
    )
    before = (
        f"import os\nos.environ['PYTEST_PLUGINS'] = 'wrong'\nown_tests.__file__ = {str(tmp_path / 'own_tests.py')!r}\n"
    )
    (tmp_path / "own_tests.py").write_text((SCRIPTS / "own_tests.py").read_text("utf-8"), "utf-8")
    counted, _, kept = told(tmp_path, before)
    assert counted == "{'calls': 3, 'different': 1, 'equal': 2, 'hole': 1, 'other calls': 3}"
    assert "['different', 'accuracy_score', '1, 1, 0, 1', '0.666667', '0.333333', '', 1]" in kept

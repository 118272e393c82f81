"""``python -m reproduction``: what it writes and says, what it refuses, and what an interruption leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evenhand as eh
from reproduction.__main__ import PARTS, main
from reproduction.exhibits import monte_carlo_exhibit
from reproduction.results import write_results
from reproduction.study import Study

ROOT = Path(__file__).parents[2]


def test_it_says_what_it_wrote_and_how_far_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--only", "table2", "--out", str(tmp_path / "new")])
    out, progress = capsys.readouterr()
    assert out == f"Wrote 2 files. Open {tmp_path / 'new' / 'index.html'}\n"
    assert progress == "table2\n"
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["index.html", "table2.csv"]


def test_parts_are_the_exhibits_and_the_claims() -> None:
    exhibits = "figure1 figure2 figure3 figure4 figure5 figure6 appendix table1 table2 risk"
    assert [*exhibits.split(), "claims"] == PARTS


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "figure9"], "argument --only: invalid choice: 'figure9' (choose from "),
        (["--metric", "te"], "argument --metric: te compares two groups; choose a metric of one group"),
        (["--metric", "tprr"], "argument --metric: no metric is called 'tprr'; did you mean"),
        (["--draws", "1"], "--draws must be at least 2"),
        (["--rng", "-1"], "--rng must be at least 0"),
        (["--out", "{file}/x"], "cannot create the folder {file}/x: "),
    ],
)
def test_it_refuses_in_one_sentence(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(SystemExit, match="2"):
        main([word.format(file=file) for word in words])
    assert f"error: {sentence.format(file=file)}" in capsys.readouterr().err


def test_a_missing_package_is_named() -> None:
    code = "import sys, runpy; sys.modules['jinja2'] = None; runpy.run_module('reproduction', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "jinja2 is not installed: run pip install -e '.[reproduce]'\n")


def test_missing_folktables_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "reproduction.folktables", raising=False)
    monkeypatch.setitem(sys.modules, "folktables", None)
    with pytest.raises(SystemExit, match="2"):
        main(["--folktables", "--out", str(tmp_path)])
    assert capsys.readouterr().err == "folktables is not installed: run pip install -e '.[folktables]'\n"


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="sends a signal to a group of processes")
def test_an_interrupted_run_leaves_no_files(tmp_path: Path) -> None:
    words = ["-m", "reproduction", "--out", str(tmp_path), "--only", "table2", "--only", "risk"]
    code = str(Path(eh.__file__).parents[1])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        child = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": code},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    latest = time.monotonic() + 120
    while not list(tmp_path.glob(".new-*/*.csv")):
        assert time.monotonic() < latest
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=60)
    # Python ends with the signal itself if it arrives while a string is executed, as by `dataclass`.
    assert child.returncode in (130, -signal.SIGINT) and out == ""
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        main(["--only", "figure1", "--only", "table1", "--out", str(tmp_path / folder)])
    files = sorted((tmp_path / "a").iterdir())
    assert len(files) == 7
    for file in files:
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_random_groups_agree_with_the_exact_errors() -> None:
    exhibit = monte_carlo_exhibit(["tpr"], draws=4000, rng=3)
    assert "from 4,000 random groups per point (seed 3)" in exhibit.caption
    table = exhibit.compute(Study())
    pd.testing.assert_frame_equal(table, exhibit.compute(Study()))
    assert len(table) == 10 * 2 * 6
    assert table.z.abs().max() < 5
    assert (table.z.abs() < 1.96).mean() > 0.85
    assert len(exhibit.plots["monte_carlo"](table).axes[0].lines) == 1


def made_up_survey(people: int) -> pd.DataFrame:
    """Person records with the survey's columns; income depends on hours and schooling, plus noise."""
    rng = np.random.default_rng(4)
    hours, school = rng.integers(1, 80, people), rng.integers(1, 25, people)
    income = 900 * hours + 1500 * school + rng.normal(0, 8000, people) - 12000
    columns = {name: rng.integers(1, 9, people) for name in ("COW", "MAR", "OCCP", "POBP", "RELP", "SEX")}
    # The first rows cover every race, the rest are random; one column has gaps, as in the survey.
    race = np.r_[np.tile(np.arange(1, 10), 20), rng.integers(1, 10, people - 180)]
    survey = pd.DataFrame(columns | {"AGEP": rng.integers(10, 90, people), "SCHL": school, "WKHP": hours})
    survey["RAC1P"], survey["PINCP"], survey["PWGTP"] = race, income, 1
    survey.loc[::7, "OCCP"] = np.nan
    return survey


def test_a_forest_on_the_survey_gives_a_matrix_for_each_race(tmp_path: Path) -> None:
    pytest.importorskip("folktables")
    from reproduction.folktables import count_forest

    survey = made_up_survey(3000)
    groups = count_forest(survey, 0, trees=5)
    kept = survey.query("AGEP > 16 and PINCP > 100 and WKHP > 0 and PWGTP >= 1")
    everyone = sum(groups.values(), eh.ConfusionMatrix(tp=0, fn=0, fp=0, tn=0))

    assert set(groups) >= {"Multiracial", "White", "Pacific Islander", "Other", "Black", "AI and AN"}
    assert everyone.n == pytest.approx(0.8 * len(kept), abs=1)
    assert eh.metric("acc")(everyone) > 0.75
    assert count_forest(survey, 0, trees=5) == groups

    write_results(tmp_path, Study(groups), [], claims=False)
    assert f"White,{groups['White'].tp}," in (tmp_path / "folktables.csv").read_text("utf-8")
    assert "This run used other Folktables counts" in (tmp_path / "index.html").read_text("utf-8")

"""The reproduction: its files against the errata's numbers, its claims, and that it repeats."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from oracle import golden, matrices

import evenhand as eh
from evenhand.__main__ import main
from evenhand.paper import PART_NAMES, count_forest, reproduce
from evenhand.paper.claims import CLAIMS
from evenhand.paper.command import reproduce as command
from evenhand.paper.figures import ShiftTask, _cumulative
from evenhand.paper.study import METRICS
from evenhand.paper.tables import HOLES, counted

KEYS = {"B": "mb", "F1": "f1", "MCC": "mcc"}
# The errata's table of averages over the ten groups: n, then the columns.
COLUMNS = "tpr raw, tpr eps1e-10, tpr cps5, fpr raw, mcc raw, pt raw, prev raw, prev add1, prev cps10".replace(
    ",", ""
).split()
AVERAGES = """
5 0.194656 0.116899 0.047608 0.037797 0.266011 0.153453 0.028050 0.030336 0.008392
8 0.166775 0.123162 0.050087 0.022930 0.175426 0.141210 0.017531 0.019986 0.007126
10 0.150848 0.120377 0.050108 0.018171 0.142790 0.129301 0.014025 0.016115 0.006473
20 0.096005 0.089907 0.043845 0.008941 0.072232 0.081260 0.007013 0.007918 0.004435
30 0.066258 0.064818 0.036424 0.005933 0.047448 0.051809 0.004675 0.005159 0.003371
50 0.038012 0.037911 0.025985 0.003547 0.027745 0.023214 0.002805 0.003007 0.002278
75 0.023888 0.023883 0.018717 0.002360 0.018166 0.009914 0.001870 0.001967 0.001620
100 0.017329 0.017329 0.014540 0.001769 0.013494 0.004946 0.001403 0.001459 0.001257
149 0.011288 0.011288 0.010082 0.001186 0.008972 0.001978 0.000941 0.000968 0.000874
"""
QUICK = [name for name in PART_NAMES if name != "figure2"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything but Figure 2, whose curves of a thousand cases take half of the time."""
    folder = tmp_path_factory.mktemp("results")
    written = reproduce(folder, only=QUICK, processes=2)
    assert sorted(written) == sorted(folder.iterdir())
    return folder


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def risks(results: Path) -> dict[tuple[str, str, str, int], dict[str, str]]:
    return {(r["group"], r["metric"], r["estimator"], int(r["n"])): r for r in read(results / "risk.csv")}


def test_the_experiment_is_whole(risks: dict[Any, Any]) -> None:
    groups = {key[0] for key in risks}
    assert len(groups) == 10
    assert {"COMPAS/Black", "Folktables/Other"} <= groups
    assert {key[1] for key in risks} == set(METRICS)
    assert {key[2] for key in risks} == {"raw", "eps1e-10", "add1", "cps5", "cps10", "cps20", "cps40"}
    assert {key[3] for key in risks} == set(range(5, 150))
    assert len(risks) == 10 * 15 * 7 * 145


def test_averages_of_the_errata_to_their_printed_digits(risks: dict[Any, Any], results: Path) -> None:
    found = defaultdict(list)
    for (_, metric, estimator, n), row in risks.items():
        found[metric, estimator, n].append(float(row["mse"]))
    columns = list(zip(COLUMNS[::2], COLUMNS[1::2], strict=True))
    for line in AVERAGES.split("\n")[1:-1]:
        n, *values = line.split()
        for (metric, estimator), value in zip(columns, values, strict=True):
            assert f"{np.mean(found[metric, estimator, int(n)]):.6f}" == value, (metric, estimator, n)
    figure3 = {(r["group"], r["metric"], r["estimator"], r["n"]): r["mse"] for r in read(results / "figure3.csv")}
    assert f"{float(figure3['average', 'tpr', 'cps5', '5']):.6f}" == "0.047608"


def test_golden_risks_stand_in_the_file(risks: dict[Any, Any]) -> None:
    methods = {"eps": "eps1e-10"}
    checked = 0
    for group, n, metric, method, mse, bias, p_undefined in golden("smoothing")["exact_mse"]:
        key = (group.replace("FT/", "Folktables/"), KEYS.get(metric, metric.lower()), methods.get(method, method), n)
        if key in risks:
            row = risks[key]
            for name, value in (("mse", mse), ("bias", bias), ("p_undefined", p_undefined)):
                assert float(row[name]) == pytest.approx(float(value), rel=2e-9, abs=1e-12), (key, name)
            checked += 1
    assert checked > 600


def test_quantiles_of_figure_1_are_what_listing_gives(results: Path) -> None:
    rows = [r for r in read(results / "figure1.csv") if r["group"] == "Multiracial" and r["replacement"] == "with"]
    cm = eh.examples.folktables_income()["Multiracial"]
    rate = (cm.tp + cm.fp) / cm.n
    assert [int(r["n"]) for r in rows] == list(range(5, 50))
    from scipy.stats import binom

    for row in rows:
        n = int(row["n"])
        for name, q in (("p10", 0.1), ("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("p90", 0.9)):
            assert float(row[name]) == pytest.approx(binom.ppf(q, n, rate) / n)
        assert float(row["population"]) == pytest.approx(1481 / 5956)


@pytest.mark.parametrize("metric", ["acc", "mcc", "tpr", "te_part"])
def test_curves_of_figure_2_are_what_listing_gives(metric: str) -> None:
    """All configurations alike: each matrix of five cases counts the same."""
    scores, probabilities = _cumulative(ShiftTask("uniform", metric, 5))
    listed = [s for s in (eh.metric(metric)(cm) for cm in matrices(5)) if s == s]
    assert probabilities == pytest.approx([np.mean(np.array(listed) <= s + 1e-9) for s in scores])


def test_all_configurations_of_a_thousand_cases_spread_as_beta_2_2() -> None:
    """E22: ACC tends to Beta(2, 2), with 5 and 95 % quantiles of .135 and .865."""
    scores, probabilities = _cumulative(ShiftTask("uniform", "acc", 1000))
    assert np.interp([0.05, 0.95], probabilities, scores) == pytest.approx([0.135, 0.865], abs=0.005)


def test_table_1_agrees_with_brute_force_everywhere(results: Path) -> None:
    rows = read(results / "table1.csv")
    assert all(r["evenhand"] == r["brute_force"] for r in rows)
    wrong = {(r["metrics"], int(r["n"])) for r in rows if r["paper_is_right"] == "no"}
    assert {key for key, _ in wrong} == {"te", "pt"}
    assert ("pt", 3) not in wrong
    assert next(r for r in rows if r["metrics"] == "te" and r["n"] == "5")["brute_force"] == "1911"


def test_brute_force_can_fail() -> None:
    pt = next(row for row in HOLES if row.metrics == ("pt",))
    assert [counted(pt, n) for n in range(1, 13)] == [4, 8, 12, 17, 20, 28, 28, 37, 40, 48, 44, 65]


def test_table_2_as_printed_and_as_it_should_be(results: Path) -> None:
    rows = {(r["version"], r["row"]): r for r in read(results / "table2.csv")}
    assert [rows["right", "Black"][c] for c in ("fn", "fp")] == ["0.05349276274", "0.3281938326"]
    assert [rows["printed", "Black"][c] for c in ("fn", "fp")] == ["0.33", "0.05"]
    assert f"{float(rows['right', 'difference: CPS']['total']):.3f}" == "0.419"
    assert f"{float(rows['right', 'difference: uniform']['total']):.3f}" == "0.721"


def verdicts(results: Path) -> dict[str, str]:
    text = (results / "claims.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("**")]
    return {c.check.__name__: line.split("**")[1] for c, line in zip(CLAIMS, lines, strict=True)}


def test_claims_are_judged_as_in_the_errata(results: Path) -> None:
    found = verdicts(results)
    expected = {
        "holds": "configurations cell_values no_holes mcc_holes binomial_cdf benefit_cdf bias_and_variance fixed_n "
        "worked_example pt_lower_bound less_variance berry_esseen",
        "holds with a condition": "every_experiment pt_gains_most add_one_worse add_one_better closest_prior "
        "tpr_rises all_fifteen ratio_cdf forty_is_worse limits_of_figure_2 sample_counts systematic_shift",
        "does not hold": "pt_upper pt_growth te_holes fpr_gains_least tpr_starts benefit_normal benefit_correction "
        "beta_approximation all_configurations ppr_limit known_reference unnoticeable higher_than integrity",
    }
    for verdict, names in expected.items():
        assert {name: found[name] for name in names.split()} == dict.fromkeys(names.split(), verdict)


@pytest.mark.parametrize(
    "number",
    [
        "cps5: 138 of 21,750 points not better, in 1 of 150",
        "cps10: 545 of 21,750 points not better, in 4 of 150",
        "cps20: 1,681 of 21,750 points not better, in 13 of 150",
        "cps40: 3,452 of 21,750 points not better, in 32 of 150 (group, metric) pairs, 247 of 2,175",
        "total variation 0.320 at n = 5, 0.753 at n = 25, 0.936 at n = 100",
        "pt 2.937, tpr 2.100",
        "14.8% for n = 100 and a reference of 100, 24.2% for n = 200 and a reference of 100",
        "exact 0.537580, as printed 1.000000",
        "0.0512 at n = 1, 0.1169 at 5, largest at n = 8 with 0.12316",
        "tpr 40.7% (at most 62.1%), mcc 52.0%",
        "from 3.9 (Folktables/Other) to 167 (Folktables/Asian)",
    ],
)
def test_claims_carry_the_numbers_of_the_errata(results: Path, number: str) -> None:
    assert number in (results / "claims.md").read_text("utf-8")


def test_a_claim_is_judged_from_the_data() -> None:
    """With a group that has the paper's rate, the claim that fails on the shipped counts holds."""
    from evenhand.paper.study import Study

    check = next(c.check for c in CLAIMS if c.check.__name__ == "ppr_limit")
    groups = eh.examples.folktables_income() | {"Multiracial": eh.ConfusionMatrix(665, 701, 700, 3890)}
    assert check(Study()).verdict == "does not hold"
    assert check(Study(groups)).verdict == "holds"


def test_the_page_shows_every_part_and_refers_only_to_files_beside_it(results: Path) -> None:
    page = (results / "index.html").read_text("utf-8")
    for name in QUICK:
        assert f'id="{name}"' in page
    import re

    linked = set(re.findall(r'(?:href|src)="([^"#]+)"', page))
    assert linked <= {path.name for path in results.iterdir()}
    assert "figure3.svg" in linked


def test_two_runs_write_the_same_bytes(results: Path, tmp_path: Path) -> None:
    """In one process or in two."""
    for folder in ("a", "b"):
        reproduce(tmp_path / folder, only=["figure1", "table1", "table2"])
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        if path.name != "index.html":
            assert path.read_bytes() == (results / path.name).read_bytes()


def test_random_groups_agree_with_the_exact_errors(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        reproduce(tmp_path / folder, only=["table2"], monte_carlo=["tpr"], draws=4000, seed=3)
    data = tmp_path / "a" / "monte_carlo.csv"
    assert data.read_bytes() == (tmp_path / "b" / data.name).read_bytes()
    z = np.array([float(r["z"]) for r in read(data)])
    assert len(z) == 10 * 2 * 6
    assert np.abs(z).max() < 5
    assert (np.abs(z) < 1.96).mean() > 0.85


def test_the_command_names_what_it_wrote(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["--only", "table2", "--out", str(tmp_path / "r"), "--processes", "1"])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"2 files written; open {tmp_path / 'r' / 'index.html'}\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "figure9"], "no part of the paper is called 'figure9'; did you mean"),
        (["--monte-carlo", "--metric", "te"], "te compares two groups; the experiment takes metrics of one group"),
        (["--only", "table2", "--out", "{file}"], "out must be a folder that can be written to; {file}: "),
    ],
)
def test_the_command_refuses_in_one_sentence(words: list[str], sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    result = CliRunner().invoke(command, [word.format(file=file / "x") for word in words])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {sentence.format(file=file / 'x')}")


def test_the_command_is_among_the_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["evenhand", "--help"])
    with pytest.raises(SystemExit):
        main()
    assert "reproduce" in capsys.readouterr().out


def made_up_survey(people: int) -> Any:
    """Persons with the survey's columns; income follows hours and schooling, and some noise."""
    import pandas as pd

    rng = np.random.default_rng(4)
    hours, school = rng.integers(1, 80, people), rng.integers(1, 25, people)
    income = 900 * hours + 1500 * school + rng.normal(0, 8000, people) - 12000
    columns = {name: rng.integers(1, 9, people) for name in ("COW", "MAR", "OCCP", "POBP", "RELP", "SEX")}
    # The first have every race, the rest are drawn; some of the columns have gaps, as in the survey.
    race = np.r_[np.tile(np.arange(1, 10), 20), rng.integers(1, 10, people - 180)]
    survey = pd.DataFrame(columns | {"AGEP": rng.integers(10, 90, people), "SCHL": school, "WKHP": hours})
    survey["RAC1P"], survey["PINCP"], survey["PWGTP"] = race, income, 1
    survey.loc[::7, "OCCP"] = np.nan
    return survey


def test_a_forest_on_the_survey_gives_a_matrix_for_each_race(tmp_path: Path) -> None:
    survey = made_up_survey(3000)
    found = count_forest(survey, trees=5)
    kept = survey.query("AGEP > 16 and PINCP > 100 and WKHP > 0 and PWGTP >= 1")
    everybody = sum(found.values(), eh.ConfusionMatrix(0, 0, 0, 0))

    assert set(found) >= {"Multiracial", "White", "Pacific Islander", "Other", "Black", "AI and AN"}
    assert everybody.n == pytest.approx(0.8 * len(kept), abs=1)
    assert eh.metric("acc")(everybody) > 0.75
    assert count_forest(survey, trees=5) == found

    reproduce(tmp_path, only=["table2", "figure1"], folktables=found)
    assert f"White,{int(found['White'].tp)}," in (tmp_path / "folktables.csv").read_text("utf-8")


def test_a_study_without_the_groups_of_the_figures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(eh.InvalidInput, match=r"^the paper's figures need the Folktables group 'Multiracial'; it is"):
        reproduce(tmp_path, folktables={"A": eh.ConfusionMatrix(1, 2, 3, 4)})


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import importlib.util

    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name: None)
        with pytest.raises(eh.MissingExtra, match=r"pip install 'evenhand\[reproduce\]'"):
            reproduce(tmp_path)
    from evenhand.paper import fetch_income

    monkeypatch.setitem(__import__("sys").modules, "folktables", None)
    with pytest.raises(eh.MissingExtra, match=r"pip install 'evenhand\[folktables\]'"):
        fetch_income(tmp_path)

"""The reproduction: its numbers against the errata, its verdicts, its files, and that it repeats."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import golden, matrices
from pandas import DataFrame, concat
from scipy.stats import binom

import evenhand as eh
from reproduction import figures
from reproduction.claims import CLAIMS, CheckedClaim, check_claim
from reproduction.exhibits import EXHIBITS, Exhibit
from reproduction.figure_data import CUMULATIVE, DENSITIES, shift_curve
from reproduction.results import write_results
from reproduction.study import ESTIMATORS, METRICS, SIZES, Study
from reproduction.tables import TABLE_1

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
FEWER_SIZES = [5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 149]
WRITTEN = ["figure1", "figure4", "table1", "table2", "risk"]
PLOTS = [name for exhibit in EXHIBITS for name in exhibit.plots]


def exhibit_of(name: str) -> Exhibit:
    (exhibit,) = (e for e in EXHIBITS if name == e.name or name in e.plots)
    return exhibit


def check(name: str, study: Study) -> CheckedClaim:
    (claim,) = (c for c in CLAIMS if c.name == name)
    return check_claim(claim, study)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def study() -> Study:
    """The paper's experiment at some of its sample sizes."""
    return Study(sizes=FEWER_SIZES)


@pytest.fixture(scope="module")
def study_at_all_sizes() -> Study:
    """The paper's experiment at all of its sample sizes, without the two metrics that take nearly all of the time."""
    return Study(metrics=[m for m in METRICS if m not in ("mcc", "pt")])


@pytest.fixture(scope="module")
def results(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    written = write_results(folder, study, [exhibit_of(name) for name in WRITTEN])
    assert sorted(written) == sorted(folder.iterdir())
    return folder


@pytest.fixture(scope="module")
def risks(results: Path) -> dict[tuple[str, str, str, int], dict[str, str]]:
    return {(r["group"], r["metric"], r["estimator"], int(r["n"])): r for r in read(results / "risk.csv")}


# The experiment


def test_a_study_is_the_whole_experiment_by_default() -> None:
    whole = Study()
    assert whole.sizes.tolist() == list(SIZES) == list(range(5, 150))
    assert whole.metrics == METRICS and len(METRICS) == 15
    assert len(whole.groups) == 10 and {"COMPAS/Black", "Folktables/Other"} <= set(whole.groups)


def test_a_study_without_the_groups_of_the_figures_is_refused() -> None:
    sentence = r"^folktables must include the group 'Multiracial', which the paper's figures show$"
    with pytest.raises(eh.errors.InvalidInput, match=sentence):
        Study({"A": eh.ConfusionMatrix(tp=1, fn=2, fp=3, tn=4)})


@pytest.mark.slow
def test_every_group_metric_estimator_and_size_has_a_row(risks: dict[Any, Any], study: Study) -> None:
    assert set(risks) == {(g, m, e, n) for g in study.groups for m in METRICS for e in ESTIMATORS for n in FEWER_SIZES}


@pytest.mark.slow
def test_averages_of_the_errata_to_their_printed_digits(risks: dict[Any, Any]) -> None:
    errors = defaultdict(list)
    for (_, metric, estimator, n), row in risks.items():
        errors[metric, estimator, n].append(float(row["mse"]))
    columns = list(zip(COLUMNS[::2], COLUMNS[1::2], strict=True))
    for line in AVERAGES.split("\n")[1:-1]:
        n, *values = line.split()
        for (metric, estimator), value in zip(columns, values, strict=True):
            assert f"{np.mean(errors[metric, estimator, int(n)]):.6f}" == value, (metric, estimator, n)


@pytest.mark.slow
def test_golden_risks_are_in_the_file(risks: dict[Any, Any]) -> None:
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


def test_averages_and_curves_are_those_of_the_library() -> None:
    study = Study(metrics=["acc", "tpr"], sizes=[5, 6])
    truth, reference = study.groups["COMPAS/Black"]
    expected = eh.risk("tpr", truth, 6, eh.CrossPrior(reference, 5))
    assert study.curves("tpr", "cps5")[0, 1] == expected.mse
    assert study.curves("tpr", "cps5", "bias")[0, 1] == expected.bias
    assert study.average("tpr", "cps5")[1] == pytest.approx(study.curves("tpr", "cps5")[:, 1].mean())


def test_the_area_under_a_curve_is_its_sum_at_consecutive_sizes_and_close_to_it_at_fewer() -> None:
    curve = 1 / np.array(SIZES)
    assert Study().area(curve) == pytest.approx(curve.sum())
    assert Study(sizes=FEWER_SIZES).area(1 / np.array(FEWER_SIZES)) == pytest.approx(curve.sum(), rel=0.1)


# Tables and figures


@pytest.mark.slow
def test_figures_show_the_averages_over_the_groups(results: Path) -> None:
    rows = {(r["group"], r["estimator"], r["n"]): r["mse"] for r in read(results / "figure4.csv")}
    assert f"{float(rows['average', 'cps10', '5']):.6f}" == "0.008392"
    assert f"{float(rows['average', 'add1', '149']):.6f}" == "0.000968"


def test_quantiles_of_figure_1_are_those_of_the_binomial() -> None:
    table = exhibit_of("figure1").compute(Study())
    rows = table[(table.group == "Multiracial") & (table.replacement == "with")]
    cm = eh.examples.folktables_income()["Multiracial"]
    rate = (cm.tp + cm.fp) / cm.n
    assert rows.n.tolist() == list(range(5, 50))
    assert rows.population.tolist() == pytest.approx([1481 / 5956] * 45)
    for name, q in (("p10", 0.1), ("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("p90", 0.9)):
        assert rows[name].tolist() == pytest.approx(binom.ppf(q, rows.n, rate) / rows.n)


@pytest.mark.parametrize("metric", ["acc", "mcc", "tpr", "te_part"])
def test_curves_of_figure_2_are_what_enumeration_gives(metric: str) -> None:
    """Equally likely configurations: each matrix of five cases has the same weight."""
    scores, probabilities = shift_curve("uniform", metric, 5)
    enumerated = [s for s in (eh.metric(metric)(cm) for cm in matrices(5)) if s == s]
    assert probabilities == pytest.approx([np.mean(np.array(enumerated) <= s + 1e-9) for s in scores])


def test_equally_likely_configurations_of_a_thousand_cases_spread_as_beta_2_2() -> None:
    """E22: ACC tends to Beta(2, 2), whose 5 and 95% quantiles are .135 and .865."""
    scores, probabilities = shift_curve("uniform", "acc", 1000)
    assert np.interp([0.05, 0.95], probabilities, scores) == pytest.approx([0.135, 0.865], abs=0.005)


def shift_table() -> DataFrame:
    """The data of figure 2 for small groups."""
    curves = []
    for law in ("multinomial", "uniform"):
        for metric in DENSITIES:
            for n in (5, 25):
                scores, probabilities = shift_curve(law, metric, n)
                columns = {"law": law, "metric": metric, "n": n, "score": scores, "probability": probabilities}
                curves.append(DataFrame(columns))
    return concat(curves)


def test_figure_2_has_a_panel_per_metric_and_a_line_per_size() -> None:
    table = shift_table()
    for plot, panels in ((figures.plot_cumulative, 2 * len(CUMULATIVE)), (figures.plot_densities, 20)):
        axes = plot(table).axes
        assert len(axes) == panels
        assert {len(ax.lines) for ax in axes} == {2}


def test_densities_of_five_cases_are_points_at_their_possible_scores() -> None:
    """Accuracy of five cases: six scores, each with its binomial probability spread over 1/25 of the range."""
    ax = figures.plot_densities(shift_table()).axes[0]
    (points,) = [line for line in ax.lines if line.get_label() == "n = 5"]
    assert points.get_linestyle() == "None"
    assert np.asarray(points.get_xdata()) == pytest.approx(np.arange(6) / 5, abs=0.02)
    assert np.asarray(points.get_ydata()) == pytest.approx(25 * binom.pmf(np.arange(6), 5, 0.5))


@pytest.mark.slow
@pytest.mark.parametrize("name", PLOTS)
def test_text_stays_inside_its_panel_and_the_page(name: str, study: Study) -> None:
    """Titles end where their panel ends, tick labels within the page, and each panel has a letter of its own."""
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    exhibit = exhibit_of(name)
    table = shift_table() if exhibit.name == "figure2" else exhibit.compute(study)
    with style.context(figures.STYLE):
        figure = exhibit.plots[name](table)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
    renderer = canvas.get_renderer()
    letters = []
    for panel in figure.axes:
        ax: Any = panel
        title = ax._left_title
        letters += re.findall(r"^\$\\mathbf\{(\w+)\}\$  \S", title.get_text())
        room, box = ax.get_window_extent(renderer), title.get_window_extent(renderer)
        assert box.x1 <= room.x1 + 0.03 * room.width, title.get_text()
        assert figure.bbox.y1 >= box.y1
        ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        within = [tick for at, tick in ticks if ax.get_xlim()[0] <= at <= ax.get_xlim()[1]]
        for tick in (*within, *ax.get_yticklabels()):
            if tick.get_text() and tick.get_visible():
                box = tick.get_window_extent(renderer)
                assert figure.bbox.x0 + 2 <= box.x0 and box.x1 <= figure.bbox.x1 - 2, tick.get_text()
    assert len(set(letters)) == len(figure.axes)
    assert letters == sorted(letters, key=lambda letter: (len(letter), letter))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PLOTS if name.endswith("_groups")])
def test_groups_stand_in_a_grid_with_a_panel_per_group_and_metric(name: str, study: Study) -> None:
    exhibit = exhibit_of(name)
    table = exhibit.compute(study)
    figure = exhibit.plots[name](table)
    assert len(figure.axes) == 10 * table.metric.nunique()
    width, height = figure.get_size_inches()
    assert height < 1.8 * width
    assert {len(ax.lines) for ax in figure.axes} == {table.estimator.nunique()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure3", "figure4", "figure5", "figure6", "appendix"])
def test_figures_of_errors_have_a_panel_per_metric_and_a_line_per_estimator(name: str, study: Study) -> None:
    exhibit = exhibit_of(name)
    table = exhibit.compute(study)
    groups = [] if name == "appendix" else list(study.groups)
    assert list(table.group.unique()) == ["average", *groups]
    figure = exhibit.plots[name](table)
    assert len(figure.axes) == table.metric.nunique()
    assert {len(ax.lines) for ax in figure.axes} == {table.estimator.nunique()}
    if name == "figure3":
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ε = $10^{-10}$", "CPS, λ = 5"]


def test_table_1_agrees_with_brute_force_everywhere() -> None:
    table = exhibit_of("table1").compute(Study())
    assert (table.evenhand == table.brute_force).all()
    wrong = table[table.paper_is_right == "no"]
    assert set(wrong.metrics) == {"te", "pt"}
    assert 3 not in set(wrong.n[wrong.metrics == "pt"])
    assert table[(table.metrics == "te") & (table.n == 5)].brute_force.item() == 1911


def test_brute_force_counts_the_undefined_cases_of_pt_as_the_errata_do() -> None:
    (pt,) = (row for row in TABLE_1 if row.metrics == "pt")
    counts = [pt.enumerate_undefined(n) for n in range(1, 13)]
    assert counts == [4, 8, 12, 17, 20, 28, 28, 37, 40, 48, 44, 65]


def test_table_2_as_printed_and_corrected() -> None:
    table = exhibit_of("table2").compute(Study()).set_index(["version", "row"])
    assert table.loc[("corrected", "Black"), ["fn", "fp"]].tolist() == pytest.approx([170 / 3178, 1043 / 3178])
    assert table.loc[("printed", "Black"), ["fn", "fp"]].tolist() == [0.33, 0.05]
    assert table.loc[("corrected", "difference: CPS"), "total"] == pytest.approx(0.419, abs=5e-4)
    assert table.loc[("corrected", "difference: uniform"), "total"] == pytest.approx(0.721, abs=5e-4)


# Claims


@pytest.mark.slow
def test_every_claim_gets_the_verdict_of_the_errata(results: Path) -> None:
    expected = {
        "holds": "configurations cubic_growth cell_values twenty_one_metrics never_undefined joint_ratio_undefined "
        "f1_undefined mcc_undefined pt_lower_bound narrows one_more_case binomial_cdf worked_example berry_esseen "
        "benefit_symmetry benefit_cdf all_fifteen small_samples less_variance pt_gains_most tpr_rises tpr_descends "
        "fewer_undefined prevalence_best diminishing forty_is_worse add_one_worse add_one_better higher_beats_add_one "
        "stronger_is_better unchanged_if_always_defined most_do_not_reoffend bias_and_variance fixed_n good_strengths",
        "holds with a condition": "slower_than_configurations limits_of_figure_2 expected_score most_jagged "
        "sample_counts normal_for_shares benefit_berry_esseen ratio_cdf accounts_for_sample_size genuine_differences "
        "fifteen_metrics bashful closest_prior systematic_shift negligible_at_100",
        "does not hold": "pt_upper pt_growth te_undefined ppr_limit all_configurations higher_than benefit_normal "
        "benefit_correction simple_joint beta_approximation every_experiment dominates_raw tight_bands fpr_gains_least "
        "tpr_stabilises unnoticeable tpr_starts printed_shares integrity",
    }
    text = (results / "claims.md").read_text("utf-8")
    verdicts = [line.split("**")[1] for line in text.splitlines() if line.startswith("**")]
    by_name = {claim.name: verdict for claim, verdict in zip(CLAIMS, verdicts, strict=True)}
    assert by_name == {name: verdict for verdict, names in expected.items() for name in names.split()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "numbers",
    [
        "total variation distance between equally likely configurations and a multinomial with probabilities 0.25: "
        "0.320 at n = 5, 0.753 at n = 25, 0.936 at n = 100",
        "14.8% for n = 100 and a reference of 100, 24.2% for n = 200 and a reference of 100",
        "exact 0.537580, as printed 1.000000",
        "0.0512 at n = 1, 0.1169 at n = 5, maximum 0.12316 at n = 8",
        "tpr 40.7% (at most 62.1%), mcc 52.0%",
        "from 3.9 (Folktables/Other) to 167 (Folktables/Asian)",
        "FP (0.078 against 0.159)",
    ],
)
def test_claims_report_the_numbers_of_the_errata(results: Path, numbers: str) -> None:
    assert numbers in (results / "claims.md").read_text("utf-8")


@pytest.mark.slow
def test_claims_count_the_failures_of_smoothing_as_the_errata_do(study_at_all_sizes: Study) -> None:
    """E15; at λ = 5, 10 and 20 there are none among MCC and PT, which this study leaves out."""
    for name in ("every_experiment", "dominates_raw"):
        numbers = check(name, study_at_all_sizes).numbers
        for strength, points, experiments in ((5, "138", 1), (10, "545", 4), (20, "1,681", 13)):
            assert f"λ = {strength}: {points} of 18,850 points in {experiments} of 130 experiments" in numbers


@pytest.mark.slow
def test_claims_compare_areas_as_the_errata_do(study_at_all_sizes: Study) -> None:
    """E16 and E17."""
    assert check("fpr_gains_least", study_at_all_sizes).numbers.endswith("prev, 0.140; that of fpr is 0.200")
    assert "tpr 2.100, fnr 2.100, f1 1.492" in check("pt_gains_most", study_at_all_sizes).numbers
    assert check("forty_is_worse", study_at_all_sizes).numbers.endswith("λ = 40 is better than λ = 10 for 10")


def test_a_claim_is_judged_from_the_data() -> None:
    """With a group that has the paper's rate, the claim that fails on the bundled counts holds."""
    groups = eh.examples.folktables_income()
    groups["Multiracial"] = eh.ConfusionMatrix(tp=665, fn=701, fp=700, tn=3890)
    assert check("ppr_limit", Study()).verdict == "does not hold"
    assert check("ppr_limit", Study(groups)).verdict == "holds"


def test_quick_claims_have_the_verdicts_of_the_errata() -> None:
    """Those that do not need the experiment; the others are slow."""
    study = Study()
    assert check("mcc_undefined", study).numbers.endswith("0 counts differ; at n = 20: mcc 80")
    assert check("te_undefined", study).verdict == "does not hold"
    assert check("ratio_cdf", study).verdict == "holds with a condition"
    assert check("benefit_cdf", study).verdict == "holds"
    assert check("closest_prior", study).numbers.endswith("closer than CPS: FP (0.078 against 0.159)")


def test_every_claim_has_a_check_of_its_own_or_arguments() -> None:
    assert len(CLAIMS) == 69
    assert len({(claim.check, str(claim.arguments)) for claim in CLAIMS}) == 69
    for claim in CLAIMS:
        assert claim.code.startswith("def ") and "return judge(" in claim.code, claim.name


def test_smoothing_with_the_right_prior_always_helps() -> None:
    """Were every reference drawn like its group, the claims that fail on the paper's data would hold."""
    study = Study(metrics=["acc", "tpr"], sizes=[5, 20, 100])
    study.groups = {name: (truth, truth) for name, (truth, _) in study.groups.items()}
    for name in ("every_experiment", "dominates_raw", "all_fifteen", "less_variance", "good_strengths"):
        with np.errstate(divide="ignore", invalid="ignore"):
            assert check(name, study).verdict == "holds", name


# Files


@pytest.mark.slow
def test_the_page_shows_every_part_and_links_only_to_files_in_its_folder(results: Path) -> None:
    page = (results / "index.html").read_text("utf-8")
    for name in (*WRITTEN, "claims"):
        assert f'id="{name}"' in page
    linked = set(re.findall(r'(?:href|src)="([^"#]+)"', page))
    assert linked <= {path.name for path in results.iterdir()}
    assert {"figure4.svg", "figure4_groups.png", "claims.md"} <= linked
    counts = re.findall(r"<li class=\"([\w-]+)\"><b>(\d+)</b> ([\w ]+)</li>", page.split("<nav")[0])
    assert counts == [
        ("holds", "35", "hold"),
        ("holds-with-a-condition", "15", "hold with a condition"),
        ("does-not-hold", "19", "do not hold"),
    ]
    assert "prefers-color-scheme: dark" in page
    assert f"{len(CLAIMS)} claims" in page and "35 hold, 15 hold with a condition, 19 do not hold" in page


def test_the_page_shows_short_tables_and_no_claims_if_none_were_checked(tmp_path: Path) -> None:
    files = write_results(tmp_path, Study(), [exhibit_of("table2")], claims=False)
    assert [file.name for file in files] == ["table2.csv", "index.html"]
    page = files[-1].read_text("utf-8")
    assert "<td>0.05349276274</td>" in page
    assert "claims.md" not in page

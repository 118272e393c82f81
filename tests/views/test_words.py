"""Sentences in the words of who made the audit: cases, outcomes and decisions, and generic words without them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from audit_oracle import row
from click.testing import CliRunner

import evenhand as eh
from evenhand.auditing import Audit
from evenhand.cli import evenhand
from evenhand.errors import InvalidInput
from evenhand.examples import compas
from evenhand.metrics import metric
from evenhand.views.narrative import headlines, needed_text, next_steps, turning_text
from evenhand.views.words import Words

RISK: dict[str, Any] = {
    "wording": {"cases": "defendants", "outcome": "charged again", "decision": "called risky"},
}
LOANS: dict[str, Any] = {
    "wording": {"cases": "borrowers", "outcome": ("repaid", "did not repay"), "decision": ("got a loan", "got none")},
}
TWO = {"A": (20, 180, 80, 300), "B": (300, 100, 120, 480)}


def said(a: Audit, most: int = 30) -> dict[tuple[str, str], str]:
    """The headlines by group and metric."""
    return {(h.group, h.metric): h.sentence for h in headlines(a.rows, a.settings, most)}


# The words themselves


RATES = {
    "tpr": ("actual positives", "were predicted positive"),
    "fnr": ("actual positives", "were predicted negative"),
    "fpr": ("actual negatives", "were predicted positive"),
    "ppv": ("predicted positives", "were actually positive"),
    "npv": ("predicted negatives", "were actually negative"),
    "acc": ("cases", "were predicted correctly"),
    "ppr": ("cases", "were predicted positive"),
    "prev": ("cases", "were actually positive"),
    "jaccard": ("actual or predicted positives", "were both"),
}
IN_WORDS = {
    "tpr": ("defendants who were charged again", "were called risky"),
    "fnr": ("defendants who were charged again", "were not called risky"),
    "fpr": ("defendants who were not charged again", "were called risky"),
    "ppv": ("defendants who were called risky", "were charged again"),
    "npv": ("defendants who were not called risky", "were not charged again"),
    "acc": ("defendants", "were predicted correctly"),
    "ppr": ("defendants", "were called risky"),
    "prev": ("defendants", "were charged again"),
    "jaccard": ("defendants who were charged again or were called risky", "were both"),
}


def test_a_rate_is_a_share_of_whom_and_counts_what() -> None:
    """Generic words are those of the metric; with settings, its parts are spelled out; other scores have none."""
    for settings, words in (({}, RATES), (RISK, IN_WORDS)):
        found = Words.of(settings)
        for key, expected in words.items():
            assert (found.whole(metric(key)), found.counted(metric(key))) == expected
        for key in ("mcc", "f1", "lr_plus", "equalized_odds"):
            assert found.counted(metric(key)) is None
        assert found.description(metric("mcc")) == metric("mcc").description


def test_what_a_metric_means_is_said_in_the_same_words() -> None:
    words = Words.of(RISK)
    assert words.description(metric("tpr")) == "Of defendants who were charged again, how many were called risky"
    assert words.description(metric("ppr")) in (
        "Of defendants, how many were called risky", "How many defendants were called risky",
    )  # fmt: skip
    assert Words.of({}).description(metric("tpr")) == metric("tpr").description


def test_all_cases_are_called_by_their_noun() -> None:
    words = Words.of({"wording": {"cases": "defendants"}})
    assert (words.part("cases"), words.part("cases", "Other")) == ("defendants", "defendants in Other")
    assert words.part("correct predictions") == "defendants (correct predictions)"
    assert (words.several(7000), words.several(1), Words.of({}).several(2)) == ("7,000 defendants", "1 case", "2 cases")


def test_one_setting_alone_leaves_the_others_generic() -> None:
    tpr = metric("tpr")
    assert Words.of({"wording": {"cases": "patients"}}).whole(tpr, "A") == "patients in A who were actually positive"
    assert Words.of({"wording": {"cases": "patients"}}).counted(tpr) == "were predicted positive"
    assert Words.of({"wording": {"outcome": "ill"}}).whole(tpr, "A") == "cases in A that were ill"
    assert Words.of({"wording": {"decision": "treated"}}).counted(tpr) == "were treated"
    assert Words.of({"wording": {"decision": "treated"}}).whole(tpr, "A") == "cases in A that were actually positive"


def test_nouns_have_pronouns_numbers_and_groups() -> None:
    tpr, fpr, ppr = metric("tpr"), metric("fpr"), metric("ppr")
    nouns = {"images that": "images in A that", "images which": "images in A which", "nurses who": "nurses in A who"}
    for cases, expected in (nouns | {"defendants": "defendants in A who"}).items():
        words = Words.of({"wording": {"cases": cases, "outcome": "malignant"}})
        assert words.whole(tpr, "A") == f"{expected} were malignant"
    words = Words.of(RISK)
    assert words.whole(fpr, "A", many=False) == "defendant in A who was not charged again"
    assert words.counted(fpr, 1) == "was called risky"
    assert Words.of({}).whole(tpr, "A", many=False) == "actual positive in A"
    assert Words.of({}).counted(tpr, 1) == "was predicted positive"
    assert Words.of(LOANS).counted(tpr, 1) == "got a loan", "a clause has a verb of its own"
    # A group may say who its cases are.
    named = "African-American defendants"
    assert words.whole(fpr, named) == f"{named} who were not charged again"
    assert words.whole(ppr, "Young Defendants") == "Young Defendants"
    assert words.whole(ppr, "codefendants") == "defendants in codefendants"


# Headlines


def test_without_settings_sentences_are_generic() -> None:
    a = eh.audit_counts(TWO, metrics=["tpr"])
    assert list(said(a).values()) == [
        "Of 100 actual positives in A, 10 were predicted positive; of 100 such others, 75. At least 58 fewer per 100."
    ]
    assert a.to_text().startswith("Audit of 1,580 cases in 2 groups by group\n")


def test_headlines_speak_of_defendants() -> None:
    a = eh.audit_counts(compas(), by="race", favourable="negative", **RISK)
    found = said(a)
    assert found["African-American", "fpr"].startswith(
        "Of 100 defendants in African-American who were not charged again, about 45 were called risky; of 100 such "
        "others, about 22. At least "
    )
    assert found["African-American", "ppr"].startswith(
        "Of 100 defendants in African-American, about 59 were called risky; of 100 among the others, about 32. At "
        "least "
    )
    assert a.to_text().startswith("Audit of 7,214 defendants in 6 groups by race\n")


def test_headlines_have_the_numbers_of_generic_ones() -> None:
    """Words change no number, no order and no group."""
    plain, own = (eh.audit_counts(compas(), by="race", favourable="negative", **words) for words in ({}, RISK))
    assert plain.rows == own.rows
    assert [re.findall(r"\d+", s) for s in said(plain).values()] == [re.findall(r"\d+", s) for s in said(own).values()]
    assert list(said(plain)) == list(said(own))


def test_headlines_in_pairs_of_clauses() -> None:
    found = said(eh.audit_counts(TWO, metrics=["tpr", "fpr", "ppv", "npv"], **LOANS))
    assert found["A", "tpr"].startswith(
        "Of 100 borrowers in A who repaid, 10 got a loan; of 100 such others, 75. At least "
    )
    assert any(s.startswith("Of 100 borrowers in B who got a loan, about 71 repaid; of ") for s in found.values())


def test_a_named_group_is_not_said_twice() -> None:
    names = {"race": {"A": "African-American defendants", "B": "White defendants"}}
    a = eh.audit_counts(TWO, by="race", group_names=names, metrics="tpr", reference={"race": "B"}, **RISK)
    assert next(iter(said(a).values())).startswith(
        "Of 100 African-American defendants who were charged again, 10 were called risky; of 100 such White "
        "defendants, "
    )


def test_images_that_were_flagged() -> None:
    words: Any = {
        "wording": {"cases": "images that", "outcome": "malignant", "decision": "flagged"},
    }
    a = eh.audit_counts(TWO, by="site", metrics="tpr", **words)
    assert next(iter(said(a).values())).startswith(
        "Of 100 images in A that were malignant, 10 were flagged; of 100 such others"
    )
    assert a.to_text().startswith("Audit of 1,580 images in 2 groups by site\n")


# Other sentences


def test_what_is_lacking_is_said_in_the_same_words() -> None:
    a = eh.audit_counts({"A": (6, 3, 2, 21), "C": (2800, 1100, 1100, 5000)}, metrics=["tpr"], **RISK)
    (step,) = next_steps(a.rows, a.settings)
    assert re.fullmatch(
        r"To find a true gap of 0\.1 with a probability of about 80%, if the reference's score is the one observed: "
        r"for tpr of A, collect about [\d,]+ more defendants who were charged again \(there are 9\)\.", step
    ), step  # fmt: skip
    assert re.fullmatch(
        r"It takes [\d,]+ defendants who were charged again to find a true gap of 0\.1 with a probability of 80%; "
        r"there are 9\.", needed_text(row(a, "A"), a.settings)
    )  # fmt: skip


def test_unknown_groups_are_said_in_the_same_words() -> None:
    counts = {"A": (10, 10, 0, 0), "B": (80, 20, 0, 0), None: (5, 5, 0, 0)}
    a = eh.audit_counts(counts, metrics="tpr", **RISK)
    assert turning_text(a.rows[0], a.settings) == (
        "The group of 10 defendants who were charged again is unknown; learning it for about 4 of them could change "
        "this verdict."
    )


def test_four_fifths_are_said_of_the_favourable_decision() -> None:
    expected: tuple[tuple[Any, str, str], ...] = (
        ("negative", "B", "were not called risky"),
        ("positive", "A", "were called risky"),
    )
    for favourable, whose, decision in expected:
        a = eh.audit_counts(TWO, metrics="ppr", favourable=favourable, **RISK)
        (found,) = [f.sentence for f in a.findings if f.kind == "four-fifths"]
        assert found.startswith(f"The share of defendants in {whose} who {decision} is 0.")


def test_the_report_says_what_is_good_for_a_person() -> None:
    pages = {
        words: eh.audit_counts(TWO, metrics="ppr", **given).to_html()
        for words, given in {
            "not said": RISK,
            "a negative prediction (were not called risky)": RISK | {"favourable": "negative"},
            "a positive prediction (got a loan)": LOANS | {"favourable": "positive"},
            "a positive prediction": {"favourable": "positive"},
        }.items()
    }
    for words, page in pages.items():
        assert f"<dt>Good for a person</dt><dd>{words}</dd>" in page


def test_words_from_settings_are_only_text() -> None:
    given: Any = {
        "wording": {"cases": "<b>defendants</b>", "outcome": "<i>charged</i> again", "decision": ["<u>x", "\x1b[31my"]},
    }
    a = eh.audit_counts(TWO, favourable="negative", **given)
    for text in (a.to_html(), a._repr_html_(), a.to_markdown()):
        assert not any(tag in text for tag in ("<b>d", "<i>c", "<u>x", "\x1b"))
    assert "\x1b" not in a.to_text()


# Round trips


SPELLED = [
    (RISK, "--cases defendants --outcome 'charged again' --decision 'called risky'"),
    (LOANS, "--cases borrowers --outcome 'repaid/did not repay' --decision 'got a loan/got none'"),
    ({"wording": {"cases": "images that"}}, "--cases 'images that'"),
]


@pytest.mark.parametrize("words", [RISK, LOANS])
def test_words_survive_json(words: dict[str, Any]) -> None:
    a = eh.audit_counts(TWO, **words)
    again = Audit.from_json(a.to_json())
    assert again == a
    assert again.to_text() == a.to_text()
    recorded = {name: list(value) if isinstance(value, tuple) else value for name, value in words["wording"].items()}
    assert json.loads(a.to_json())["settings"]["wording"] == recorded


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A CSV file in the current folder."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{'AB'[i % 2]},{i // 2 % 2},{int(i % 7 < 3)}" for i in range(60)]
    Path("d.csv").write_text("\n".join(["race,y,p", *lines]) + "\n", "utf-8")
    return "d.csv"


COLUMNS: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "race", "metrics": ["tpr"]}


@pytest.mark.parametrize(("words", "options"), SPELLED)
def test_words_are_options_of_the_command(words: dict[str, Any], options: str, file: str) -> None:
    a = eh.audit(file, **COLUMNS, **words)
    columns = "--label y --prediction p --group race --metric tpr --json -"
    again = CliRunner().invoke(evenhand, ["audit", file, *shlex.split(f"{columns} {options}")])
    assert again.exit_code == 0, again.output
    assert Audit.from_json(again.stdout).findings == a.findings
    assert Audit.from_json(again.stdout).settings["wording"] == a.settings["wording"]
    assert a.changes(a.repeat()) == []


def test_words_may_come_from_a_file(file: str) -> None:
    Path("audit.toml").write_text(
        'label = "y"\nprediction = "p"\ngroup = "race"\nmetric = "tpr"\ncases = "borrowers"\n'
        'outcome = "repaid/did not repay"\ndecision = "got a loan/got none"\nfavourable = "positive"\n',
        "utf-8",
    )
    done = CliRunner().invoke(evenhand, ["audit", file, "--config", "audit.toml", "--json", "saved.json"])
    assert done.exit_code == 0, done.output
    a = Audit.from_json(Path("saved.json").read_text("utf-8"))
    assert a == eh.audit(file, **COLUMNS | {"groups": ["race"]}, favourable="positive", **LOANS)
    repeated = CliRunner().invoke(evenhand, ["audit", "--repeat", "saved.json"])
    assert repeated.exit_code == 0
    assert repeated.stdout.startswith("Audit of 60 borrowers in 2 groups by race\n")
    assert repeated.stdout.endswith("Nothing changed.\n")


def test_words_that_make_no_sentence_are_refused(file: str) -> None:
    """By the names of options or of arguments."""
    must = "must be what follows “were”, or a pair of clauses for positive and negative; got"
    cases = [
        ("--cases", " ", "must be a noun; got ' '"),
        ("--outcome", "", f"{must} ''"),
        ("--outcome", "repaid/", f"{must} ['repaid', '']"),
        ("--decision", "a/b/c", f"{must} ['a', 'b', 'c']"),
        ("--outcome", "was charged again", "must be what follows “were”, as 'charged again'; got 'was charged again'"),
    ]
    columns = ["--label", "y", "--prediction", "p", "--group", "race"]
    for option, value, sentence in cases:
        done = CliRunner().invoke(evenhand, ["audit", file, *columns, option, value])
        assert (done.exit_code, done.stderr) == (2, f"Error: {option} {sentence}\n")
    with pytest.raises(InvalidInput) as refused:
        eh.audit_counts(TWO, wording={"outcome": ["repaid"]})
    assert str(refused.value) == f"wording['outcome'] {must} ['repaid']"

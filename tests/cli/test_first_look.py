"""``evenhand audit FILE`` without columns: what they are, what to type next, and exit code 2."""

from __future__ import annotations

import random
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hostile import STEERING, steers

from evenhand.cli import evenhand
from evenhand.cli.first_look import first_look
from evenhand.data import guess_roles
from evenhand.records import csv_text

NAMED = "the groups with --group, and --label, --prediction or --score"
REFUSED = f"No audit was run: name the columns to audit, {NAMED}.\n"


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(evenhand, words, input=stdin, catch_exceptions=False)


def written(path: Path, columns: dict[str, Any]) -> str:
    path.write_text(csv_text([columns, *zip(*columns.values(), strict=True)]), "utf-8")
    return str(path)


def compas(n: int = 300, **more: Any) -> dict[str, Any]:
    """A file as ProPublica's: 53 columns, two of them twice."""
    rng = random.Random(1)
    filled = {f"c_{i}": [f"{rng.random():.0f}{i}" for _ in range(n)] for i in range(46)}
    score = [rng.randint(1, 10) for _ in range(n)]
    return {
        "id": range(n),
        "sex": rng.choices(["Male", "Female"], k=n),
        "race": rng.choices(["African-American", "Caucasian", "Other"], k=n),
        **filled,
        "decile_score": score,
        "score_text": ["Low" if s < 5 else "Medium" if s < 8 else "High" for s in score],
        "is_recid": [rng.randint(0, 1) for _ in range(n)],
        "two_year_recid": [rng.randint(0, 1) for _ in range(n)],
    } | more


def suggested(result: Result) -> list[str]:
    """The words of the command that is printed, which must be followed by what to do and exit code 2."""
    assert result.exit_code == 2 and result.stderr == REFUSED
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("  evenhand "))
    return shlex.split(line)


def test_the_command_for_propublicas_file_is_ready_to_copy(tmp_path: Path) -> None:
    file = written(tmp_path / "compas.csv", compas())
    result = run("audit", file)
    words = suggested(result)
    assert words[3:] == [
        *("--label", "two_year_recid", "--prediction", "score_text", "--positive-prediction", "High"),
        *("--positive-prediction", "Medium", "--group", "race", "--group", "sex"),
    ]
    assert "compas.csv has 53 columns. In its first 300 rows: column guess" in " ".join(result.stdout.split())
    assert re.search(r"\nrace +--group +(Other|Caucasian|African-American), ", result.stdout)
    said = "- Choose the positive values of score_text: High, Low, Medium. Repeat --positive-prediction for each"
    assert f"{said} positive one." in " ".join(result.stdout.split())
    assert run(*words[1:]).exit_code == 0


@pytest.mark.slow
def test_what_is_suggested_can_be_run(tmp_path: Path) -> None:
    n, rng = 120, random.Random(2)
    y = [rng.randint(0, 1) for _ in range(n)]
    sex, pred = rng.choices("FM", k=n), [rng.randint(0, 1) for _ in range(n)]
    base = {"sex": sex, "y": y}
    both = ["--label", "y", "--prediction", "pred"]
    classes = rng.choices(["cat", "dog", "cow"], k=n)
    people = [i // 2 for i in range(n)]
    each: list[tuple[dict[str, Any], list[str]]] = [
        (base | {"pred": pred}, [*both, "--group", "sex"]),
        (base | {"p": [rng.random() for _ in y]},
         ["--label", "y", "--score", "p", "--threshold", "0.5", "--group", "sex"]),
        (base | {"pred": pred, "patient_id": people}, [*both, "--group", "sex"]),
        (base | {"sex": [sex[i] for i in people], "pred": pred, "patient_id": people},
         [*both, "--group", "sex", "--cluster", "patient_id"]),
        (base | {"pred": pred, "n": [rng.randint(1, 9) for _ in y]}, [*both, "--group", "sex", "--count", "n"]),
        ({"sex": sex, "y": classes, "pred": classes[::-1]}, [*both, "--class", "all", "--group", "sex"]),
        ({"sex": sex, "y": [v + 1 for v in y], "pred": [v + 1 for v in pred]},
         [*both, "--positive", "VALUE", "--group", "sex"]),
        ({"y": y, "pred": pred, "colour": sex}, [*both, "--group", "COLUMN"]),
        ({"sex": sex, "pred": pred}, ["--prediction", "pred", "--group", "sex"]),
        ({"sex": [sex[i] for i in people], "y": [y[i] for i in people], "pred": pred, "model": ["a", "b"] * (n // 2),
          "case": people, "case_id": people},
         [*both, "--model-column", "model", "--group", "sex", "--cluster", "case_id"]),
    ]  # fmt: skip
    for columns, options in each:
        words = suggested(run("audit", written(tmp_path / "d.csv", columns)))
        assert words[3:] == options
        assert words[1] == ("compare" if "model" in columns else "audit")
        left = " and ".join(word for word in ("COLUMN", "VALUE") if word in words)
        intro = f"\nIf the guesses are right, {f'fill in {left}, and ' if left else ''}type:\n"
        assert intro in run("audit", str(tmp_path / "d.csv")).stdout
        if not left:
            done = run(*words[1:])
            assert done.exit_code == 0, done.output


def test_columns_without_a_telling_name_are_offered_by_their_values(tmp_path: Path) -> None:
    n, rng = 60, random.Random(3)
    yes = {name: rng.choices(["yes", "no"], k=n) for name in ("seen", "kept", "sent")}
    site = rng.choices(["north", "south", "east"], k=n)
    two = run("audit", written(tmp_path / "d.csv", {"site": site} | yes))
    assert suggested(two)[3:] == ["--prediction", "COLUMN", "--group", "COLUMN"]
    said = " ".join(two.stdout.split())
    assert "No column has a name that suggests labels; name them with --label, such as --label seen, or audit" in said
    assert "has a name that suggests predictions; name them in place of COLUMN, such as --prediction seen." in said
    assert "has a name that suggests groups of people; name one or more with --group, such as --group site." in said
    one = run("audit", written(tmp_path / "d.csv", {"race": site, "ill": yes["seen"], "flagged": yes["kept"]}))
    assert suggested(one)[3:] == ["--label", "ill", "--prediction", "flagged", "--group", "race"]


def test_an_identifier_whose_groups_vary_is_mentioned(tmp_path: Path) -> None:
    n, rng = 60, random.Random(4)
    columns = {"patient_id": [i // 2 for i in range(n)], "ethnicity": rng.choices(["White", "white", "Black"], k=n),
               "ill": rng.choices(["yes", "no"], k=n), "flagged": rng.choices(["yes", "no"], k=n)}  # fmt: skip
    found = run("audit", written(tmp_path / "d.csv", columns))
    assert "--cluster" not in suggested(found)
    assert (
        "- patient_id repeats, so that rows may not be independent, but some of its values are in several groups. If "
        "one case has several rows, correct its group, or join spellings with --merge-variants, and add --cluster "
        "patient_id." in " ".join(found.stdout.split())
    )


def test_values_are_shown_whole_and_with_their_blanks(tmp_path: Path) -> None:
    dates = [f"2013-02-{day:02}" for day in range(1, 29)]
    columns = {"race": ["White", "White ", "a b", "a  b"] * 7, "a_rather_long_name_of_a_c": dates, "y": "01" * 14}
    found = run("audit", written(tmp_path / "d.csv", columns)).stdout
    assert "White, White␣, a b, a␣␣b\n" in found
    assert [found.count(date) for date in dates[:4]] == [1, 1, 1, 1]


def test_compare_lists_the_columns_too(tmp_path: Path) -> None:
    """Models in columns of their own have names that nobody can guess."""
    file = written(tmp_path / "d.csv", {"sex": "FM" * 9, "y": "01" * 9, "p1": "0011" * 4 + "01", "p2": "01" * 9})
    result = run("compare", file)
    refused = "name the columns to compare, the groups with --group, --label, and --model, --model-column or --score"
    assert (result.exit_code, result.stderr) == (2, f"No audit was run: {refused}.\n")
    assert f"  evenhand compare {file} --label y --model OLD=COLUMN --model NEW=COLUMN --group sex\n" in result.stdout
    said = " ".join(result.stdout.split())
    assert "All others are compared with the first, unless --baseline names another." in said
    assert "which decision is good for a person: add --favourable positive" in said


def test_standard_input_and_several_files(tmp_path: Path) -> None:
    columns = {"sex": "FM" * 9, "y": "01" * 9, "pred": "0011" * 4 + "01"}
    files = [written(tmp_path / f"{i}.csv", columns) for i in range(2)]
    assert suggested(run("audit", *files))[:4] == ["evenhand", "audit", *files]
    assert suggested(run("audit", "-", stdin=Path(files[0]).read_text("utf-8")))[:3] == ["evenhand", "audit", "-"]


def test_nothing_is_mixed_with_a_file_on_standard_output(tmp_path: Path) -> None:
    result = run("audit", written(tmp_path / "d.csv", {"sex": "FM", "y": "01"}), "--json", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(REFUSED) and "evenhand audit" in result.stderr


def test_columns_in_a_config_file_are_named(tmp_path: Path) -> None:
    file = written(tmp_path / "d.csv", {"sex": "FM" * 9, "y": "01" * 9, "pred": "0011" * 4 + "01"})
    config = tmp_path / "audit.toml"
    config.write_text('label = "y"\nprediction = "pred"\ngroup = ["sex"]\n', "utf-8")
    assert run("audit", file, "--config", str(config)).exit_code == 0


def test_hostile_names_and_values_do_not_steer_the_terminal(tmp_path: Path) -> None:
    columns = {STEERING: [STEERING, "b"], "x" * 5000: ["y" * 90_000, "z"], "race": [STEERING, "B"], "y": [0, STEERING]}
    result = run("audit", written(tmp_path / "d.csv", columns))
    assert result.exit_code == 2 and steers(result.output) == []
    assert max(map(len, result.output.splitlines())) < 400


def test_a_wide_table_is_listed_in_part(tmp_path: Path) -> None:
    result = run("audit", written(tmp_path / "d.csv", {f"c{i}": [i, i] for i in range(1000)}))
    assert "\nand 800 more columns\n" in result.stdout


def test_files_that_cannot_be_read_are_refused_as_always(tmp_path: Path) -> None:
    assert run("audit", str(tmp_path / "no.csv")).output == f"Error: there is no file {tmp_path}/no.csv\n"


@pytest.mark.parametrize("command", ["audit", "compare"])
@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("--positive Medium High", "--positive Medium --positive High"),
        ("--group sex race y", "--group sex --group race"),
        ("--label y --group=sex race", "--group sex --group race"),
    ],
)
def test_several_values_after_one_option_are_explained(command: str, words: str, typed: str, tmp_path: Path) -> None:
    """Click takes what follows the first value for a file."""
    file = written(tmp_path / "d.csv", {"sex": "FM", "y": "01"})
    word = typed.rsplit(maxsplit=1)[-1]
    expected = f"Error: there is no file {word}; for several values, type {typed}\n"
    for line in ([file, *words.split()], [*words.split(), file]):
        found = run(command, *line)
        assert (found.exit_code, found.output) == (2, expected)


def test_a_file_that_is_missing_is_a_file(tmp_path: Path) -> None:
    file = written(tmp_path / "d.csv", {"sex": "FM", "y": "01"})
    assert run("audit", "--prediction", "y", "--group", "sex", "zzzzz.csv", file).output.startswith(
        "Error: there is no file zzzzz.csv"
    )
    assert run("audit", "--prediction", "y", "--group", "sex", "zzzzz").output == "Error: there is no file zzzzz\n"


def test_a_table_of_counts_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "union table.csv"
    path.write_text("group,tp,fn,fp,tn\nA,1,2,3,4\nB,4,3,2,1\n", "utf-8")
    said = first_look(str(path), [path.name])
    assert said.endswith("\n  evenhand audit --counts 'union table.csv'")
    assert "looks like a table of counts" in said


def test_a_column_of_one_model_is_asked_about_if_it_has_more_rows_than_are_looked_at() -> None:
    many: dict[str, list[Any]] = {"model": ["logit"] * 20_000, "person": list(range(20_000)), "p": [0, 1] * 10_000}
    few = {name: values[:50] for name, values in many.items()}
    assert guess_roles({name: values[:10_000] for name, values in many.items()})["model_column"] == "model"
    assert guess_roles(few)["model_column"] is None

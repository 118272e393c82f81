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
from evenhand.records import csv_text

REFUSED = "No audit was run: type that command, or name other columns (see evenhand audit --help).\n"


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(evenhand, words, input=stdin, catch_exceptions=False)


def written(path: Path, columns: dict[str, Any]) -> str:
    path.write_text(csv_text([columns, *zip(*columns.values(), strict=True)]), "utf-8")
    return str(path)


def suggested(result: Result) -> list[str]:
    """The words of the suggested command, which must be followed by a hint and exit code 2."""
    assert result.exit_code == 2 and result.stderr == REFUSED
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("  evenhand "))
    return shlex.split(line)


def test_the_command_for_propublicas_file_is_ready_to_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """53 columns, some of them alike."""
    monkeypatch.chdir(tmp_path)
    rng, n = random.Random(1), 300
    score = [rng.randint(1, 10) for _ in range(n)]
    columns: dict[str, Any] = {
        "id": range(n),
        "sex": rng.choices(["Male", "Female"], k=n),
        "race": rng.choices(["African-American", "Caucasian", "Other"], k=n),
        **{f"c_{i}": [f"{rng.random():.0f}{i}" for _ in range(n)] for i in range(46)},
        "decile_score": score,
        "score_text": ["Low" if s < 5 else "Medium" if s < 8 else "High" for s in score],
        "is_recid": [rng.randint(0, 1) for _ in range(n)],
        "two_year_recid": [rng.randint(0, 1) for _ in range(n)],
    }
    result = run("audit", written(Path("compas.csv"), columns))
    words = suggested(result)
    assert words[3:] == [
        *("--label", "two_year_recid", "--prediction", "score_text", "--positive-prediction", "High"),
        *("--positive-prediction", "Medium", "--group", "race", "--group", "sex"),
    ]
    said = " ".join(result.stdout.split())
    assert "compas.csv has 53 columns. In its first 300 rows: column guess" in said
    assert re.search(r"\nrace +--group +(Other|Caucasian|African-American), ", result.stdout)
    assert "Choose the positive values of score_text (High, Low, Medium)" in said
    assert run(*words[1:]).exit_code == 0


@pytest.mark.slow
def test_suggested_commands_can_be_run(tmp_path: Path) -> None:
    n, rng = 120, random.Random(2)
    y, pred = ([rng.randint(0, 1) for _ in range(n)] for _ in range(2))
    sex, classes = rng.choices("FM", k=n), rng.choices(["cat", "dog", "cow"], k=n)
    base = {"sex": sex, "y": y}
    both = ["--label", "y", "--prediction", "pred"]
    people = [i // 2 for i in range(n)]
    stacked = {"sex": [sex[i] for i in people], "y": [y[i] for i in people], "pred": pred,
               "model": ["a", "b"] * (n // 2), "case": people, "case_id": people}  # fmt: skip
    examples: list[tuple[dict[str, Any], list[str]]] = [
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
        (stacked, [*both, "--model-column", "model", "--group", "sex", "--cluster", "case_id"]),
    ]  # fmt: skip
    for columns, options in examples:
        file = written(tmp_path / "d.csv", columns)
        words = suggested(run("audit", file))
        assert words[3:] == options
        assert words[1] == ("compare" if "model" in columns else "audit")
        left = " and ".join(word for word in ("COLUMN", "VALUE") if word in words)
        intro = f"\nIf the guesses are right, {f'fill in {left}, and ' if left else ''}type:\n"
        assert intro in run("audit", file).stdout
        if not left:
            done = run(*words[1:])
            assert done.exit_code == 0, done.output


def test_values_are_shown_whole_with_their_blanks_and_wide_tables_in_part(tmp_path: Path) -> None:
    dates = [f"2013-02-{day:02}" for day in range(1, 29)]
    columns = {"race": ["White", "White ", "a b", "a  b"] * 7, "a_rather_long_name_of_a_c": dates, "y": "01" * 14}
    found = run("audit", written(tmp_path / "d.csv", columns)).stdout
    assert "White, White␣, a b, a␣␣b\n" in found
    assert [found.count(date) for date in dates[:4]] == [1, 1, 1, 1]
    result = run("audit", written(tmp_path / "d.csv", {f"c{i}": [i, i] for i in range(1000)}))
    assert "\nand 800 more columns\n" in result.stdout


def test_compare_lists_the_columns_too(tmp_path: Path) -> None:
    """Models in columns of their own have names that nobody can guess."""
    file = written(tmp_path / "d.csv", {"sex": "FM" * 9, "y": "01" * 9, "p1": "0011" * 4 + "01", "p2": "01" * 9})
    result = run("compare", file)
    assert (result.exit_code, result.stderr) == (2, REFUSED.replace("audit --help", "compare --help"))
    assert f"  evenhand compare {file} --label y --model OLD=COLUMN --model NEW=COLUMN --group sex\n" in result.stdout


def test_standard_input_several_files_a_file_on_standard_output_and_a_config_file(tmp_path: Path) -> None:
    columns = {"sex": "FM" * 9, "y": "01" * 9, "pred": "0011" * 4 + "01"}
    files = [written(tmp_path / f"{i}.csv", columns) for i in range(2)]
    assert suggested(run("audit", *files))[:4] == ["evenhand", "audit", *files]
    assert suggested(run("audit", "-", stdin=Path(files[0]).read_text("utf-8")))[:3] == ["evenhand", "audit", "-"]
    result = run("audit", files[0], "--json", "-")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(REFUSED) and "evenhand audit" in result.stderr
    config = tmp_path / "audit.toml"
    config.write_text('label = "y"\nprediction = "pred"\ngroup = ["sex"]\n', "utf-8")
    assert run("audit", files[0], "--config", str(config)).exit_code == 0


def test_hostile_names_and_values_do_not_steer_the_terminal(tmp_path: Path) -> None:
    columns = {STEERING: [STEERING, "b"], "x" * 5000: ["y" * 90_000, "z"], "race": [STEERING, "B"], "y": [0, STEERING]}
    result = run("audit", written(tmp_path / "d.csv", columns))
    assert result.exit_code == 2 and steers(result.output) == []
    assert max(map(len, result.output.splitlines())) < 400


def test_several_values_after_one_option_are_explained_and_missing_files_are_files(tmp_path: Path) -> None:
    """click takes what follows the first value for a file."""
    file = written(tmp_path / "d.csv", {"sex": "FM", "y": "01"})
    sentence = "Error: there is no file High; to pass several values, repeat the option\n"
    for words in (["--positive", "Medium", "High"], ["--group", "sex", "High", "y"], ["--group=sex", "High"]):
        for line in (["audit", file, *words], ["compare", *words, file]):
            found = run(*line)
            assert (found.exit_code, found.output) == (2, sentence)
    columns = ["--prediction", "y", "--group", "sex"]
    for files in (["zzzzz.csv", file], ["zzzzz"], [str(tmp_path / "no.csv")]):
        assert run("audit", *columns, *files).output.startswith(f"Error: there is no file {files[0]}")


def test_a_table_of_counts_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "union table.csv"
    path.write_text("group,tp,fn,fp,tn\nA,1,2,3,4\nB,4,3,2,1\n", "utf-8")
    assert suggested(run("audit", str(path))) == ["evenhand", "audit", "--counts", str(path)]

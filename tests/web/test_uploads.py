"""Files that are sent to the page: their names, their size, and how many are kept."""

from __future__ import annotations

from pathlib import Path

from web_client import ROWS, App, two_years

TOO_LARGE = "is larger than 0.00953674 MB; choose a smaller file, or start the web app with a higher limit"


def test_files_are_kept_in_the_folder_only_and_not_beyond_the_limit(fresh: App, tmp_path: Path) -> None:
    sent = fresh.put("../../../etc/x.csv", ROWS.encode())
    found = fresh.answer(sent)
    assert list(found["columns"]) == ["race", "y", "yhat", "s"]
    guesses = {role: guess for role, guess in found["guesses"].items() if guess is not None}
    assert guesses == {"y_true": "y", "y_pred": "yhat", "groups": ["race"]}
    assert [path.name for path in tmp_path.rglob("*.csv")] == ["x.csv"]
    large = fresh.put("large.csv", b"x" * 20_000)
    assert (large.status_code, large.json()) == (400, {"error": f"large.csv {TOO_LARGE}"})
    assert [path.name for path in tmp_path.rglob("*.csv")] == ["x.csv"]


def test_a_file_of_the_limit_is_kept_and_one_byte_more_is_not(fresh: App, tmp_path: Path) -> None:
    """Also if its size is not said beforehand, or is said wrongly."""
    full = ("a,b\n" + "1,2\n" * 2499).encode()
    assert len(full) == 10_000
    assert fresh.put("full.csv", full).status_code == 200
    refused = {"error": f"over.csv {TOO_LARGE}"}
    for over in (full + b"\n", iter([full, b"\n"]), iter([b"a"] * 10_001)):
        answer = fresh.put("over.csv", over)
        assert (answer.status_code, answer.json()) == (400, refused)
    assert [path.name for path in tmp_path.rglob("*.csv")] == ["full.csv"]
    first = fresh.put("half.csv", full[:6_000])
    assert fresh.put("other.csv", iter([full[:4_000]]), beside=first.json()["file"]).status_code == 200
    assert fresh.put("over.csv", iter([b"a"]), beside=first.json()["file"]).status_code == 400
    assert sorted(path.name for path in tmp_path.rglob("*.csv")) == ["full.csv", "half.csv", "other.csv"]


def test_only_the_last_uploads_are_kept(fresh: App, tmp_path: Path) -> None:
    keys = [fresh.put(f"x{i}.csv", b"a,b\n1,2\n").json()["file"] for i in range(12)]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(keys[-8:])
    answer = fresh.post("values", {"file": keys[0], "columns": {"y_true": "a"}})
    gone = {"error": "the file is no longer available; choose it again"}
    assert (answer.status_code, answer.json()) == (400, gone)


def test_wrong_files_are_refused_while_they_arrive(fresh: App, tmp_path: Path) -> None:
    unnamed = "cannot be used: its name must have a stem and an extension"
    for name, content, sentence in (
        ("x.xlsx", b"x", "x.xlsx must be a CSV, TSV, JSON Lines or Parquet file by its extension (.csv, "
         ".tsv, .txt, .jsonl, .ndjson, .parquet or .pq; also .csv.gz)"),
        ("x.csv", b"", "x.csv is empty; there is nothing to audit"),
        ("", b"a", f"the file {unnamed}"),
        ("../~", b"a", f"../~ {unnamed}"),
    ):  # fmt: skip
        answer = fresh.put(name, content)
        assert (answer.status_code, answer.json()) == (400, {"error": sentence})
        assert list(tmp_path.iterdir()) == []


def test_several_files_are_audited_together(shared: App) -> None:
    head, *lines = two_years().splitlines(keepends=True)
    first = shared.put("a.csv", (head + "".join(lines[:200])).encode())
    rest = shared.put("b.csv", (head + "".join(lines[200:])).encode(), beside=first.json()["file"])
    assert shared.put("b.csv", b"a\n", beside=first.json()["file"]).json() == {
        "error": "there are two files called b.csv; rename one of them"
    }
    assert shared.put("c.parquet", b"a\n", beside=first.json()["file"]).json() == {
        "error": "data must be files of one kind; got CSV and Parquet files"
    }
    found = shared.answer(shared.post("values", {"file": rest.json()["file"], "columns": {"y_true": "two_year_recid"}}))
    assert sum(value["n"] for value in found["y_true"]["values"]) == 600
    asked = {"y_true": "two_year_recid", "y_score": "decile_score", "threshold": "5", "groups": ["race"]}
    made = shared.answer(shared.post("audit", {"file": rest.json()["file"], **asked}))
    whole = shared.answer(shared.post("audit", {"file": shared.upload("whole.csv", two_years()), **asked}))
    texts = [shared.report(one, "csv").text for one in (made, whole)]
    assert texts[0] == texts[1]
    sweep = shared.answer(shared.post("audit", {"file": rest.json()["file"], **asked, "threshold": "5, 8"}))
    assert sweep["title"].endswith("2 thresholds")

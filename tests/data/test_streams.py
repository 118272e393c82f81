"""What can be read only once: standard input, pipes and files without a size, and that no copy of them remains."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from decisions import CELLS, TABLE, write_csv, write_parquet

import evenhand as eh
from evenhand.data import files

WORDS = ["--label", "y", "--prediction", "p", "--group", "g", "--metric", "acc"]
pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")


def piped(path: Path, content: bytes) -> Path:
    """A pipe with a name into which the content is written."""
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=[content], daemon=True).start()
    return path


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(eh.__file__).parent.parent)}
ASKED: Any = {"y_true": "y", "y_pred": "p", "groups": "g", "metrics": "acc"}


def run(*words: str, folder: Path, content: str = "") -> subprocess.CompletedProcess[str]:
    environment = ENVIRONMENT | {"TMPDIR": str(folder)}
    return subprocess.run(words, input=content, capture_output=True, text=True, check=False, env=environment)


def audit_input(folder: Path, content: str) -> str:
    """What the command says of standard input."""
    return run(sys.executable, "-m", "evenhand", "audit", "-", *WORDS, folder=folder, content=content).stderr


def cells(path: Path) -> dict[tuple[str], tuple[float, ...]]:
    return {(row.group,): tuple(row.cells or ()) for row in eh.audit(path, **ASKED).rows}


def refusal(path: Path | str) -> str:
    with pytest.raises(eh.EvenhandError) as found:
        eh.audit(path, **ASKED)
    return str(found.value)


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "spool").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spool"))
    return tmp_path / "spool"


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path, spool: Path) -> None:
    stored = tmp_path / "stored"
    for name in ("pipe", "pipe.csv", "pipe.parquet"):
        (write_parquet if name.endswith("parquet") else write_csv)(TABLE, stored)
        assert cells(piped(tmp_path / name, stored.read_bytes())) == CELLS
    path = piped(tmp_path / "models", b"g,y,a,b\n" + b"x,1,1,0\nx,0,1,1\nz,1,0,0\nz,0,0,1\n" * 5)
    c = eh.compare(str(path), y_true="y", models={"a": "a", "b": "b"}, groups="g", metrics="acc")
    assert (c.n, c.provenance["source"]["paths"]) == (20, [str(path)])
    assert list(spool.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads what Linux says of a process")
def test_a_file_without_a_size_is_read(spool: Path) -> None:
    assert refusal("/proc/self/limits").startswith("no column is called 'g'")


def test_messages_name_what_was_given_and_not_the_copy(tmp_path: Path, spool: Path) -> None:
    must = "must have 3 values, as its header has; got 2 values"
    assert refusal(piped(tmp_path / "pipe", b"g,y,p\na,1\n")) == f"line 2 of {tmp_path}/pipe {must}"
    assert refusal(piped(tmp_path / "empty", b"")) == f"{tmp_path}/empty is empty; there is nothing to audit"
    assert audit_input(spool, "g,y,p\na,1\n") == f"Error: line 2 of standard input {must}\n"
    assert audit_input(spool, "") == "Error: standard input is empty; there is nothing to audit\n"
    said = audit_input(spool, "PAR1 and no more")
    assert said.startswith("Error: standard input cannot be read: ")
    assert "evenhand-input" not in said
    assert list(spool.iterdir()) == []


def test_the_output_of_a_command_is_audited_and_looked_at(tmp_path: Path, spool: Path) -> None:
    write_csv(TABLE, tmp_path / "d.csv")
    audit = f"{sys.executable} -m evenhand audit <(cat {tmp_path}/d.csv)"
    done = run("bash", "-c", f"{audit} {' '.join(WORDS)} --csv {tmp_path}/out.csv", folder=spool)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "evenhand audit: 63.csv, 5 cases, g (2 groups)")
    done = run("bash", "-c", audit, folder=spool)
    assert done.stdout.splitlines()[0].endswith(" has 3 columns. In its first 5 rows:")
    assert done.stderr.startswith("No audit was run: type that command, or name other columns")
    assert list(spool.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can become another user")
def test_another_user_can_read_no_copy_and_is_told_what_cannot_be_written(tmp_path: Path, spool: Path) -> None:
    """Neither what was piped in, nor a report that is being written; a folder of others is a sentence, not a crash."""
    nobody = 65_534
    for folder in [*tmp_path.parents, tmp_path, spool]:
        if str(folder).startswith("/tmp/"):
            folder.chmod(folder.stat().st_mode | 0o755)

    def as_nobody(code: str, before: str = "pass") -> str:
        drop = f"import os; os.setgid({nobody}); os.setuid({nobody})"
        # Others cannot write what coverage notes.
        kept = {name: value for name, value in ENVIRONMENT.items() if not name.startswith("COVERAGE")}
        words = [sys.executable, "-c", f"{before}\n{drop}\n{code}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=kept)
        return done.stderr.splitlines()[-1]

    with files.spool(piped(tmp_path / "pipe", b"g,y\na,1\n")) as copy:
        assert as_nobody(f"open({copy!r})") == f"PermissionError: [Errno 13] Permission denied: {copy!r}"
    out = tmp_path / "mine" / "x.html"
    out.parent.mkdir()
    # All that is imported is read before, since it may be in a home that is closed to others.
    made = "import evenhand as eh; a = eh.audit_counts(eh.examples.compas(), metrics='tpr'); a.to_html()"
    assert as_nobody(f"a.to_html({str(out)!r})", made) == (
        f"evenhand.errors.InvalidInput: {out} cannot be written: Permission denied"
    )


def test_a_copy_is_private_and_what_a_killed_process_leaves_is_removed(tmp_path: Path, spool: Path) -> None:
    code = (
        "import os, sys, signal, evenhand.cli.audit as cli\n"
        "from evenhand.__main__ import main\n"
        "cli.read_arguments = lambda *_: {'y_true': 'y'}\n"
        "def audit(path, **_):\n"
        "    modes = (oct(os.stat(one).st_mode & 0o777) for one in (path, os.path.dirname(path)))\n"
        "    print(*modes, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "import evenhand.auditing\n"
        "evenhand.auditing.audit = audit\n"
        f"sys.argv = ['evenhand', 'audit', '-', *{WORDS!r}]\n"
        "main()\n"
    )
    done = run(sys.executable, "-c", code, folder=spool, content="g,y,p\na,1,1\n")
    assert done.stdout == "0o600 0o700\n", done.stderr
    assert len(list(spool.rglob("input.csv"))) == 1
    with files.spool(piped(tmp_path / "pipe", b"g,y\na,1\n")) as copy:
        assert [path.name for path in spool.rglob("*.csv")] == [Path(copy).name]
    assert list(spool.iterdir()) == []

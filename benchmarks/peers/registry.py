"""The peers: what they are called, how they are installed, and in which environment each one is asked.

A peer that this environment has is asked here. The others need one of their own, since some pin what others need
newer: ``--environments DIR`` makes it. Each call is a process of its own, so that nothing of one peer is left for the
next.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["PEERS", "Desk", "Peer", "Refused"]

ADAPTERS = Path(__file__).parent / "adapters"
# Tasks whose answers are times.
TIMED = ("speed", "monte_carlo")


@dataclass(frozen=True)
class Peer:
    """A library: its name, what pip installs, and what Python imports."""

    name: str
    package: str
    module: str
    extras: tuple[str, ...] = ()

    @property
    def adapter(self) -> Path:
        """The script that speaks to it."""
        return ADAPTERS / f"with_{self.module}.py"


PEERS = {
    peer.name: peer
    for peer in (
        Peer("evenhand", "evenhand", "evenhand"),
        Peer("scikit-learn", "scikit-learn", "sklearn"),
        Peer("fairlearn", "fairlearn", "fairlearn"),
        Peer("PyCM", "pycm", "pycm"),
        Peer("statsmodels", "statsmodels", "statsmodels"),
        Peer("vfairness", "vfairness", "vfairness"),
        Peer("fairpipe", "fairpipe", "fairpipe"),
        Peer("equiboots", "equiboots", "equiboots"),
        Peer("prob_conf_mat", "prob_conf_mat", "prob_conf_mat"),
        Peer("confidenceinterval", "confidenceinterval", "confidenceinterval"),
        Peer("aequitas", "aequitas", "aequitas"),
        Peer("mcmetrics", "mcmetrics", "mcmetrics"),
        Peer("holisticai", "holisticai", "holisticai", ("networkx", "seaborn")),
        Peer("fairaudit", "fairaudit", "fairaudit"),
        Peer("fairscope", "fairscope", "fairscope"),
    )
}


class Refused(Exception):
    """A peer that gave no answer, and why."""


def without_places(text: str) -> str:
    """Text without addresses and paths, which belong to one machine."""
    return re.sub(r"(\w+://|(?<![\w.])/)\S+", "…", text)


@dataclass
class Desk:
    """Where peers are asked: the Python of each, what was learned about them, and a folder where answers are kept."""

    environments: Path | None = None
    kept: Path | None = None
    pythons: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)

    def find(self, name: str) -> None:
        """Find or make an environment for a peer, or note why there is none."""
        peer = PEERS[name]
        if find_spec(peer.module):
            self.pythons[name] = sys.executable
        elif self.environments is None:
            self.missing[name] = "not installed here, and no folder of environments was given"
        else:
            folder = self.environments / peer.package
            python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
            complete = folder / "complete"
            if not complete.exists():
                subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
                command = [str(python), "-m", "pip", "install", "--quiet", peer.package, *peer.extras]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
                    self.missing[name] = without_places(errors[-1] if errors else "pip could not install it")
                    return
                complete.touch()
            self.pythons[name] = str(python)

    def place(self, name: str, task: str, jobs: tuple[dict[str, Any], ...]) -> Path | None:
        """Where the answers to these jobs are kept; times are never kept."""
        if self.kept is None or task in TIMED:
            return None
        self.kept.mkdir(parents=True, exist_ok=True)
        code = ast.dump(ast.parse(PEERS[name].adapter.read_text()))
        digest = hashlib.sha256(json.dumps([name, task, jobs, code]).encode()).hexdigest()[:16]
        return self.kept / f"{name}-{task}-{digest}.json"

    def ask(self, name: str, task: str, *jobs: dict[str, Any], limit: float = 7200) -> list[Any]:
        """The peer's answers to jobs of one kind; `Refused` if it has none within the limit of seconds."""
        if name not in self.pythons:
            raise Refused(self.missing[name])
        asked_before = self.place(name, task, jobs)
        if asked_before and asked_before.exists():
            found = json.loads(asked_before.read_text())
            self.versions[name] = found["version"]
            return list(found["answers"])
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            asked, reply = Path(folder, "jobs.json"), Path(folder, "answers.json")
            asked.write_text(json.dumps(jobs))
            command = [self.pythons[name], str(PEERS[name].adapter), task, str(asked), str(reply)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
            except subprocess.TimeoutExpired:
                raise Refused(f"no answer within {limit:.0f} seconds") from None
            if done.returncode or not reply.exists():
                raise Refused(without_places((done.stderr.strip().splitlines() or ["no answer"])[-1]))
            found = json.loads(reply.read_text())
        self.versions[name] = found["version"]
        taken = time.perf_counter() - start
        self.spent[name] = self.spent.get(name, 0.0) + taken
        print(f"{taken:6.1f} s  {name}: {task}", file=sys.stderr, flush=True)
        if asked_before:
            asked_before.write_text(json.dumps(found))
        return list(found["answers"])

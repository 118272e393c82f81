"""What evenhand stands on: every installed package that it needs, its licence, and what is known against it.

Nothing is fetched. Known vulnerabilities are looked up in a copy of the OSV database for PyPI, an archive of JSON files
(all.zip) that somebody who is online brings along; without it this says that nothing was looked up, and does not call
that a success.

    python benchmarks/dependencies.py
    python benchmarks/dependencies.py --advisories all.zip

Exit codes: 0 nothing is known against any package, 1 something is, 2 nothing was looked up.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version


def found(extra: str) -> tuple[dict[str, tuple[Distribution, str]], list[str]]:
    """The installed packages that an extra needs, each with who asks for it, and the names of those that are not."""
    there: dict[str, tuple[Distribution, str]] = {}
    lacking: list[str] = []
    asked = [("evenhand", frozenset({extra}), "")]
    seen = set()
    while asked:
        name, extras, by = asked.pop(0)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            lacking.append(name)
            continue
        if name != "evenhand":
            there.setdefault(name, (package, by))
        asked += [
            (canonicalize_name(requirement.name), frozenset(requirement.extras), name)
            for requirement in map(Requirement, package.requires or [])
            if any(_applies(requirement, one) for one in {"", *extras})
        ]
    return there, sorted(set(lacking))


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def licence(package: Distribution) -> str:
    """The licence as the package states it."""
    about = package.metadata
    classifiers = [c.rpartition(" :: ")[2] for c in about.get_all("Classifier") or [] if c.startswith("License ::")]
    words = about.get_all("License-Expression") or classifiers or about.get_all("License") or ["?"]
    return ", ".join(text.splitlines()[0] for text in words)


def advisories(path: Path) -> Iterator[dict[str, Any]]:
    """All advisories in an archive that have not been withdrawn."""
    with ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".json"):
                one = json.loads(archive.read(name))
                if not one.get("withdrawn"):
                    yield one


def concerns(affected: dict[str, Any], version: str) -> bool:
    """Whether a version is among those that are affected: listed, or introduced and not yet fixed."""
    if version in affected.get("versions", []):
        return True
    for one in affected.get("ranges", []):
        inside = False
        for event in one.get("events", []) if one.get("type") == "ECOSYSTEM" else []:
            ((kind, since),) = event.items()
            try:
                reached = since == "0" or Version(version) >= Version(since)
                beyond = since != "0" and Version(version) > Version(since)
            except InvalidVersion:
                continue
            if kind == "introduced" and reached:
                inside = True
            elif (kind == "fixed" and reached) or (kind == "last_affected" and beyond):
                inside = False
        if inside:
            return True
    return False


def main() -> int:
    """Print the packages and what is known against them."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--extra", default="all", help="the extra whose packages are listed (all)")
    parser.add_argument("--advisories", type=Path, metavar="ZIP", help="a copy of the OSV database for PyPI")
    asked = parser.parse_args()
    packages, lacking = found(asked.extra)
    for name, (package, by) in sorted(packages.items()):
        print(f"{name:24} {package.version:14} {licence(package):50} needed by {by}")
    for name in lacking:
        print(f"{name:24} is not installed, so what it needs is not listed")
    if asked.advisories is None:
        print("\nNot looked up: vulnerabilities. Pass --advisories with a copy of the OSV database for PyPI.")
        return 2
    looked = known = 0
    for advisory in advisories(asked.advisories):
        looked += 1
        for affected in advisory.get("affected", []):
            where = affected.get("package", {})
            name = canonicalize_name(where.get("name", ""))
            if where.get("ecosystem") == "PyPI" and name in packages and concerns(affected, packages[name][0].version):
                known += 1
                print(f"\n{name} {packages[name][0].version}: {advisory['id']} {advisory.get('summary', '')}")
    if not looked:
        print(f"\nNot looked up: {asked.advisories} contains no advisories.")
        return 2
    print(f"\nLooked up {len(packages)} packages in {looked:,} advisories: {known} known vulnerabilities.")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())

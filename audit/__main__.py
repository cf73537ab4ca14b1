"""Compare what is installed with the lock file, and write bill of materials and licences from it.

``make audit`` reads the metadata of installed packages and nothing else: it works offline.
``make audit ARGS=--write`` records what is installed now as what was tested.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
LOCK, BILL, LICENCES = HERE / "lock.txt", HERE / "sbom.cdx.json", HERE / "licences.md"
ROOT, EXTRA = "pertinent", "test"
#: What users get, too, beside the core.
FOR_USERS = ("arrow", "cli", "dask", "fast", "global", "pandas", "plot")
#: Words of licences that oblige nobody who only uses a package, as we do.
KNOWN = ("MIT", "BSD", "Apache", "PSF", "Python Software Foundation", "ISC", "MPL", "Mozilla",
         "HPND", "Unlicense", "CC0", "Zlib", "0BSD", "EPL", "Historical Permission")  # fmt: skip

Found = dict[str, tuple[Distribution, set[str]]]


def installed(root: str, extras: tuple[str, ...]) -> Found:
    """Return all packages that a package needs, with what each of them needs, by name."""
    found: Found = {}
    waiting = [(root, frozenset(extras))]
    seen = set(waiting)
    while waiting:
        name, wanted = waiting.pop()
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # needed on another system or Python only
        needs = found.setdefault(name, (package, set()))[1]
        for text in package.requires or ():
            needed = Requirement(text)
            holds = [{"extra": extra} for extra in ("", *wanted)]
            if needed.marker and not any(needed.marker.evaluate(h) for h in holds):
                continue
            one = (str(canonicalize_name(needed.name)), frozenset(needed.extras))
            needs.add(one[0])
            if one not in seen:
                seen.add(one)
                waiting.append(one)
    return dict(sorted(found.items()))


def licence(package: Distribution) -> str:
    """Return the licence that a package states: an expression, a classifier, or a short text."""
    about = package.metadata
    said = about.get("License-Expression")
    if said:
        return str(said)
    listed = [c.split(" :: ")[-1] for c in about.get_all("Classifier") or () if "License ::" in c]
    listed = [name for name in listed if name != "OSI Approved"]
    if listed:
        return " and ".join(sorted(set(listed)))
    lines = str(about.get("License") or "").strip().splitlines()
    for path in package.files or ():
        if not lines and path.name.upper().startswith("LICEN"):
            lines = Path(str(path.locate())).read_text(encoding="utf-8").strip().splitlines()
    return lines[0][:60] if lines else "not stated"


def lock(found: Found) -> str:
    """Return the lock file: a requirements file that pip reads."""
    lines = [f"{name}=={package.version}" for name, (package, _) in found.items() if name != ROOT]
    return "\n".join(["# The versions that all checks ran with; see `make audit`.", *lines, ""])


def bill(found: Found, users: Found) -> dict[str, Any]:
    """Return the bill of materials, as CycloneDX 1.6."""

    def component(name: str, package: Distribution, kind: str = "library") -> dict[str, Any]:
        reference = f"pkg:pypi/{name}@{package.version}"
        out = {
            "type": kind,
            "name": name,
            "version": package.version,
            "bom-ref": reference,
            "purl": reference,
            "licenses": [{"license": {"name": licence(package)}}],
        }
        if kind == "library":
            out["scope"] = "required" if name in users else "excluded"
        return out

    references = {
        name: f"pkg:pypi/{name}@{package.version}" for name, (package, _) in found.items()
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component(ROOT, found[ROOT][0], "application")},
        "components": [component(n, package) for n, (package, _) in found.items() if n != ROOT],
        "dependencies": [
            {
                "ref": references[name],
                "dependsOn": sorted(references[n] for n in needs if n in found),
            }
            for name, (_, needs) in found.items()
        ],
    }


def licences(found: Found, users: Found) -> str:
    """Return the table of licences."""
    lines = ["# Licences of what the project uses", "",
             "| package | version | licence | for |", "|---|---|---|---|"]  # fmt: skip
    for name, (package, _) in found.items():
        purpose = "use" if name in users else "work on it"
        lines.append(f"| {name} | {package.version} | {licence(package)} | {purpose} |")
    return "\n".join([*lines, ""])


def differences(found: Found) -> list[str]:
    """Return what is installed and was not tested like this, and licences that nobody looked at."""
    locked = {line.strip() for line in LOCK.read_text().splitlines() if "==" in line}
    now = set(lock(found).splitlines()[1:])
    wrong = [f"installed, not in the lock file: {line}" for line in sorted(now - locked)]
    wrong += [f"in the lock file, not installed: {line}" for line in sorted(locked - now)]
    for name, (package, _) in found.items():
        if not any(word in licence(package) for word in KNOWN):
            wrong.append(f"look at the licence of {name}: {licence(package)}")
    return wrong


def main(arguments: list[str]) -> int:
    """Compare, or with ``--write`` record; return 1 if anything differs."""
    found, users = installed(ROOT, (EXTRA,)), installed(ROOT, FOR_USERS)
    if "--write" in arguments:
        LOCK.write_text(lock(found))
        BILL.write_text(json.dumps(bill(found, users), indent=1) + "\n")
        LICENCES.write_text(licences(found, users))
    wrong = differences(found)
    print("\n".join(wrong) or f"{len(found) - 1} packages as tested, all licences known.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""
Try the tests: `python -m tests.mutants --count 200 --seed 7`.

Draws places in `core`, `shell/store` and `apps`, or in the modules that changed since a revision,
changes one at a time, and says which changes no test noticed. Survivors that change nothing a user
could see are explained in `explained.py`. Exit code 1 when others survived. With `--page` a draw
from all modules becomes a page of evidence.
"""

import argparse
import platform
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from random import Random

from tests.mutants.explained import EXPLAINED
from tests.mutants.judge import ROOT, Judge
from tests.mutants.report import Fate, report
from tests.mutants.sites import Mutant, mutants_of
from tests.oracle.random_cases import SEED
from tests.prove.runner import revision

_UNDER = ["src/gnomon/core", "src/gnomon/shell/store", "src/gnomon/apps"]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="how many are drawn; default: 20")
    parser.add_argument("--seed", default=str(SEED), help="which ones are drawn")
    parser.add_argument("--since", help="only modules that changed since this revision")
    parser.add_argument("--under", nargs="*", default=_UNDER, help="where modules are taken from")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once; default: 2")
    parser.add_argument("--list", action="store_true", help="print the draw and try nothing")
    parser.add_argument("--page", action="store_true", help="write docs/evidence/mutants.md")
    given = parser.parse_args(arguments)
    if given.page and (given.since or given.under != _UNDER):
        parser.error("--page is for a draw from all modules")
    drawn = draw(_modules(given.under, given.since), count=given.count, seed=given.seed)
    print(f"seed {given.seed}, {len(drawn)} mutants", flush=True)
    if given.list:
        print("\n".join(map(str, drawn)))
        return 0
    about = {"revision": revision(), "python": platform.python_version(), "seed": given.seed}
    begun = time.monotonic()
    fates = _try_all(drawn, jobs=given.jobs)
    if given.page:
        about |= {"wall_s": round(time.monotonic() - begun, 1)}
        report(ROOT / "docs" / "evidence" / "mutants.md", fates, about)
    return 1 if any(fate.word == "survived" for fate in fates) else 0


def draw(modules: Iterable[Path], *, count: int, seed: str) -> list[Mutant]:
    """`count` mutants, each site with the same chance, none twice."""
    sites = [
        mutant
        for path in sorted(modules)
        for mutant in mutants_of(path.relative_to(ROOT).as_posix(), path.read_text())
    ]
    return Random(seed).sample(sites, min(count, len(sites)))


def _modules(under: list[str], since: str | None) -> list[Path]:
    found = [path for place in under for path in _files(ROOT / place)]
    if since is None:
        return found
    said = subprocess.run(
        ["git", "diff", "--name-only", since, "--", "src"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    changed = {ROOT / name for name in said.stdout.split()}
    return [path for path in found if path in changed]


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def _try_all(drawn: list[Mutant], *, jobs: int) -> list[Fate]:
    judges: SimpleQueue[Judge] = SimpleQueue()
    made = [Judge() for _ in range(min(jobs, len(drawn)))]
    for judge in made:
        judges.put(judge)

    def one(mutant: Mutant) -> Fate:
        judge = judges.get()
        try:
            tests = judge.noticed_by(mutant)
        finally:
            judges.put(judge)
        why = EXPLAINED.get((mutant.path, " ".join(mutant.before.split()), mutant.after), "")
        word = "noticed" if tests else "explained" if why else "survived"
        return Fate(mutant, word, "" if tests else why)

    fates = []
    try:
        with ThreadPoolExecutor(jobs) as pool:
            for number, fate in enumerate(pool.map(one, drawn), start=1):
                fates.append(fate)
                said = "SURVIVED" if fate.word == "survived" else fate.word
                why = f": {fate.why}" if fate.why else ""
                print(f"{number}/{len(drawn)} {said}{why}: {fate.mutant}", flush=True)
    finally:
        for judge in made:
            judge.close()
    words = Counter(fate.word for fate in fates)
    print(f"{len(drawn)} mutants: {words['noticed']} noticed, {words['explained']} explained")
    print(f"{words['survived']} survived")
    for fate in fates:
        if fate.word == "survived":
            print(f"SURVIVED {fate.mutant}")
    return fates


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Who is measured: each engine with its adapter, its environment, and what to know about it."""

from benchmarks.harness.contender import Contender

__all__ = ["GNOMON", "REELAY", "ROSTER", "RTAMT"]

_ENGINES = "benchmarks.theory.engines"

GNOMON = Contender(
    name="gnomon",
    entry=f"{_ENGINES}.gnomon:GnomonEngine",
    note="`Monitor`, all sixteen axioms at once, also where the peers evaluate one formula.",
)
REELAY = Contender(
    name="reelay",
    entry=f"{_ENGINES}.reelay:ReelayEngine",
    environment="reelay",
    requirements=("reelay",),
    note="C++ behind a Python binding, boolean semantics, every step answered. Its own figures "
    "from C++ are several times higher; a dictionary for each step is what Python costs.",
)
RTAMT = Contender(
    name="rtamt",
    entry=f"{_ENGINES}.rtamt:RtamtEngine",
    environment="rtamt",
    requirements=("rtamt", "antlr4-python3-runtime"),
    note="Online, in Python, quantitative semantics: it says not only whether but by how much. Its "
    "C++ backend is not in the wheel.",
)
ROSTER = (GNOMON, REELAY, RTAMT)

"""
Decisions: which second of its window a period runs at.

Here belongs everything between a nominal instant and the chosen one: the window around it, the
seed drawn from the period, the stream of numbers, the shape they are given, and the constraints
that a candidate must meet. All of it is a function of the definition and the nominal instant.

Here does not belong where nominal instants come from (`core.recurrence`), nor what happens at or
after the chosen instant: deadlines, overlap, catch-up and outcomes are policies and facts, and a
decision knows neither `now` nor the ledger.
"""

from gnomon.core.decision.constraint import Constraint
from gnomon.core.decision.constraint_text import parse_constraint, render_constraint
from gnomon.core.decision.decide import Decider, decide, recompute
from gnomon.core.decision.distribution import Distribution
from gnomon.core.decision.distribution_text import make_distribution, parse_distribution
from gnomon.core.decision.draw import jitter_ms
from gnomon.core.decision.record import Chosen, Decision, Unschedulable
from gnomon.core.decision.seed import SeedStrategy, parse_seed_strategy
from gnomon.core.decision.window import Placement, Window, WindowRule, parse_window, place

__all__ = [
    "Chosen",
    "Constraint",
    "Decider",
    "Decision",
    "Distribution",
    "Placement",
    "SeedStrategy",
    "Unschedulable",
    "Window",
    "WindowRule",
    "decide",
    "jitter_ms",
    "make_distribution",
    "parse_constraint",
    "parse_distribution",
    "parse_seed_strategy",
    "parse_window",
    "place",
    "recompute",
    "render_constraint",
]

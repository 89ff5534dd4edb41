"""
Which mutants may survive, and why?

By module, the text that was changed, and what it was changed to. Each changes nothing that a user
could see: another answer would be right as well, or the same answer is found more slowly.
"""

__all__ = ["EXPLAINED"]

EXPLAINED: dict[tuple[str, str, str], str] = {
    (
        "src/gnomon/apps/declarative/live_check.py",
        "passed_ms > _FROZEN_MS", "(passed_ms >= _FROZEN_MS)",
    ): "a pause of exactly this length may count as frozen or as slow",
}  # fmt: skip

"""
Policies: small pure functions from facts to a verdict.

Each module answers one question about periods that have come due: is it too late (`deadline`),
which of several still count (`catchup`), may one start now (`overlap`), when is a launch tried
again (`retry`). None of them knows about rows, stores or other policies; the engine asks them in
order and turns their verdicts into facts.
"""

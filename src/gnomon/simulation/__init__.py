"""
Simulation: the real doors over real stores, in worlds that one seed decides.

The `kit` has what every world is made of. Each scenario beside it (`ledger`, `declarative`,
`workflow`, `operator`) says three things: what is drawn, who acts, and what is judged. Nothing here
decides when something runs: that is the code under test, which is used as it is. The judges import
nothing of what they judge, so that they cannot acquit themselves.
"""

"""
The engine: what happens next to the periods of a schedule?

`plan` looks at the schedules that are due, with their waiting and running periods, and says which
facts to write and, once they are written, what to start and what to end. It decides, nothing else
does; it reads no clock and touches no store. `due` has what it is asked and what it answers,
`plan` the order in which things are decided; each further module decides one of them.
"""

from gnomon.core.engine.due import USUAL, Change, Due, Limits, Lost, Pause
from gnomon.core.engine.plan import plan

__all__ = ["USUAL", "Change", "Due", "Limits", "Lost", "Pause", "plan"]

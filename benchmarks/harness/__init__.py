"""
The machinery that any benchmark of Gnomon against peers needs, and no knowledge of what is
measured.

A parent process owns the plan and the report; each engine lives in its own environment and its own
worker process. The modules a worker imports (`protocol`, `timing`, `worker`) use the standard
library alone.
"""

"""
Metrics: figures about krond and its jobs, as a text file that Prometheus reads.

`tally` counts what happened, `page` says which figures there are, and `file` keeps the file up to
date; the format is that of `gnomon.shell.observe`. Nothing here asks the ledger while krond works:
what is counted is what the log says too.
"""

from gnomon.apps.krond.metrics.file import MetricsFile
from gnomon.apps.krond.metrics.page import Surroundings, metrics_text
from gnomon.apps.krond.metrics.tally import Tally

__all__ = ["MetricsFile", "Surroundings", "Tally", "metrics_text"]

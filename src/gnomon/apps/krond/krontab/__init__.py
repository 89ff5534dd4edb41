"""
Krontab files: text in, jobs or problems out, and jobs as text again.

A file has one job on each line, or is YAML with the same names. Either way it first becomes drafts
(`line_text`, `yaml_text`): pieces of text by name, each with its place. What the pieces mean is
found out once for both (`timing_options`, `policy_options`, `process_options`, `notify_options`),
and everything that is wrong is said, each with line and column (`problem`). `reader` puts that
together, `render` writes jobs down, `edit` changes a file that people wrote, and `advice` warns.

Here belongs nothing that asks the machine: files, users and programs are looked up by others. What
cron had is read by `gnomon.importers`.
"""

from gnomon.apps.krond.krontab.advice import advise
from gnomon.apps.krond.krontab.problem import Problem, Severity
from gnomon.apps.krond.krontab.reader import Entry, Krontab, read_krontab
from gnomon.apps.krond.krontab.render import render_line, render_yaml

__all__ = [
    "Entry",
    "Krontab",
    "Problem",
    "Severity",
    "advise",
    "read_krontab",
    "render_line",
    "render_yaml",
]

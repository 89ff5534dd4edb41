"""
What is told about the work: log lines, and figures for Prometheus.

`telemetry` writes the lines and counts the turns; `exposition` is the text format, `figures` says
what there is to tell about a runtime and about the workers of a database, and `page_server` answers
over HTTP where there is no other server. `notify` tells people and programs what became of a job.
Nothing here needs an extra, and nothing holds a run up.
"""

"""
What is told about the work: log lines, and figures for Prometheus.

`log` writes the lines and says where they go. `counts` has every counter and histogram,
`prometheus` writes them as text, and `page` answers over HTTP where there is no other server.
`notify` tells people and programs what became of a job. Nothing here holds a run up.
"""

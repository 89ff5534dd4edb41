"""
Figures for Prometheus, whoever shows them.

`exposition` is the text format, `figures` says what there is to tell about a runtime and about the
workers of a database, and `page_server` answers over HTTP where there is no other server. Nothing
here needs an extra.
"""

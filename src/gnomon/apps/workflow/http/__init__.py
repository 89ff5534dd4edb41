"""
The workflow host over HTTP: the commands of `gnomon workflow`, for programs elsewhere.

It stands behind the gate of the service: the same tokens, limits and problems. The host itself does
not know that it is asked over HTTP.
"""

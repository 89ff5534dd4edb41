"""
The service over HTTP: routes, who may use them, and what is said when something is wrong.

Here belongs what is of HTTP: reading requests, problem details (RFC 9457), tokens and certificates,
limits, metrics, server-sent events, the OpenAPI document and the status page. What a request means
is the service's own (`apps.service`), which knows nothing of this package, nor of FastAPI.
"""

"""
The service over HTTP: routes, who may use them, and what is said when something is wrong.

Here belongs what is of HTTP: the routes, one module for each thing they are about, the forms of
bodies, server-sent events, the OpenAPI document and the status page. A route reads its parameters,
asks the service as the sender, and gives the answer back as it is. What a request means is the
service's own (`apps.service`), which knows nothing of this package, nor of FastAPI.
"""

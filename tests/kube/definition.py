"""The kind KronJob, installed with no more of a schema than that it has a status of its own."""

from gnomon.ports.kubernetes import GROUP, VERSION, Kind

__all__ = ["KRONJOBS", "KRONJOBS_NAME"]

KRONJOBS_NAME = f"{Kind.KRONJOB}.{GROUP}"
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
KRONJOBS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": KRONJOBS_NAME},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "KronJob", "plural": Kind.KRONJOB.value, "singular": "kronjob"},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": _ANYTHING},
            }
        ],
    },
}

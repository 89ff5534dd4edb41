"""
What has to be on a cluster for the operator to work there: its account, its rights, itself.

The rights are what the operator asks for and nothing else: it never reads Secrets, never touches
pods, and writes to a KronJob only its status and one annotation. Leases have a name of their own.

A guard can be had besides, for clusters where others resume Jobs: the server itself refuses to let
a candidate run that the operator has not released.

Spec: OPERATOR-37, OPERATOR-39.
"""

from collections.abc import Mapping, Sequence

from gnomon.apps.operator.crd import custom_resource_definition
from gnomon.apps.operator.job import CANDIDATE, STATE
from gnomon.ports.kubernetes import GROUP

__all__ = ["ACCOUNT", "IMAGE", "PORT", "SYSTEM", "guard_manifests", "install_manifests",
           "operator_manifests", "rules_of"]  # fmt: skip

ACCOUNT = "gnomon-operator"
"""The name of the account, the roles, the Deployment and the Lease."""
SYSTEM = "gnomon-system"
"""The namespace in which the operator of a whole cluster lives."""
IMAGE = "gnomon-operator"
PORT = 8080

_LABELS = {"app.kubernetes.io/name": ACCOUNT, "app.kubernetes.io/part-of": "gnomon"}
_RBAC = "rbac.authorization.k8s.io"
_USER = 10001

Manifest = Mapping[str, object]


def install_manifests(*, namespace: str | None, image: str = IMAGE) -> Sequence[Manifest]:
    """Everything, in the order in which it can be applied; for one namespace or for all."""
    return [custom_resource_definition(), *operator_manifests(namespace=namespace, image=image)]


def operator_manifests(*, namespace: str | None, image: str = IMAGE) -> Sequence[Manifest]:
    """The operator itself: where it lives, its account, its rights and its Deployment."""
    home = namespace or SYSTEM
    rights = "Role" if namespace is not None else "ClusterRole"
    return [
        *([] if namespace is not None else [_system()]),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(ACCOUNT, home)},
        _role(rights, ACCOUNT, rules_of(), namespace),
        _binding(rights, ACCOUNT, home, namespace),
        _role("Role", f"{ACCOUNT}-lease", _lease_rules(), home),
        _binding("Role", f"{ACCOUNT}-lease", home, home),
        *([] if namespace is not None else _roles_of_people()),
        _deployment(home, namespace, image),
    ]


def guard_manifests(*, namespace: str | None) -> Sequence[Manifest]:
    """A policy of admission, from Kubernetes 1.30 on: only the operator resumes candidates."""
    home = namespace or SYSTEM
    name = "gnomon-candidates" if namespace is None else f"gnomon-candidates-{namespace}"
    is_operator = f"request.userInfo.username == 'system:serviceaccount:{home}:{ACCOUNT}'"
    state = f".metadata.?annotations[?'{STATE}'].orValue('')"
    stays = f"object{state} == '{CANDIDATE}' && object.spec.?suspend.orValue(false)"
    rule = {
        "apiGroups": ["batch"], "apiVersions": ["v1"], "resources": ["jobs"],
        "operations": ["UPDATE"],
    }  # fmt: skip
    matched: dict[str, object] = {"resourceRules": [rule]}
    if namespace is not None:
        matched["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": matched,
        "matchConditions": [
            {"name": "candidate", "expression": f"oldObject{state} == '{CANDIDATE}'"}
        ],
        "validations": [
            {
                "expression": f"{is_operator} || ({stays})",
                "message": "this Job is a candidate of a KronJob; only the operator releases it",
                "reason": "Forbidden",
            }
        ],
    }
    group = "admissionregistration.k8s.io/v1"
    return [
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicy",
         "metadata": _metadata(name, None), "spec": spec},
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding",
         "metadata": _metadata(name, None),
         "spec": {"policyName": name, "validationActions": ["Deny"]}},
    ]  # fmt: skip


def rules_of() -> list[Manifest]:
    """What the operator may do to KronJobs, Jobs and Events."""
    return [
        _rule(GROUP, ["kronjobs"], ["get", "list", "watch", "patch"]),
        _rule(GROUP, ["kronjobs/status"], ["update"]),
        # Where owners that block a deletion are enforced, who names one needs this right.
        _rule(GROUP, ["kronjobs/finalizers"], ["update"]),
        _rule("batch", ["jobs"], ["get", "list", "watch", "create", "patch", "delete"]),
        _rule("", ["events"], ["create"]),
    ]


def _system() -> Manifest:
    labels = {**_LABELS, "pod-security.kubernetes.io/enforce": "restricted"}
    metadata = {"name": SYSTEM, "labels": labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _lease_rules() -> list[Manifest]:
    group = "coordination.k8s.io"
    return [
        _rule(group, ["leases"], ["create"]),
        {**_rule(group, ["leases"], ["get", "update"]), "resourceNames": [ACCOUNT]},
    ]


def _roles_of_people() -> list[Manifest]:
    """KronJobs belong to the roles `view` and `edit` that a cluster has."""
    kinds = {
        "view": ["get", "list", "watch"],
        "edit": ["create", "update", "patch", "delete", "deletecollection"],
    }
    roles: list[Manifest] = []
    for kind, verbs in kinds.items():
        role = _role("ClusterRole", f"gnomon-kronjobs-{kind}", [_rule(GROUP, ["kronjobs"], verbs)])
        aggregated = {f"{_RBAC}/aggregate-to-{kind}": "true"}
        if kind == "edit":
            aggregated[f"{_RBAC}/aggregate-to-admin"] = "true"
        metadata = dict(role["metadata"])  # type: ignore[call-overload]
        roles.append({**role, "metadata": {**metadata, "labels": {**_LABELS, **aggregated}}})
    return roles


def _deployment(home: str, namespace: str | None, image: str) -> Manifest:
    watched = [] if namespace is None else ["--namespace=$(POD_NAMESPACE)"]
    container = {
        "name": "operator",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["operator", "run", *watched, f"--listen=0.0.0.0:{PORT}", "--json-log"],
        "env": [
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.{field}"}}}
            for name, field in (("POD_NAME", "name"), ("POD_NAMESPACE", "namespace"))
        ],
        "ports": [{"name": "http", "containerPort": PORT}],
        "livenessProbe": _probe("/livez", period_s=10, failures=3),
        "readinessProbe": _probe("/readyz", period_s=5, failures=1),
        "resources": {
            "requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }  # fmt: skip
    pod = {
        "metadata": {
            "labels": _LABELS,
            "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": str(PORT)},
        },
        "spec": {
            "serviceAccountName": ACCOUNT,
            "terminationGracePeriodSeconds": 30,
            "securityContext": {
                "runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
        },
    }  # fmt: skip
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": _metadata(ACCOUNT, home),
        "spec": {"replicas": 2, "selector": {"matchLabels": _LABELS}, "template": pod},
    }  # fmt: skip


def _probe(path: str, *, period_s: int, failures: int) -> Manifest:
    return {
        "httpGet": {"path": path, "port": "http"}, "periodSeconds": period_s, "timeoutSeconds": 3,
        "failureThreshold": failures,
    }  # fmt: skip


def _role(
    kind: str, name: str, rules: Sequence[Manifest], namespace: str | None = None
) -> Manifest:
    return {
        "apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": _metadata(name, namespace),
        "rules": list(rules),
    }  # fmt: skip


def _binding(rights: str, name: str, home: str, namespace: str | None) -> Manifest:
    kind = "RoleBinding" if namespace is not None else "ClusterRoleBinding"
    return {
        "apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": _metadata(name, namespace),
        "roleRef": {"apiGroup": _RBAC, "kind": rights, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": home}],
    }  # fmt: skip


def _rule(group: str, resources: list[str], verbs: list[str]) -> Manifest:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _metadata(name: str, namespace: str | None) -> Manifest:
    place = {} if namespace is None else {"namespace": namespace}
    return {"name": name, **place, "labels": _LABELS}

"""
The commands of the operator: what a cluster needs for it, and the operator itself.

Each imports what does its work when it is called.

Spec: OPERATOR-27, OPERATOR-37, OPERATOR-38, CRONJOB-7.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.options import JsonOption, clock_of, read_length_ms
from gnomon.cli.screen import say
from gnomon.shell.http.listening import read_address

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["operator_app"]

operator_app = typer.Typer(
    name="operator", help="KronJobs on Kubernetes.", no_args_is_help=True, rich_markup_mode=None
)

NamespaceOption = Annotated[
    str | None,
    typer.Option(
        "--namespace", metavar="NAME", help="Look after this namespace; left out, after all."
    ),
]


@operator_app.callback()
def operator_group() -> None:
    """KronJobs on Kubernetes."""


@operator_app.command("crd")
def crd_command() -> str:
    """Print the definition of the kind KronJob, for kubectl apply -f -."""
    from gnomon.apps.operator.crd import custom_resource_definition
    from gnomon.cli.manifest_text import as_yaml

    definition: Mapping[str, object] = custom_resource_definition()
    return as_yaml(definition)


@operator_app.command("manifests")
def manifests_command(
    namespace: NamespaceOption = None,
    image: Annotated[
        str, typer.Option("--image", metavar="IMAGE", help="The image of the operator.")
    ] = "gnomon-operator",
    guard: Annotated[
        bool,
        typer.Option(
            "--guard", help="Also a policy by which no other account resumes a candidate."
        ),
    ] = False,
) -> str:
    """Print all that a cluster needs for the operator, for kubectl apply -f -."""
    from gnomon.apps.operator.manifests import guard_manifests, install_manifests
    from gnomon.cli.manifest_text import as_yaml

    guards = guard_manifests(namespace=namespace) if guard else ()
    return as_yaml(*install_manifests(namespace=namespace, image=image), *guards)


@operator_app.command("run")
def run_command(
    context: typer.Context,
    namespace: NamespaceOption = None,
    kubeconfig: Annotated[
        str | None,
        typer.Option(
            "--kubeconfig",
            metavar="PATH",
            help="How to reach the cluster; left out, as this pod, or as kubectl does.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--context", metavar="NAME", help="A context of that file."),
    ] = None,
    leader: Annotated[
        bool,
        typer.Option(
            "--leader/--no-leader",
            help="Let one of several operators work, the one that holds the Lease.",
        ),
    ] = True,
    lease_namespace: Annotated[
        str | None,
        typer.Option(
            "--lease-namespace",
            metavar="NAME",
            help="Where the Lease lies; left out, in --namespace, or the one of this pod.",
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen",
            metavar="[HOST:]PORT",
            help="Serve /metrics, /livez and /readyz there; loopback without a host.",
        ),
    ] = None,
    grace: Annotated[
        str,
        typer.Option("--grace", metavar="DURATION", help="How long passes may take at a stop."),
    ] = "10s",
    json_log: Annotated[bool, typer.Option("--json-log", help="Log lines as JSON.")] = False,
) -> int:
    """Look after the KronJobs of a cluster until stopped."""
    from gnomon.compose.operator import OperatorOptions, run_operator

    options = OperatorOptions(
        namespace=namespace,
        kubeconfig=kubeconfig,
        context=cluster,
        leader=leader,
        lease_namespace=lease_namespace,
        listen=None
        if listen is None
        else read_address(listen, where="listen", example="8080 or 0.0.0.0:8080"),
        grace_ms=read_length_ms(grace, where="grace"),
        json_log=json_log,
    )
    return 0 if run_operator(options, clock_of(context)) else 130


@operator_app.command("import")
def import_command(
    context: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Manifests of CronJobs as YAML or JSON, or - for standard input.",
            show_default=False,
        ),
    ],
    zone: Annotated[
        str,
        typer.Option("--zone", metavar="ZONE", help="That of the CronJob controller."),
    ] = "UTC",
    as_json: JsonOption = False,
) -> int:
    """Print the KronJobs for CronJobs, and say what changes."""
    from gnomon.cli.kronjob_view import import_text

    now = clock_of(context).now_ms() // 1000
    out, err, sound = import_text(files, zone=zone, now=now, as_json=as_json)
    say(out, nl=False)
    say(err, nl=False, err=True)
    return 0 if sound else 1

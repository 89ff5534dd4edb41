"""
The commands of the operator: what a cluster needs for it, and the operator itself.

Each imports what does its work when it is called.

Spec: OPERATOR-27, OPERATOR-37, OPERATOR-38, CRONJOB-7.
"""

from typing import TYPE_CHECKING

import click

from gnomon.cli.click_parts import CliGroup, argument
from gnomon.cli.options import clock_of, json_option, read_length_ms
from gnomon.cli.screen import say
from gnomon.shell.http.listening import read_address

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["operator_app"]

operator_app = CliGroup("operator", help="KronJobs on Kubernetes.")

namespace_option = click.option(
    "--namespace", metavar="NAME", help="Look after this namespace; left out, after all."
)


@operator_app.command("crd")
def crd_command() -> str:
    """Print the definition of the kind KronJob, for kubectl apply -f -."""
    from gnomon.apps.operator.crd import custom_resource_definition
    from gnomon.cli.kronjob_view import as_yaml

    definition: Mapping[str, object] = custom_resource_definition()
    return as_yaml(definition)


@operator_app.command("manifests")
@namespace_option
@click.option(
    "--image", default="gnomon-operator", metavar="IMAGE", help="The image of the operator."
)
@click.option(
    "--guard", is_flag=True, help="Also a policy by which no other account resumes a candidate."
)
def manifests_command(namespace: str | None, image: str, guard: bool) -> str:
    """Print all that a cluster needs for the operator, for kubectl apply -f -."""
    from gnomon.apps.operator.manifests import guard_manifests, install_manifests
    from gnomon.cli.kronjob_view import as_yaml

    guards = guard_manifests(namespace=namespace) if guard else ()
    return as_yaml(*install_manifests(namespace=namespace, image=image), *guards)


@operator_app.command("run")
@namespace_option
@click.option(
    "--kubeconfig",
    metavar="PATH",
    help="How to reach the cluster; left out, as this pod, or as kubectl does.",
)
@click.option("--context", "cluster", metavar="NAME", help="A context of that file.")
@click.option(
    "--leader/--no-leader",
    default=True,
    help="Let one of several operators work, the one that holds the Lease.",
)
@click.option(
    "--lease-namespace",
    metavar="NAME",
    help="Where the Lease lies; left out, in --namespace, or the one of this pod.",
)
@click.option(
    "--listen",
    metavar="[HOST:]PORT",
    help="Serve /metrics, /livez and /readyz there; loopback without a host.",
)
@click.option(
    "--grace", default="10s", metavar="DURATION", help="How long passes may take at a stop."
)
@click.option("--json-log", is_flag=True, help="Log lines as JSON.")
@click.pass_context
def run_command(
    context: click.Context, namespace: str | None, kubeconfig: str | None, cluster: str | None,
    leader: bool, lease_namespace: str | None, listen: str | None, grace: str, json_log: bool,
) -> int:  # fmt: skip
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
@argument(
    "files",
    nargs=-1,
    metavar="FILE...",
    help="Manifests of CronJobs as YAML or JSON, or - for standard input.",
)
@click.option("--zone", default="UTC", metavar="ZONE", help="That of the CronJob controller.")
@json_option
@click.pass_context
def import_command(context: click.Context, files: tuple[str, ...], zone: str, as_json: bool) -> int:
    """Print the KronJobs for CronJobs, and say what changes."""
    from gnomon.cli.kronjob_view import import_text

    now = clock_of(context).now_ms() // 1000
    out, err, sound = import_text(files, zone=zone, now=now, as_json=as_json)
    say(out, nl=False)
    say(err, nl=False, err=True)
    return 0 if sound else 1

"""
The commands of the operator: `gnomon operator crd` and what goes with it on a cluster.

Each imports what does its work when it is called.

Spec: OPERATOR-27.
"""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["operator_app"]

operator_app = typer.Typer(
    name="operator", help="KronJobs on Kubernetes.", no_args_is_help=True, rich_markup_mode=None
)


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

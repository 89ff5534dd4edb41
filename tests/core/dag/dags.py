"""DAGs for tests, written as people write them."""

import json

from gnomon.core.dag.value import Json

__all__ = ["a_dag", "a_node", "dag_text"]


def a_node(node_id: str = "first", **fields: Json) -> dict[str, Json]:
    """A node that runs `true`, unless other fields are given."""
    given = fields or {"command": ["true"]}
    return {"id": node_id, "type": "command", **given}


def a_dag(**fields: Json) -> dict[str, Json]:
    """A DAG of one node."""
    return {"workflow_id": "report", "version": 1, "nodes": [a_node()], **fields}


def dag_text(**fields: Json) -> str:
    return json.dumps(a_dag(**fields))

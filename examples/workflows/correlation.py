"""
Correlation of two topics: an order is handed over when it has been paid.

Orders and payments come from outside, in any order:
`gnomon workflow publish handover orders 17` and `gnomon workflow publish handover payments 17`.
"""

from pathlib import Path

from gnomon.workflow import Call, Context, Finding, Prepared, Workflow, applied, not_applied

handover = Workflow("handover", title="Paid orders")
match = handover.consumer("match", subscribes=["orders", "payments"])


@match.prepare
def pair(ctx: Context, state: object) -> object:
    orders = [one.id for one in ctx.each("orders")]
    both = [one.id for one in ctx.find("payments", orders)][:1]
    return {
        "reservations": [{"topic": topic, "ids": both} for topic in ("orders", "payments") if both],
        "data": both, "ui": {"title": f"Hand over {', '.join(both)}"},
    }  # fmt: skip


@match.mutate
def mutate(ctx: Context, prepared: Prepared) -> None:
    (order,) = prepared.data
    ctx.mutate("hand_over", order, title=prepared.title)


@handover.tool("hand_over")
def hand_over(call: Call) -> None:
    Path("handed-over").mkdir(exist_ok=True)
    Path("handed-over", str(call.params)).write_text(call.key)


@hand_over.reconcile
def was_handed_over(call: Call) -> Finding:
    file = Path("handed-over", str(call.params))
    return applied() if file.exists() and file.read_text() == call.key else not_applied()

"""What an author may write, with decorators and as plain data, and what is refused."""

from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest

from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.script import load_workflow, make_script
from gnomon.apps.workflow.timing import read_schedule, schedule_words
from gnomon.errors import DefinitionError, TransientError
from gnomon.ports.workflow_facts import Handler, HandlerKind
from tests.clauses import clause


def nothing(*_: object) -> None:
    """A handler, a tool, or whatever else is called."""


def decorated() -> Workflow:
    orders = Workflow("orders", title="Orders", zone="Europe/Berlin")
    orders.producer("poll", interval="5m", publishes=["orders"])(nothing)
    sheet = orders.consumer("sheet", subscribes=["orders"], publishes=["done"])
    sheet.prepare(nothing)
    sheet.mutate(nothing)
    sheet.next(nothing)
    append = orders.tool("append", approval=True)(nothing)
    append.reconcile(nothing)
    return orders


PLAIN: dict[str, object] = {
    "name": "orders",
    "title": "Orders",
    "zone": "Europe/Berlin",
    "producers": {
        "poll": {"schedule": {"interval": "5m"}, "publishes": ["orders"], "handler": nothing}
    },
    "consumers": {
        "sheet": {
            "subscribe": ["orders"], "publishes": ["done"],
            "prepare": nothing, "mutate": nothing, "next": nothing,
        }
    },
    "tools": {"append": {"call": nothing, "reconcile": nothing, "approval": True}},
}  # fmt: skip


@clause("FLOW-1", "FLOW-2")
@pytest.mark.parametrize("make", [decorated, lambda: Workflow.of(PLAIN)])
def test_a_workflow_is_the_same_with_decorators_and_as_plain_data(
    make: Callable[[], Workflow],
) -> None:
    made = make()

    assert made.handlers() == [
        Handler(
            name="poll", kind=HandlerKind.PRODUCER, place=0, schedule="every 5m0s",
            publishes=("orders",),
        ),
        Handler(
            name="sheet", kind=HandlerKind.CONSUMER, place=1, subscribes=("orders",),
            publishes=("done",),
        ),
    ]  # fmt: skip
    assert (made.name, made.title, made.zone) == ("orders", "Orders", "Europe/Berlin")
    assert made.tools["append"].on_reconcile is nothing
    assert made.tools["append"].approval
    assert made.consumers["sheet"].on_next is nothing


@clause("FLOW-1")
def test_a_producer_is_called_what_its_function_is_called() -> None:
    orders = Workflow("orders")

    @orders.producer(cron="0 9 * * *")
    def poll(ctx: object, state: object) -> None: ...

    assert list(orders.producers) == ["poll"]


@clause("FLOW-3", "FLOW-26")
@pytest.mark.parametrize("name", ["", "1st", "a b", "-", "ä", "x" * 101, 5, None])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError, match="must be a name"):
        Workflow(name)


@clause("FLOW-3")
def test_no_two_handlers_and_no_two_tools_share_a_name() -> None:
    orders = decorated()

    with pytest.raises(DefinitionError, match="among the handlers"):
        orders.consumer("poll", subscribes=["orders"])
    with pytest.raises(DefinitionError, match="among the tools"):
        orders.tool("append")(nothing)


@clause("FLOW-26")
def test_a_workflow_must_have_a_handler() -> None:
    with pytest.raises(DefinitionError, match="must have a producer or a consumer"):
        Workflow("orders").handlers()


@clause("FLOW-26")
def test_a_consumer_must_have_a_prepare() -> None:
    orders = Workflow("orders")
    orders.consumer("sheet", subscribes=["orders"])

    with pytest.raises(DefinitionError, match="must have a prepare"):
        orders.handlers()


@clause("FLOW-26")
def test_a_topic_may_have_two_consumers() -> None:
    orders = decorated()
    orders.consumer("other", subscribes=["orders"]).prepare(nothing)

    assert [one.name for one in orders.handlers()] == ["poll", "sheet", "other"]


@clause("FLOW-26")
def test_a_consumer_must_subscribe_to_something() -> None:
    orders = Workflow("orders")
    orders.consumer("sheet", subscribes=[]).prepare(nothing)

    with pytest.raises(DefinitionError, match="consumer sheet: must subscribe to a topic"):
        orders.handlers()


@clause("FLOW-26")
def test_only_a_consumer_with_a_next_can_publish() -> None:
    orders = Workflow("orders")
    orders.consumer("sheet", subscribes=["orders"], publishes=["done"]).prepare(nothing)

    with pytest.raises(DefinitionError, match="must have a next"):
        orders.handlers()


@clause("FAIL-17", "FLOW-26")
@pytest.mark.parametrize(
    ("kind", "as_"), [("KeyError", TransientError), (KeyError, ValueError), (5, TransientError)]
)
def test_only_classes_can_be_treated(kind: type[Exception], as_: type[TransientError]) -> None:
    with pytest.raises(DefinitionError, match="must be"):
        Workflow("orders").treat(kind, as_=as_)


@clause("FLOW-26")
def test_topics_are_a_list_and_not_one_text() -> None:
    with pytest.raises(DefinitionError, match=r"write \['orders'\]"):
        Workflow("orders").consumer("sheet", subscribes="orders")


@clause("FLOW-29", "FLOW-26")
@pytest.mark.parametrize("sees", [0, -1, 10_001, True, "5", 1.5])
def test_how_much_a_consumer_sees_is_a_number(sees: int) -> None:
    with pytest.raises(DefinitionError, match="from 1 to 10000"):
        Workflow("orders").consumer("sheet", subscribes=["orders"], sees=sees)


@clause("FLOW-26")
@pytest.mark.parametrize(
    ("data", "where"),
    [
        ({"name": "a", "producer": {}}, "producer"),
        ({"name": 5}, "name"),
        ({"name": "a", "producers": []}, "producers"),
        ({"name": "a", "producers": {"p": {"handler": nothing}}}, "schedule"),
        ({"name": "a", "producers": {"p": {"schedule": {"interval": "5m"}}}}, "handler"),
        ({"name": "a", "producers": {"p": {"schedule": {"every": "5m"}}}}, "every"),
        ({"name": "a", "consumers": {"c": {"subscribe": "t", "prepare": nothing}}}, "subscribe"),
        ({"name": "a", "consumers": {"c": {"prepare": "text"}}}, "prepare"),
        ({"name": "a", "tools": {"t": 5}}, "tools.t"),
        ({"name": "a", "zone": "Mars/Base"}, "Mars/Base"),
    ],
)
def test_plain_data_that_cannot_be_meant_is_refused(data: Mapping[str, object], where: str) -> None:
    with pytest.raises(DefinitionError, match=where):
        Workflow.of(data)


@clause("FLOW-5")
@pytest.mark.parametrize(
    ("interval", "cron", "text"),
    [
        ("5m", None, "every 5m0s"),
        ("90s", None, "every 1m30s"),
        ("1d", None, "every 24h0m0s"),
        (timedelta(hours=2), None, "every 2h0m0s"),
        (None, "*/5 * * * *", "cron */5 * * * *"),
        ("5m", "0 9 * * *", "every 5m0s"),
    ],
)
def test_a_schedule_is_an_interval_or_a_cron_expression(
    interval: str | timedelta | None, cron: str | None, text: str
) -> None:
    assert read_schedule(interval=interval, cron_text=cron, zone="UTC", where="p") == text


@clause("FLOW-26", "FLOW-5")
@pytest.mark.parametrize(
    ("interval", "cron"),
    [
        ("0s", None), ("500ms", None), ("-5m", None), ("400d", None), ("1.5s", None),
        ("soon", None), (None, None), (None, "0 0 30 2 *"), (None, "every day"),
    ],
)  # fmt: skip
def test_a_schedule_that_cannot_be_meant_is_refused(interval: str | None, cron: str | None) -> None:
    with pytest.raises(DefinitionError):
        read_schedule(interval=interval, cron_text=cron, zone="UTC", where="producer poll")


def test_a_schedule_is_said_in_words() -> None:
    assert schedule_words("every 5m0s", zone="UTC") == "Checks every 5 minutes"
    assert schedule_words("every 1h0m0s", zone="UTC") == "Checks every hour"
    assert schedule_words("cron 0 9 * * *", zone="UTC") == "At 09:00 every day"
    assert (
        schedule_words("cron 0 9 * * *", zone="Europe/Berlin")
        == "At 09:00 every day (Europe/Berlin)"
    )


@clause("FLOW-26", "FLOW-21")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = (", "must be Python"),
        ("raise ValueError('no')", "ValueError: no"),
        ("x = 5", "exactly one workflow"),
        ("from gnomon.apps.workflow.definition import Workflow\nWorkflow('a b')", "a name"),
        ("from gnomon.apps.workflow.definition import Workflow\na = Workflow('a')", "a producer"),
    ],
)
def test_a_script_that_is_none_is_refused(text: str, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        load_workflow(text, where="orders.py")


@clause("FLOW-6", "FLOW-9")
def test_without_a_text_a_change_of_the_code_is_another_version() -> None:
    def digest(prepare: Callable[..., object]) -> str:
        made = Workflow("orders")
        made.consumer("sheet", subscribes=["orders"]).prepare(prepare)
        return make_script(made, "", reason="deploy").digest

    first = digest(lambda ctx, state: {"data": 1 if state in {"a", "b"} else 2})
    same = digest(lambda ctx, state: {"data": 1 if state in {"a", "b"} else 2})
    other = digest(lambda ctx, state: {"data": 1 if state in {"a", "c"} else 2})

    assert first == same
    assert first != other

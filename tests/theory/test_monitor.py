"""The monitor at work: long traces, events of one instant, and what it keeps in mind."""

from gnomon.theory import Monitor, Verdict
from gnomon.trace import Event, Kind, Witnesses
from tests.clauses import clause
from tests.theory.story import task, tell

INIT = [
    Event(Kind.COMPUTE, 0, n=1),
    Event(Kind.INIT_START, 0, call=1, registrations=(task("a"), task("b"))),
    Event(Kind.COMPUTE, 0, n=1),
    Event(Kind.INIT_SUCCESS, 0, call=1),
]


@clause("THEORY-15")
def test_one_by_one_and_all_at_once_are_judged_alike() -> None:
    events = tell("asks 1 a", "& asks 2 a", "refuses 2", "accepts 1", "start a", "crash", "ok a")
    one_by_one, at_once = Monitor(), Monitor()
    for event in events:
        one_by_one.see(event)
    at_once.see_all(events)

    assert one_by_one.verdicts() == at_once.verdicts()


@clause("THEORY-8")
def test_compute_is_counted_over_any_length() -> None:
    """A start that is owed while ten thousand milliseconds of compute go by is late in the end."""
    monitor = Monitor(witnesses=Witnesses(0, 9_000, 1_000), is_metered=True)
    monitor.see_all(INIT)
    monitor.see_all(Event(Kind.COMPUTE, t, n=1) for t in range(1, 6_001))
    monitor.see(Event(Kind.DUE, 6_001, "a"))
    monitor.see_all(Event(Kind.COMPUTE, 6_001 + t, n=1) for t in range(1, 10_001))

    assert monitor.verdicts().verdicts["L1"].verdict is Verdict.PRESUMABLY_FALSE
    late = monitor.see(Event(Kind.COMPUTE, 16_002, n=1))
    assert [(one.axiom, one.task) for one in late] == [("L1", "a")]


@clause("THEORY-8", "L1")
def test_the_oldest_obligation_runs_out_first_and_each_is_told_once() -> None:
    monitor = Monitor(witnesses=Witnesses(0, 0, 1_000))
    monitor.see_all(tell("init a b", "minute", "due a", "wait 500ms", "due b"))
    told = [
        [one.task for one in monitor.see(Event(Kind.MINUTE_START, t))]
        for t in (1_003, 1_004, 1_504, 1_505, 9_999)
    ]

    assert told == [[], ["a"], [], ["b"], []]


@clause("THEORY-8", "L1")
def test_waiting_alone_brings_to_light_what_is_late() -> None:
    monitor = Monitor(witnesses=Witnesses(0, 0, 1_000))
    monitor.see_all(tell("init a", "minute", "due a"))
    told = [[one.axiom for one in monitor.look(t)] for t in (1_003, 1_004, 1_005)]

    assert told == [[], ["L1"], []]


@clause("THEORY-8", "L1", "L2")
def test_time_in_which_the_scheduler_could_not_act_is_not_counted() -> None:
    monitor = Monitor(witnesses=Witnesses(0, 0, 1_000))
    monitor.see_all(tell("init a b", "minute", "due a", "due b", "start a", "asks 7 a"))
    monitor.excuse(5_000)
    told = [[one.axiom for one in monitor.look(t)] for t in (6_004, 6_005, 6_007)]

    assert told == [[], ["L1"], ["L2"]]


@clause("THEORY-3", "THEORY-15")
def test_what_is_neither_registered_nor_running_can_be_forgotten() -> None:
    events = tell(
        "init a b c", "minute", "due a", "due b", "start a", "start b", "ok b",
        "init a:2 c", "ok a", "minute", "due c", "start c", "ok c", "init a c:2",
    )  # fmt: skip
    forgetful, mindful = Monitor(), Monitor()
    for event in events:
        assert forgetful.see(event) == mindful.see(event)
        if event.kind is Kind.INIT_SUCCESS:
            forgetful.forget()

    assert sorted(forgetful._known.names) == ["a", "c"]
    assert [len(name.tasks) for name in forgetful._known.names.values()] == [1, 2]
    assert sorted(mindful._known.names) == ["a", "b", "c"]

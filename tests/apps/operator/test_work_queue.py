"""The queue: one place for each, in the order of instants, and trouble waits longer each time."""

from gnomon.apps.operator.work_queue import HELD_MS, WorkQueue
from tests.clauses import clause


@clause("OPERATOR-31")
def test_they_come_in_the_order_of_their_instants() -> None:
    queue = WorkQueue()
    for uid, at_ms in (("late", 300), ("soon", 100), ("between", 200)):
        queue.add(uid, at_ms)

    assert queue.next_ms() == 100
    assert [queue.take(250), queue.take(250), queue.take(250)] == ["soon", "between", None]
    assert queue.next_ms() == 300


@clause("OPERATOR-31")
def test_an_earlier_wish_counts_and_a_later_one_changes_nothing() -> None:
    queue = WorkQueue()
    queue.add("one", 200)
    queue.add("one", 100)
    queue.add("one", 300)

    assert queue.take(150) == "one"
    assert queue.take(1_000) is None


@clause("OPERATOR-31")
def test_what_is_under_way_is_not_given_out_again_and_comes_right_after() -> None:
    queue = WorkQueue()
    queue.add("one", 100)
    assert queue.take(100) == "one"
    queue.add("one", 110)

    assert queue.take(200) is None
    assert queue.next_ms() is None
    queue.done("one", 200, wake_ms=9_000, trouble=False)
    assert queue.take(200) == "one"


@clause("OPERATOR-31")
def test_trouble_waits_longer_each_time_and_not_longer_than_the_longest() -> None:
    queue, now_ms, waits = WorkQueue(), 0, []
    queue.add("one", 0)
    for _ in range(7):
        assert queue.take(now_ms) == "one"
        queue.done("one", now_ms, wake_ms=None, trouble=True)
        next_ms = queue.next_ms()
        assert next_ms is not None
        waits.append(next_ms - now_ms)
        assert queue.take(next_ms - 1) is None
        now_ms = next_ms

    for wait, most in zip(waits, [*HELD_MS, HELD_MS[-1], HELD_MS[-1]], strict=True):
        assert 0.75 * most <= wait <= most
    assert queue.held == 1


@clause("OPERATOR-31")
def test_what_happens_meanwhile_does_not_cut_trouble_short_but_forgiveness_does() -> None:
    queue = WorkQueue()
    queue.add("one", 0)
    queue.take(0)
    queue.done("one", 0, wake_ms=None, trouble=True)
    queue.add("one", 10)
    assert queue.take(500) is None

    queue.forgive("one")

    assert queue.take(500) == "one"
    assert queue.held == 0


@clause("OPERATOR-31")
def test_trouble_does_not_delay_what_is_due_but_no_two_looks_come_within_a_second() -> None:
    queue = WorkQueue()
    queue.add("one", 0)
    for now_ms in (0, 1_000, 3_000):
        assert queue.take(now_ms) == "one"
        queue.done("one", now_ms, wake_ms=None if now_ms < 3_000 else 5_000, trouble=True)
    assert queue.next_ms() == 5_000
    assert queue.take(5_000) == "one"

    queue.done("one", 5_000, wake_ms=5_001, trouble=True)

    assert queue.next_ms() == 6_000


def test_a_server_may_ask_for_more_time_than_trouble_takes() -> None:
    queue = WorkQueue()
    queue.add("one", 0)
    queue.take(0)
    queue.done("one", 0, wake_ms=None, trouble=True, held_ms=40_000)

    assert queue.take(39_999) is None
    assert queue.take(40_000) == "one"


def test_when_the_clock_was_set_everything_is_looked_at() -> None:
    queue = WorkQueue()
    for uid in ("a", "b", "busy"):
        queue.add(uid, 50_000)
    queue.take(50_000)
    queue.all_now(10)

    assert [queue.take(10), queue.take(10), queue.take(10)] == ["b", "busy", None]
    queue.done("a", 11, wake_ms=None, trouble=False)
    assert queue.take(11) == "a"


def test_what_is_forgotten_is_not_given_out() -> None:
    queue = WorkQueue()
    queue.add("one", 0)
    queue.add("two", 0)
    queue.forget("one")
    assert queue.take(0) == "two"
    queue.forget("two")
    queue.done("two", 0, wake_ms=0, trouble=False)

    assert queue.take(0) is None
    assert len(queue) == 0


def test_it_tells_how_many_wait() -> None:
    queue = WorkQueue()
    for uid, at_ms in (("a", 0), ("b", 0), ("c", 90)):
        queue.add(uid, at_ms)
    queue.take(0)

    assert queue.due(50) == 1
    assert queue.due(90) == 2

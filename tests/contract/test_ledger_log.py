"""Every ledger: who changed what, whose schedules are there for whom, and looking things up."""

import pytest

from gnomon.errors import ConflictError
from gnomon.ports import By, Only
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, clock, minutely

ANNA = By("anna", "acme", '{"why": "test"}')
BORIS = By("boris", "other")
ROOT = By("root")


def of(user_id: str) -> dict[str, object]:
    return {"target": {"workflow_id": "w", "version": 1, "user_id": user_id}}


def save(
    desk: Desk, name: str = "report", by: By = ANNA, now: str = "00:00:30", **more: object
) -> None:
    schedule = minutely(name, **of(by.user_id or "acme") | more)
    desk.do(desk.ledger.save(schedule, now_ms=at(now), by=by))


def lines(desk: Desk, **which: object) -> list[str]:
    rows = desk.do(desk.ledger.log(**which))  # type: ignore[arg-type] # names of parameters
    return [f"{clock(row.at_ms)} {row.subject} {row.action} {row.schedule_id}" for row in rows]


@clause("PORT-7")
def test_every_change_has_a_line_in_the_log(desk: Desk) -> None:
    ledger = desk.ledger
    save(desk)
    desk.do(ledger.pause("report", until_ms=None, reason="", now_ms=at("00:00:31"), by=ANNA))
    desk.do(ledger.resume("report", now_ms=at("00:00:32"), by=ROOT))
    row = desk.do(ledger.trigger("report", name="one", now_ms=at("00:00:33"), by=ANNA))
    assert row is not None
    desk.do(ledger.backfill("report", name="b", nominals=[60], now_ms=at("00:00:34"), by=ANNA))
    desk.do(ledger.skip_next("report", now_ms=at("00:00:35"), by=ANNA))
    desk.do(ledger.kill(row.key, by=ANNA, now_ms=at("00:00:36")))
    desk.do(ledger.delete("report", now_ms=at("00:00:37"), by=ANNA))

    assert lines(desk) == [
        "00:00:37 anna delete report", "00:00:36 anna kill report",
        "00:00:35 anna skip_next report", "00:00:34 anna backfill report",
        "00:00:33 anna trigger report", "00:00:32 root resume report",
        "00:00:31 anna pause report", "00:00:30 anna upsert report",
    ]  # fmt: skip
    first = desk.do(ledger.log())[-1]
    assert (first.user_id, first.detail) == ("acme", '{"why": "test"}')


@clause("PORT-7")
def test_what_changes_nothing_leaves_no_line(desk: Desk) -> None:
    save(desk)
    save(desk, now="00:00:40")
    desk.do(desk.ledger.delete("nobody", now_ms=at("00:00:41"), by=ANNA))
    desk.do(desk.ledger.backfill("report", name="b", nominals=[], now_ms=at("00:00:42"), by=ANNA))

    assert lines(desk) == ["00:00:30 anna upsert report"]


@clause("PORT-7")
def test_the_log_is_read_in_pages_and_by_schedule_and_owner(desk: Desk) -> None:
    for second, name in enumerate(("a", "b", "c")):
        save(desk, name, now=f"00:00:3{second}")
    save(desk, "d", BORIS, now="00:00:35")

    first = desk.do(desk.ledger.log(limit=2))
    assert [row.schedule_id for row in first] == ["d", "c"]
    rest = desk.do(desk.ledger.log(before=first[-1].number))
    assert [row.schedule_id for row in rest] == ["b", "a"]
    assert lines(desk, schedule_id="b") == ["00:00:31 anna upsert b"]
    assert lines(desk, user_id="other") == ["00:00:35 boris upsert d"]


@clause("REGISTRAR-10")
def test_asking_for_a_run_again_leaves_no_second_line(desk: Desk) -> None:
    save(desk)
    for now_ms in (at("00:00:40"), at("00:00:41")):
        assert desk.do(desk.ledger.trigger("report", name="one", now_ms=now_ms, by=ANNA))

    assert [line.split()[2] for line in lines(desk)] == ["trigger", "upsert"]


@clause("ASK-30")
def test_a_run_by_hand_may_stand_for_another_instant(desk: Desk) -> None:
    save(desk)
    row = desk.do(desk.ledger.trigger("report", name="one", now_ms=at("00:00:40"), nominal=60))

    assert row is not None
    assert (row.nominal, row.fire_ms) == (60, at("00:00:40"))


@clause("PORT-8")
def test_the_schedules_of_others_are_not_there(desk: Desk) -> None:
    ledger, now_ms = desk.ledger, at("00:00:40")
    save(desk)
    row = desk.do(ledger.trigger("report", name="one", now_ms=now_ms, by=ANNA))
    assert row is not None
    before = desk.get()

    assert not desk.do(ledger.pause("report", until_ms=None, reason="", now_ms=now_ms, by=BORIS))
    assert not desk.do(ledger.resume("report", now_ms=now_ms, by=BORIS))
    assert not desk.do(ledger.delete("report", now_ms=now_ms, by=BORIS))
    assert desk.do(ledger.trigger("report", name="x", now_ms=now_ms, by=BORIS)) is None
    assert (
        desk.do(ledger.backfill("report", name="x", nominals=[60], now_ms=now_ms, by=BORIS)) is None
    )
    assert desk.do(ledger.skip_next("report", now_ms=now_ms, by=BORIS)) is None
    assert desk.do(ledger.kill(row.key, by=BORIS, now_ms=now_ms)) is None
    assert desk.get() == before
    assert desk.do(ledger.run(row.key)) == row
    assert len(lines(desk)) == 2


@clause("PORT-8")
def test_saving_under_the_id_of_another_owner_is_a_conflict(desk: Desk) -> None:
    save(desk)
    with pytest.raises(ConflictError, match="belongs to another user"):
        save(desk, by=BORIS)
    desk.delete("00:00:40")
    with pytest.raises(ConflictError, match="belongs to another user"):
        save(desk, by=BORIS)
    save(desk, now="00:00:50")


@clause("PORT-8")
def test_saving_many_is_all_or_nothing(desk: Desk) -> None:
    save(desk, "mine")
    save(desk, "theirs", BORIS)
    changed = [minutely("mine", deadline="5m", **of("acme")), minutely("theirs", **of("acme"))]

    with pytest.raises(ConflictError):
        desk.do(desk.ledger.save_all(changed, now_ms=at("00:00:40"), by=ANNA, removed=["mine"]))

    assert desk.get("mine").revision == 1
    assert len(lines(desk)) == 2


@clause("PORT-8", "PORT-7")
def test_what_is_saved_and_what_is_removed_go_together(desk: Desk) -> None:
    save(desk, "old")
    new = minutely("new", **of("acme"))
    removed = ["old", "nobody"]

    desk.do(desk.ledger.save_all([new], now_ms=at("00:00:40"), by=ANNA, removed=removed))

    assert [row.schedule.schedule_id for row in desk.do(desk.ledger.schedules())] == ["new"]
    assert sorted(lines(desk))[1:] == ["00:00:40 anna delete old", "00:00:40 anna upsert new"]


@clause("PORT-8")
@pytest.mark.parametrize(("expected", "refused"), [(1, False), (0, True), (2, True), (None, False)])
def test_saving_from_an_old_revision_is_a_conflict(
    desk: Desk, expected: int | None, refused: bool
) -> None:
    save(desk)
    changed = minutely("report", deadline="5m", **of("acme"))
    work = desk.ledger.save(changed, now_ms=at("00:00:40"), by=ANNA, if_revision=expected)

    if refused:
        with pytest.raises(ConflictError, match="is at revision 1 by now"):
            desk.do(work)
    else:
        desk.do(work)
    assert desk.get().revision == (1 if refused else 2)


@clause("PORT-8")
def test_what_must_be_new_is_a_conflict_when_it_is_there(desk: Desk) -> None:
    schedule = minutely("report", **of("acme"))
    desk.do(desk.ledger.save(schedule, now_ms=at("00:00:30"), by=ANNA, if_revision=0))

    with pytest.raises(ConflictError):
        desk.do(desk.ledger.save(schedule, now_ms=at("00:00:31"), by=ANNA, if_revision=0))


@clause("PORT-9")
@pytest.mark.parametrize(
    ("only", "found"),
    [
        (Only(), ["a1", "a2", "b1"]), (Only(user_id="acme"), ["a1", "a2"]),
        (Only(user_id="nobody"), []), (Only(workflow_id="v"), ["a2", "b1"]),
        (Only(user_id="acme", workflow_id="v"), ["a2"]), (Only(paused=True), ["a1"]),
        (Only(paused=False, user_id="acme"), ["a2"]), (Only(text="1"), ["a1", "b1"]),
        (Only(user_id="other", text="1"), ["b1"]), (Only(text="%"), []),
    ],
)  # fmt: skip
def test_schedules_are_listed_by_what_they_are(desk: Desk, only: Only, found: list[str]) -> None:
    for name, workflow, user in (("a1", "w", "acme"), ("a2", "v", "acme"), ("b1", "v", "other")):
        target = {"workflow_id": workflow, "version": 1, "user_id": user}
        save(desk, name, By("x", user), target=target)
    desk.pause("00:00:40", name="a1")

    rows = desk.do(desk.ledger.schedules(only=only))

    assert [row.schedule.schedule_id for row in rows] == found
    if found:
        page = desk.do(desk.ledger.schedules(only=only, after=found[0], limit=1))
        assert [row.schedule.schedule_id for row in page] == found[1:2]


@clause("PORT-9")
def test_every_definition_that_a_schedule_had_can_be_read(desk: Desk) -> None:
    save(desk)
    save(desk, now="00:01:30", deadline="5m")
    save(desk, now="00:02:30", deadline="6m")

    rows = desk.do(desk.ledger.revisions("report"))
    assert [(row.revision, clock(row.effective_ms)) for row in rows] == [
        (3, "00:02:30"), (2, "00:01:30"), (1, "00:00:30"),
    ]  # fmt: skip
    assert [str(row.schedule.policy.deadline) for row in rows] == ["0:06:00", "0:05:00", "None"]
    older = desk.do(desk.ledger.revisions("report", before=3, limit=1))
    assert [row.revision for row in older] == [2]
    assert desk.do(desk.ledger.revisions("nobody")) == []


@clause("PORT-9")
def test_every_instant_has_the_rows_that_account_for_it(desk: Desk) -> None:
    save(desk)
    desk.turn("02:00:00")
    seen = []
    for time in ("00:30:00", "02:00:00", "02:01:00", "00:30:30"):
        rows = desk.do(desk.ledger.covering("report", at(time) // 1000))
        seen.append([f"{row.kind} {row.outcome}" for row in rows])

    assert seen == [["range missed"], ["period None"], [], ["range missed"]]

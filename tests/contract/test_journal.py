"""The contract of a journal: every implementation of the port passes these tests."""

import pytest

from gnomon.errors import OwnershipLostError, StoreError, StoreHeldError
from gnomon.ports import Entry, Event, Head, Registered
from tests.clauses import clause
from tests.contract.journal_desk import JournalDesk, change, start


@clause("JOURNAL-1")
def test_a_new_journal_is_empty_and_has_had_no_writer(journals: JournalDesk) -> None:
    assert journals.head() == Head()
    assert journals.records() == {}
    assert journals.entries() == []


@clause("JOURNAL-1")
def test_entries_and_records_of_a_change_are_written_together(journals: JournalDesk) -> None:
    journals.acquire(change(start("a"), start("b"), a="1", b="2"))

    assert journals.tasks() == ["a", "b"]
    assert journals.records() == {"a": "1", "b": "2"}


@clause("JOURNAL-1")
def test_a_change_that_cannot_be_written_as_a_whole_leaves_no_part(journals: JournalDesk) -> None:
    journals.acquire(change(start("a"), a="1"))

    with pytest.raises((UnicodeEncodeError, StoreError)):
        journals.write(change(start("b"), a="2", b="\ud800"))

    assert journals.tasks() == ["a"]
    assert journals.records() == {"a": "1"}
    assert journals.head().writes == 0


@clause("JOURNAL-1")
def test_a_record_that_is_removed_is_gone_and_the_others_stay(journals: JournalDesk) -> None:
    journals.acquire(change(a="1", b="2"))
    journals.write(change(a=None, b="3", never=None))

    assert journals.records() == {"b": "3"}


@clause("JOURNAL-2")
def test_entries_come_back_as_they_were_numbered_in_their_order(journals: JournalDesk) -> None:
    first = Entry(
        Event.INIT_START, 3, 1_772_323_200_123, call=7,
        registrations=(Registered("ä b", "0 3 * * *", 60_000),),
    )  # fmt: skip
    second = Entry(Event.RUN_FAILURE, 4, 1_772_323_200_124, task="ä b", detail="ValueError: no")
    journals.acquire(change(first, second))

    assert journals.entries() == [first._replace(number=1), second._replace(number=2)]


@clause("JOURNAL-2")
def test_entries_are_read_page_by_page(journals: JournalDesk) -> None:
    journals.acquire(change(start("a"), start("b"), start("c")))

    assert [entry.task for entry in journals.entries(limit=2)] == ["a", "b"]
    assert [entry.task for entry in journals.entries(after=2, limit=2)] == ["c"]
    assert journals.entries(after=3) == []


@clause("JOURNAL-2")
def test_the_head_says_how_far_the_journal_has_come(journals: JournalDesk) -> None:
    journals.acquire(change(start(), owner="anna", calls=1))
    journals.write(change(start(), start(), t_ms=2_000, owner="anna", calls=4, ended=True))

    assert journals.head() == Head(
        fence=1, writes=1, identifier="anna", ended=True, t_ms=2_000, wall_ms=1_772_323_202_000,
        through_ms=1_772_323_202_005, calls=4, entries=3,
    )  # fmt: skip


@clause("JOURNAL-2")
def test_everything_is_there_after_opening_again(lasting_journals: JournalDesk) -> None:
    journals = lasting_journals
    journals.acquire(change(start("a"), a="1"))
    before = journals.head()
    journals.reopen()

    assert journals.head() == before
    assert journals.tasks() == ["a"]
    assert journals.records() == {"a": "1"}


@clause("JOURNAL-3")
def test_a_write_with_an_old_fencing_number_is_refused(journals: JournalDesk) -> None:
    journals.acquire(change(owner="anna", a="1"))
    journals.acquire(change(owner="boris"), after=1)

    with pytest.raises(OwnershipLostError, match=r"belongs to another scheduler now \(boris\)"):
        journals.write(change(start("a"), owner="anna", a="2"), fence=1)

    assert journals.entries() == []
    assert journals.records() == {"a": "1"}


@clause("JOURNAL-4")
def test_a_write_that_was_made_is_not_made_again(journals: JournalDesk) -> None:
    journals.acquire(change())
    journals.write(change(start("a")))
    journals.write(change(start("a")))

    assert journals.tasks() == ["a"]
    assert journals.head().writes == 1


@clause("JOURNAL-4")
@pytest.mark.parametrize("number", [0, 3])
def test_a_write_that_does_not_follow_the_last_one_changes_nothing(
    journals: JournalDesk, number: int
) -> None:
    journals.acquire(change())
    journals.write(change(start("a")))

    with pytest.raises(RuntimeError, match=f"write {number} of a journal that has had 1"):
        journals.write(change(start("b"), b="1"), number=number)

    assert journals.tasks() == ["a"]
    assert journals.records() == {}


@clause("JOURNAL-4")
def test_the_head_tells_whether_a_write_was_made(journals: JournalDesk) -> None:
    journals.acquire(change())
    counts = [journals.head().writes]
    journals.write(change(start("a")))
    counts.append(journals.head().writes)

    assert counts == [0, 1]


@clause("JOURNAL-5")
def test_of_two_who_saw_the_same_head_one_becomes_the_owner(journals: JournalDesk) -> None:
    assert journals.acquire(change(owner="anna"), after=0) == 1

    with pytest.raises(OwnershipLostError):
        journals.acquire(change(start("b"), owner="boris", b="1"), after=0)

    assert journals.head().identifier == "anna"
    assert journals.records() == {}


@clause("JOURNAL-5")
def test_each_owner_counts_its_own_writes(journals: JournalDesk) -> None:
    journals.acquire(change(owner="anna"))
    journals.write(change(start("a")), number=1)
    journals.write(change(start("b")), number=2)

    assert journals.acquire(change(owner="boris"), after=1) == 2
    assert journals.head().writes == 0
    journals.write(change(start("c"), owner="boris"), fence=2, number=1)
    assert journals.tasks() == ["a", "b", "c"]


@clause("JOURNAL-6")
def test_only_the_newest_entries_are_kept(lasting_journals: JournalDesk) -> None:
    journals = lasting_journals
    journals.reopen(kept=3)
    journals.acquire(change(*map(start, "abcde")))
    journals.write(change(start("f"), f="1"))

    assert [(entry.number, entry.task) for entry in journals.entries()] == [
        (4, "d"), (5, "e"), (6, "f"),
    ]  # fmt: skip
    assert journals.head().entries == 6
    assert journals.records() == {"f": "1"}


@clause("JOURNAL-7")
def test_journals_of_one_store_know_nothing_of_each_other(lasting_journals: JournalDesk) -> None:
    journals = lasting_journals
    other = journals.beside("other")
    journals.acquire(change(start("a"), a="1"))

    assert journals.do(other.load()) == (Head(), {})
    assert journals.do(other.acquire(change(start("b"), a="2"), after=0)) == 1
    journals.do(other.close())
    assert journals.tasks() == ["a"]
    assert journals.records() == {"a": "1"}


@clause("JOURNAL-8")
def test_a_journal_has_one_owner_and_the_second_is_told_who(lasting_journals: JournalDesk) -> None:
    with pytest.raises(StoreHeldError) as refusal:
        lasting_journals.again()

    assert refusal.value.holder == lasting_journals.journal.owner
    assert refusal.value.transient


@clause("JOURNAL-8")
def test_who_lets_go_of_a_journal_can_be_followed_at_once(lasting_journals: JournalDesk) -> None:
    lasting_journals.acquire(change(owner="anna", a="1"))
    lasting_journals.reopen()

    assert lasting_journals.acquire(change(owner="boris"), after=1) == 2

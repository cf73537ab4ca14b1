"""Batches of rows: taken, overwritten and stacked field by field."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from pertinent.geometry.arrays import BY_KEY, OF_EACH, OF_SOME, SHARED, Rows


@dataclass(frozen=True, eq=False)
class Inner(Rows):
    code: np.ndarray


@dataclass(frozen=True, eq=False)
class Batch(Rows):
    values: np.ndarray
    names: tuple
    inner: Inner
    weights: np.ndarray = field(metadata=SHARED)
    parts: tuple = field(default=(), metadata=OF_EACH)
    some: dict = field(default_factory=dict, metadata=BY_KEY)
    missing: object = None
    size: float = 2.0


def batch(n, first=0):
    numbers = np.arange(first, first + n)
    return Batch(
        np.stack([numbers, -numbers], axis=1).astype(float),
        tuple(f"row {i}" for i in numbers),
        Inner(numbers.astype(np.int8)),
        np.array([1.0, 2.0]),
        (numbers * 1.0, numbers * 10.0),
        {0: "first"},
    )


@pytest.mark.parametrize(
    "rows", [np.array([2, 0, 2]), np.array([], dtype=int), np.array([True, False, True])]
)
def test_take_follows_every_field(rows):
    part = batch(3).take(rows)
    wanted = np.arange(3)[rows]
    np.testing.assert_array_equal(part.values[:, 0], wanted)
    assert part.names == tuple(f"row {i}" for i in wanted)
    assert part.inner.code.tolist() == wanted.tolist()
    assert part.weights.tolist() == [1.0, 2.0]
    assert [p.tolist() for p in part.parts] == [wanted.tolist(), (wanted * 10).tolist()]
    assert part.some == {k: "first" for k, row in enumerate(wanted) if row == 0}
    assert part.missing is None
    assert part.size == 2.0
    assert len(part) == len(wanted)


def test_put_overwrites_rows_in_place():
    @dataclass
    class Plain(Rows):
        values: np.ndarray
        inner: Inner
        some: dict = field(metadata=BY_KEY)

    whole = Plain(np.zeros(3), Inner(np.zeros(3, dtype=np.int8)), {0: "a", 2: "b"})
    whole.put(np.array([2, 1]), Plain(np.array([5.0, 6.0]), Inner(np.array([7, 8])), {1: "c"}))
    assert whole.values.tolist() == [0.0, 6.0, 5.0]
    assert whole.inner.code.tolist() == [0, 8, 7]
    assert whole.some == {0: "a", 1: "c"}


def test_stacked_batches_are_taken_apart_again():
    whole = Batch.stack([batch(2), batch(3, first=2)])
    assert len(whole) == 5
    np.testing.assert_array_equal(whole.values, batch(5).values)
    assert whole.names == batch(5).names
    assert whole.some == {0: "first", 2: "first"}
    np.testing.assert_array_equal(whole.take(np.arange(2, 5)).parts[1], batch(3, first=2).parts[1])


@dataclass(frozen=True)
class Part:
    """Says of some rows what their numbers are."""

    rows: np.ndarray
    numbers: np.ndarray

    def expand(self, rows):
        here = [i for i, row in enumerate(rows) if row in self.rows]
        own = [int(np.flatnonzero(self.rows == rows[i])[0]) for i in here]
        return Part(np.array(here, dtype=int), self.numbers[own])

    def among(self, rows, n):
        here = np.isin(self.rows, rows)
        return Part(self.rows[here], self.numbers[here])


@dataclass(frozen=True, eq=False)
class Told(Rows):
    values: np.ndarray
    names: tuple
    table: object = field(metadata=SHARED)
    second: dict = field(metadata=BY_KEY)
    certificates: tuple = field(default=(), metadata=OF_SOME)


def told(first, n, part):
    numbers = np.arange(first, first + n)
    own = Part(np.array(part, dtype=int), numbers[np.array(part, dtype=int)] * 10)
    return Told(numbers * 1.0, tuple(f"row {i}" for i in numbers), "all", {0: first}, (own,))


def said(batch):
    """Return what the parts say of each row."""
    both = [zip(part.rows, part.numbers, strict=True) for part in batch.certificates]
    return {int(row): int(number) for pairs in both for row, number in pairs}


def test_batches_are_written_into_one_as_they_come():
    parts = [told(0, 2, [1]), told(2, 3, [0, 2]), told(5, 1, [])]
    whole = parts[0].room(6)
    for start, part in zip((0, 2, 5), parts, strict=True):
        whole.fill(start, part)
    whole = whole.close()
    assert whole.values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert whole.names == tuple(f"row {i}" for i in range(6))
    assert whole.second == {0: 0, 2: 2, 5: 5}
    assert said(whole) == {1: 10, 2: 20, 4: 40}
    some = whole.take(np.array([4, 1, 0]))
    assert said(some) == {0: 40, 1: 10}


def test_some_rows_are_replaced_and_the_batch_before_stays():
    before = told(0, 3, [0, 1, 2])
    after = before.overwritten(np.array([2, 0]), told(7, 2, [1]))
    assert after.values.tolist() == [8.0, 1.0, 7.0]
    assert after.names == ("row 8", "row 1", "row 7")
    assert after.second == {2: 7}
    assert said(after) == {1: 10, 0: 80}
    assert before.values.tolist() == [0.0, 1.0, 2.0]
    assert before.second == {0: 0}
    assert said(before) == {0: 0, 1: 10, 2: 20}

"""What must be true of a log, told at the instant that each epoch appears in the store.

The model of an epoch is made from the one before it and from what its writer wanted, in plain
dicts. Readers compare what they saw with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from colonnade.manifests.checkpoint.anchor_list import read_anchor_list
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.ids import job_id_of
from colonnade.manifests.model.codec import decode_slot
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddCheck,
    AddRangeTombstone,
    AddRowSet,
    AddRowSets,
    AlterSchema,
    AnchorList,
    CheckpointRef,
    CreateTable,
    DrawIdentity,
    DropCheck,
    DropTable,
    Restore,
    SetPartitionLayout,
    Tag,
    Untag,
    Vacuum,
)
from colonnade.manifests.store import ObjectStore
from tests.simulation.columns import Tables, altered, restored, written
from tests.simulation.consumers import Consumers
from tests.simulation.feeds import check_landed
from tests.simulation.intents import Intent, parse_intent
from tests.simulation.keyed.history import AllFacts, Deletions, deletions_after, facts_after
from tests.simulation.keyed.rows import TABLES as KEYED
from tests.simulation.keyed.rows import check_keyed, key_of
from tests.simulation.keyed.sight import Sight
from tests.simulation.keyed.statements import KeyedStep, Rivals
from tests.simulation.properties import AllStated, stated_after
from tests.simulation.replaced import ReplacedRows
from tests.simulation.rows import (
    ALL_ROWS,
    NUMBER,
    SHAPE,
    TWICE,
    Condition,
    Rest,
    Row,
    Rows,
    Shape,
    State,
    plain,
    values,
)

UNCHANGED = frozenset({
    "vacuum", "compaction", "compact", "tag", "untag", "pin", "unpin", "alter_table",
    "repair", "draw_identity", "clean", "set_consumer", "drop_consumer", "lease",
})  # fmt: skip
"""Operations of epochs without a note: they do not change rows."""


@dataclass
class Oracle:
    """The models of all epochs so far, and what writers were told."""

    serializable: frozenset[str] = frozenset()
    shape: Shape = SHAPE
    epochs: list[Epoch] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    layouts: list[Mapping[str, int]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    landed: dict[str, int] = field(default_factory=dict)
    batches: dict[str, int] = field(default_factory=dict)
    floor: int = 0
    anchors: tuple[CheckpointRef, ...] = ()
    anchor_list: AnchorList | None = None
    told: list[tuple[Intent, str, int | None]] = field(default_factory=list)
    reads: int = 0
    freed: int = 0
    store: ObjectStore | None = None
    forbidden: list[Mapping[str, frozenset[int]]] = field(default_factory=list)
    ruled: int = 0
    columns: list[Tables] = field(default_factory=list)
    evolved: int = 0
    numbers: dict[tuple[str, int], int] = field(default_factory=dict)
    numbered: int = 0
    generated: int = 0
    sight: Sight | None = None
    replaced: ReplacedRows | None = None
    facts: list[AllFacts] = field(default_factory=list)
    deleted: list[Deletions] = field(default_factory=list)
    stated: list[AllStated] = field(default_factory=list)
    unique: int = 0
    ranges: int = 0
    feeds: int = 0
    consumers: Consumers = field(default_factory=Consumers)
    _transactions: set[str] = field(default_factory=set)

    @property
    def head(self) -> int:
        """The newest epoch."""
        return len(self.epochs) - 1

    def land(self, number: int, data: bytes) -> None:
        """An epoch appeared. Raises AssertionError where it must not."""
        epoch = decode_slot(data, number, f"epoch {number}")
        if number < len(self.epochs):
            return  # The slot was freed, so its writer must not be told that it has committed.
        assert number == len(self.epochs), f"epoch {number} leaves a gap"
        if self.epochs:
            last = self.epochs[-1]
            assert epoch.previous == last.transaction, f"epoch {number} follows no epoch"
            assert epoch.time_ms > last.time_ms, f"epoch {number} is not later than the last"
        assert epoch.transaction not in self._transactions, f"epoch {number} was there before"
        self._transactions.add(epoch.transaction)
        self.epochs.append(epoch)
        before: State = self.states[-1] if self.states else {}
        columns: Tables = self.columns[-1] if self.columns else {}
        stated: AllStated = self.stated[-1] if self.stated else {}
        state = self._after(before, epoch)
        self.columns.append(self._columns(columns, epoch, before, state))
        self.stated.append(stated_after(self.stated, stated, epoch))
        self.states.append(state)
        self.layouts.append(self._layouts(epoch))
        self.facts.append(facts_after(self.facts, self.names, epoch))
        buried = _deletions(epoch)
        self.deleted.append(deletions_after(self.deleted, self.names, epoch, buried))
        self._check_keyed(number)
        if self.replaced is not None:
            self.replaced.check(epoch, self.names, KEYED)
            self._check_feed(epoch)
        note = epoch.parameters.get("userMetadata")
        self.consumers.land(self, epoch, None if note is None else parse_intent(note).name)
        self.forbidden.append(self._forbidden(epoch))
        self._check_constraints(number)
        for operation in epoch.ops:
            if isinstance(operation, Tag):
                self.tags[operation.name] = operation.epoch
            elif isinstance(operation, Untag):
                del self.tags[operation.name]
            elif isinstance(operation, Vacuum):
                self.floor, self.anchors = operation.floor, operation.anchors
                self.anchor_list = operation.anchor_list
                if operation.anchor_list is not None:
                    assert self.store is not None
                    below = read_anchor_list(self.store, operation.anchor_list)
                    self.anchors = (*below, *operation.anchors)

    def keeps(self, epoch: int) -> bool:
        """Whether an epoch must be readable."""
        return epoch >= self.floor or epoch in (anchor.epoch for anchor in self.anchors)

    def free(self, number: int) -> None:
        """What is in a slot was removed. Raises AssertionError where an epoch is still kept."""
        assert 0 < number < self.floor, f"epoch {number} is still kept"
        self.freed = max(self.freed, number)

    def _after(self, head: State, epoch: Epoch) -> State:
        """The model after one of the changes of an epoch."""
        note = epoch.parameters.get("userMetadata")
        if note is None:
            created = {op.name for op in epoch.ops if op.op == "create_table"}
            assert created or epoch.operation in {*UNCHANGED, "create_database"}
            return {**head, **{name: dict[int, Row]() for name in created}}
        intent = parse_intent(note)
        assert intent.name not in self.landed, f"{intent.name} was committed twice"
        self.landed[intent.name] = epoch.epoch
        if intent.expect_epoch is not None:
            since = self.epochs[intent.expect_epoch + 1 : epoch.epoch]
            assert all(_draws_for(each, epoch) for each in since), "an epoch was not expected"
        if intent.batch is not None:
            app, version = intent.batch
            assert version > self.batches.get(app, -1), f"batch {version} of {app} landed twice"
            self.batches[app] = version
        then = self.states[intent.steps[0].epoch]
        base = self.states[epoch.base]
        intent = intent.on_layouts(self.layouts[epoch.base])
        buried = {self.names[op.table] for op in epoch.ops if isinstance(op, AddRangeTombstone)}
        self.ranges += len(buried)
        intent = intent.by_tombstones(buried)
        intent = intent.beside(lambda table: self._rivals(table, epoch.base, epoch.epoch - 1, head))
        return intent.after(base, head, then, epoch.epoch, self.serializable)

    def _rivals(self, table: str, base: int, last: int, head: State) -> Rivals:
        """What happened to a keyed table from its state at `base` up to `head`, after `last`."""

        def there() -> set[int]:
            assert self.sight is not None
            return {*self.sight.rows(last + 1, table)["id"].to_pylist()}

        states = [each.get(table, {}) for each in (*self.states[base : last + 1], head)]
        facts, deleted = self.facts[last][table], self.deleted[last][table]
        return Rivals(self.facts[base][table], facts, states, there, deleted)

    def _check_keyed(self, epoch: int) -> None:
        """No two rows share a primary key, and each keyed table holds the merged rows."""
        for name in KEYED.keys() & self.states[-1].keys():
            rows = self.states[-1][name]
            if self.facts[-1][name].key:
                keys = {*map(key_of, rows.values())}
                assert len(keys) == len(rows), f"rows of {name} share a key at epoch {epoch}"
            if self.sight is not None and self.sight.changed(epoch, name):
                self._check_key(name, epoch, found := self.sight.rows(epoch, name))
                check_keyed(name, epoch, found, rows)

    def _check_feed(self, epoch: Epoch) -> None:
        """The feed of the epoch that has just appeared leads from the rows before it to these."""
        assert self.replaced is not None
        before, now = self.replaced.before, self.replaced.state
        if before is not None and now is not None and before.epoch == epoch.epoch - 1:
            check_landed(self, self.replaced.log.reader, before, epoch, now)

    def key_between(self, table: str, base: int, last: int) -> list[str]:
        """The columns of the primary key that a table has at both of two epochs."""
        if table not in self.facts[base] or not self.is_same(table, base, last):
            return []
        key = self.facts[last][table].key
        same = self.facts[base][table].key == key
        fields = self.columns[last][table].fields
        return [each.name for each in fields if same and each.id in key]

    def is_same(self, name: str, base: int, last: int) -> bool:
        """Whether one table has a name at all epochs from one to another."""
        tables = [self.columns[epoch].get(name) for epoch in range(base, last + 1)]
        return len({None if each is None else each.table for each in tables}) == 1

    def tables_between(self, base: int, last: int) -> list[str]:
        """The names of the tables that are there at all epochs from one to another."""
        return [name for name in sorted(self.states[base]) if self.is_same(name, base, last)]

    def _check_key(self, table: str, epoch: int, found: pa.Table) -> None:
        """No two rows that were read share the primary key that their table has at that epoch."""
        key = self.facts[epoch][table].key
        fields = self.columns[epoch][table].fields
        names = [each.name for each in fields if each.id in key]
        if key:
            assert len(names) == len(key), f"table {table} lacks columns of its key"
            found = found.select(names)
            distinct = found.group_by(names).aggregate([]).num_rows
            assert distinct == found.num_rows, f"rows of {table} share a key at epoch {epoch}"
            self.unique += found.num_rows

    def _columns(self, tables: Tables, change: Epoch, before: State, now: State) -> Tables:
        """The columns of all tables after one of the changes of an epoch."""
        note = change.parameters.get("userMetadata")
        found: Tables = altered(self.columns, tables, self.names, change, before, now)
        if note is not None:
            intent, base = parse_intent(note), self.columns[change.base]
            first = intent.steps[0]
            if first.kind in ("restore", "restore_all"):
                found = restored(found, change, intent, base, self.columns[first.epoch])
            else:
                found = written(found, intent, before, now, base)
        self.evolved += sum(isinstance(op, AlterSchema) for op in change.ops)
        for name, columns in found.items():
            columns.check(name, now[name])
        return found

    def _layouts(self, epoch: Epoch) -> Mapping[str, int]:
        """The width of each table's partitions after an epoch."""
        found = dict(self.layouts[-1]) if self.layouts else {}
        for op in epoch.ops:
            match op:
                case CreateTable():
                    self.names[op.table] = op.name
                    found[op.name] = _width(op.partition_fields or ())
                case SetPartitionLayout():
                    found[self.names[op.table]] = _width(op.fields)
                case Restore() if op.partition_layout_id is not None:
                    name = self.names[op.table]
                    found[name] = self.layouts[op.epoch][name]
        return found

    def _forbidden(self, epoch: Epoch) -> Mapping[str, frozenset[int]]:
        """The values of `v` that constraints forbid after an epoch, by the id of the table."""
        found = dict(self.forbidden[-1]) if self.forbidden else {}
        for op in epoch.ops:
            match op:
                case CreateTable():
                    found[op.table] = frozenset(map(_value, op.constraints or ()))
                case DropTable():
                    del found[op.table]
                case AddCheck():
                    found[op.table] |= {_value(op.constraint)}
                case DropCheck():
                    found[op.table] = frozenset(
                        value for value in found[op.table] if f"not {value}" != op.name
                    )
                case Restore() if op.constraints is not None:
                    found[op.table] = frozenset(map(_value, op.constraints))
        return found

    def _check_constraints(self, number: int) -> None:
        """No row of a state has a value that a constraint forbids."""
        for table, forbidden in self.forbidden[-1].items():
            rows = self.states[-1].get(self.names[table], {})
            held = [row.v for row in rows.values() if row.v in forbidden]
            assert not held, f"epoch {number} has values that a constraint forbids: {held}"
            self.ruled += len(forbidden)

    def tell(self, intent: Intent, error: ColonnadeError | None, epoch: int | None) -> None:
        """Record what the writer of an intent was told; a killed writer is told nothing."""
        outcome = "done" if error is None else error.kind
        self.told.append((intent, outcome, epoch))

    def check_read(
        self, epoch: int, table: str, where: Condition, found: pa.Table, least: int = 0
    ) -> None:
        """Compare rows that were read with the model. `least` was the head before the read."""
        assert epoch >= least, f"epoch {epoch} was read after epoch {least} had been seen"
        self._check_key(table, epoch, found)
        if table in KEYED:
            check_keyed(table, epoch, found, where.of(self.states[epoch][table]))
            self.reads += 1
            return
        self.check_rows(epoch, table, plain(found, self.shape), where)
        self.columns[epoch][table].check_read(found, self.shape)
        self._check_rules(self.columns[epoch][table].table, found)

    def _check_rules(self, table: str, found: pa.Table) -> None:
        """Check generated values, and that no value of an identity column was given to two rows."""
        if TWICE in found.schema.names:
            for v, twice in zip(found["v"].to_pylist(), found[TWICE].to_pylist(), strict=True):
                assert twice == (None if v is None else 2 * v), f"{twice} was generated of {v}"
            self.generated += found.num_rows
        if NUMBER in found.schema.names:
            numbers = found[NUMBER].to_pylist()
            assert len({*numbers}) == found.num_rows, "a value was given to two rows"
            for row, number in zip(found["id"].to_pylist(), numbers, strict=True):
                first = self.numbers.setdefault((table, number), row)
                assert first == row, f"{number} was given to row {first} and to row {row}"
            self.numbered += found.num_rows

    def check_rows(
        self, epoch: int, table: str, found: dict[int, int | None], where: Condition = ALL_ROWS
    ) -> None:
        """Compare what `plain` has made of rows."""
        want = values(where.of(self.states[epoch][table]))
        assert found == want, f"table {table} at epoch {epoch} where {where.sql()}"
        self.reads += 1

    def check_told(self) -> None:
        """Compare what writers were told with what happened, once nothing is in flight."""
        for intent, outcome, epoch in self.told:
            name = intent.name
            if outcome == "done" and name not in self.landed:
                self._check_nothing_to_do(intent, epoch)
            elif outcome == "done":
                assert epoch == self.landed[name], f"{name} is not the epoch that it was told"
            if outcome not in ("done", "COMMIT_UNKNOWN"):
                assert name not in self.landed, f"{name} was committed though it was {outcome}"

    def _check_nothing_to_do(self, intent: Intent, epoch: int | None) -> None:
        """Whether an intent that was done without an epoch had nothing to do."""
        if intent.batch is not None and intent.batch[1] <= self.batches.get(intent.batch[0], -1):
            return
        assert epoch is not None
        state, then = self.states[epoch], self.states[intent.steps[0].epoch]
        for step in intent.steps:
            missed = step.kind == "backfill" and bool(step.where.of(state[step.table]))
            assert not missed, f"{intent.name} was acknowledged and is lost"
            forgotten = isinstance(step, KeyedStep) and step.at is not None
            assert not forgotten, f"{intent.name} was acknowledged, and nothing remembers it"
        intent = intent.on_layouts(self.layouts[epoch])
        intent = intent.beside(lambda table: self._rivals(table, epoch, epoch, state))
        after = intent.after(state, state, then, epoch, self.serializable)
        same = {name: _seen(rows) for name, rows in after.items()}
        assert same == {name: _seen(rows) for name, rows in state.items()}, (
            f"{intent.name} was acknowledged and is lost"
        )


def _deletions(change: Epoch) -> list[tuple[str, tuple[int, ...], int]]:
    """The keys that a change deletes and its table remembers: the table, the keys and the time."""
    note = change.parameters.get("userMetadata")
    steps = () if note is None else parse_intent(note).steps
    return [
        (step.table, step.keys, step.at)
        for step in steps
        if isinstance(step, KeyedStep) and step.kind == "delete_keys" and step.at is not None
    ]


def _seen(rows: Rows) -> dict[int, tuple[int | None, Rest]]:
    """What a reader sees of rows."""
    return {row: (it.v, it.rest) for row, it in rows.items()}


def _value(constraint: CheckConstraint) -> int:
    """The value of `v` that a constraint forbids."""
    return int(constraint.sql.removeprefix("v <> "))


def _width(fields: Sequence[PartitionField]) -> int:
    """The width of the partitions of a layout: see `LAYOUTS`."""
    return sum(field.argument or 1 for field in fields)


def _draws_for(drawn: Epoch, epoch: Epoch) -> bool:
    """Whether an epoch only draws values of identity columns, for the rows that another adds."""
    added = {job_id_of(op.rowset.object) for op in epoch.ops if isinstance(op, AddRowSet)}
    added |= {job_id_of(op.segment.object) for op in epoch.ops if isinstance(op, AddRowSets)}
    return all(isinstance(op, DrawIdentity) and op.job in added for op in drawn.ops)

"""A change on its way to its slot: followed through each epoch since its base, then made epoch.

Spec: docs/spec/conflicts.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyroaring import FrozenBitMap

from colonnade.manifests.checkpoint.reader import read_segment_objects
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.conflicts import check_epoch
from colonnade.manifests.commit.identity_draws import after_own_draws
from colonnade.manifests.commit.rebase.compaction import OwnCompaction, Vectors, carry_through
from colonnade.manifests.commit.rebase.reads import check_reads
from colonnade.manifests.commit.rebase.replaced_rows import (
    Origins,
    OriginWriter,
    carried_origins,
)
from colonnade.manifests.commit.rebase.targets import (
    Overlap,
    TargetRowSet,
    all_rows,
    conflict,
    id_ranges,
    ids_of,
    numbered,
)
from colonnade.manifests.commit.rebase.tombstones import check_tombstones
from colonnade.manifests.commit.rebase.vector_writer import VectorWriter
from colonnade.manifests.commit.vacuum_conflicts import check_vacuum
from colonnade.manifests.errors import (
    ColumnConflictError,
    ConflictError,
    CorruptionError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.codec import encoded_length
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSets,
    Compaction,
    CompactionOutput,
    DropRowSet,
    Operation,
    ReplaceColumn,
    ReplaceRows,
    RowKind,
    Vacuum,
)
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot

Targets = Mapping[str, Mapping[int, TargetRowSet]]


@dataclass(frozen=True, slots=True)
class Carried:
    """A change as it would be committed after some epoch since its base.

    It is a value, except `writer` and `origin_writer`.

    `targets` are the RowSets, by table and id, whose rows it deletes or whose columns it replaces.
    `overwriting` are the tables whose rows it overwrites, and `overwritten` the ids of the RowSets
    that it drops for that. `compactions` are its own compactions, by table. `origins` say which
    rows its rows replace, as `Change.origins` does. `filled` are operations that follow the other
    ones.
    """

    change: Change
    base: Snapshot
    log: LogReader
    vectors: Vectors
    writer: VectorWriter
    targets: Targets
    overwriting: frozenset[str]
    overwritten: Mapping[str, FrozenBitMap]
    compactions: Mapping[str, OwnCompaction]
    planned_deletes: int
    origins: Mapping[str, Origins]
    origin_writer: OriginWriter
    filled: tuple[Operation, ...] = ()

    @property
    def needs_states(self) -> bool:
        """Whether following an epoch requires the state before it. An append does not."""
        change = self.change
        return bool(
            self.targets or self.overwritten or self.compactions or change.reads or change.keys
        )

    def follow(self, before: Snapshot | None, theirs: Epoch) -> Carried:
        """Return the change after an epoch. `before` is the state before the epoch.

        `before` may be None if `needs_states` is false. Reads vector objects of RowSets that both
        the change and the epoch changed. Raises ConflictError that names table, operation, rows and
        epoch; StoreError. If such a vector is missing, raises CorruptionError for a change that is
        not `fresh`.
        """
        check_epoch(self.change, self.base, theirs)
        check_vacuum(self.change, self.base, theirs, self._listed(theirs))
        change = after_own_draws(self.change, theirs)
        carried = self if change is self.change else replace(self, change=change)
        if before is None:
            return carried
        check_reads(self.change, self.base, before, theirs, self.log)
        check_tombstones(self.change, self.base, before, theirs, self.log)
        for operation, first_id in numbered(before, theirs):
            if isinstance(operation, Vacuum):
                self.writer.forget(frozenset(operation.victims))
                self.origin_writer.forget(frozenset(operation.victims))
            table = getattr(operation, "table", "")
            try:
                carried = carried._follow(operation, table, first_id, theirs)
            except Overlap as overlap:
                happened = f"{overlap} of table {self._name(table)!r} changed"
                kind = ColumnConflictError if overlap.of_columns_only else ConflictError
                raise self._conflict(happened, theirs, kind) from overlap
            except CorruptionError as error:
                if not self.change.fresh:
                    raise  # An earlier send may have followed this epoch while it was readable.
                raise ConflictError(
                    f"How epoch {theirs.epoch} ({theirs.operation}) moved rows of table"
                    f" {self._name(table)!r} cannot be read any more: {error.message} Read the"
                    f" table again and repeat {self.change.operation!r}."
                ) from error
        return carried

    def _listed(self, theirs: Epoch) -> set[str]:
        """Return the objects in segments that an epoch adds, if the change is a vacuum."""
        if not any(isinstance(op, Vacuum) for op in self.change.ops):
            return set()
        segments = (op.segment for op in theirs.ops if isinstance(op, AddRowSets))
        found = (read_segment_objects(self.log.store, each) for each in segments)
        return {name for each in found for name in each.live((), {})}

    def _follow(self, operation: Operation, table: str, first_id: int, theirs: Epoch) -> Carried:
        carried = self
        if targets := self.targets.get(table):
            after = self._follow_targets(targets, operation, first_id, table in self.overwriting)
            if after is not targets:
                carried = replace(carried, targets={**self.targets, table: after})
            if isinstance(operation, Compaction):
                carried = carried._with_origins(operation, first_id, targets)
        if (overwritten := self.overwritten.get(table)) is not None:
            kept = self._follow_overwritten(overwritten, operation, first_id, theirs)
            carried = replace(carried, overwritten={**self.overwritten, table: kept})
        if (own := self.compactions.get(table)) is not None:
            compaction = own.follow(operation, self.vectors)
            if compaction is None:
                name = self._name(table)
                raise self._conflict(
                    f"RowSets of table {name!r} that the compaction rewrites changed", theirs
                )
            carried = replace(carried, compactions={**self.compactions, table: compaction})
        return carried

    def _with_origins(
        self, operation: Compaction, first_id: int, targets: Mapping[int, TargetRowSet]
    ) -> Carried:
        """Return the change whose rows replace rows as a compaction has moved them."""
        table = operation.table
        met = any(each.rowset in targets for each in operation.inputs)
        if not met or table not in self.origins:
            return self
        moves = self.vectors.moves(operation)
        origins = carried_origins(operation, first_id, self.origins[table], moves)
        return replace(self, origins={**self.origins, table: origins})

    def _follow_targets(
        self,
        targets: Mapping[int, TargetRowSet],
        operation: Operation,
        first_id: int,
        overwrites: bool,
    ) -> Mapping[int, TargetRowSet]:
        match operation:
            case AddDeletionVector():
                target = targets.get(operation.rowset)
                if target is None:
                    return targets
                deleted = self.vectors.rows(operation.table, operation.vector)
                kind = operation.kind or "delete"
                after = target.after(kind, deleted, operation.vector, overwrites=overwrites)
                return {**targets, operation.rowset: after}
            case ReplaceColumn():
                target = targets.get(operation.rowset)
                if target is not None:
                    columns = frozenset(operation.replacement.columns)
                    changed = self.vectors.changed(operation, target.found.rows)
                    target.after_replacement(columns, changed, overwrites=overwrites)
            case DropRowSet():
                ids = ids_of(operation.rowsets)
                for rowset, target in targets.items():
                    if rowset not in ids:
                        continue
                    if operation.kind is None:
                        raise Overlap(rowset, target.rows)
                    every = all_rows(target.found.rows)
                    target.after(operation.kind, every, None, overwrites=overwrites)
                return {k: each for k, each in targets.items() if k not in ids}
            case Compaction():
                return carry_through(operation, first_id, targets, self.vectors)
        return targets

    def _follow_overwritten(
        self, overwritten: FrozenBitMap, operation: Operation, first_id: int, theirs: Epoch
    ) -> FrozenBitMap:
        """Return the RowSets to drop after a concurrent operation."""
        table = getattr(operation, "table", "")
        match operation:
            case AddDeletionVector() | ReplaceColumn():
                met = operation.rowset in overwritten
            case DropRowSet():
                met = bool(ids_of(operation.rowsets) & overwritten)
            case Compaction():
                inputs = FrozenBitMap(each.rowset for each in operation.inputs)
                if inputs <= overwritten and inputs:
                    outputs = enumerate(operation.outputs, first_id)
                    return (overwritten - inputs) | FrozenBitMap(
                        i for i, output in outputs if not output.is_empty
                    )
                met = bool(inputs & overwritten)
            case _:
                met = False
        if met:
            name = self._name(table)
            raise self._conflict(
                f"Rows of table {name!r} that the statement overwrites changed", theirs
            )
        return overwritten

    def _conflict(
        self, happened: str, theirs: Epoch, kind: type[ConflictError] = ConflictError
    ) -> ConflictError:
        return conflict(self.change.operation, self.base.epoch, happened, theirs, kind)

    def _name(self, table: str) -> str:
        known = self.base.tables.get(TableId(table))
        return table if known is None else known.name

    def write_operations(self) -> tuple[Operation, ...]:
        """Return the operations of the change for the slot after the epochs that it has followed.

        Deleted rows become deletion vectors. A vector that is too large for the log, or for the
        room in the epoch, is stored as an object first. Raises StoreError.
        """
        vectors = sum(
            len(target.deletions) for of in self.targets.values() for target in of.values()
        )
        self.writer.begin(encoded_length(self.change.ops) if vectors else 0, vectors)
        written = [self._write_operation(op) for op in self.change.ops if not self._is_void(op)]
        for table, targets in self.targets.items():
            whole: dict[RowKind, list[int]] = {}
            for rowset, target in sorted(targets.items()):
                if len(target.found.deleted | target.rows) < target.found.rows:
                    written += self._write_vectors(table, target)
                elif target.rows:
                    whole.setdefault(_strictest(target), []).append(rowset)
            written += [
                DropRowSet(table=table, rowsets=id_ranges(ids), kind=kind)
                for kind, ids in whole.items()
            ]
        if not self.writer.previews:
            written += [
                self.origin_writer.write(table, origins, self.targets.get(table, {}))
                for table, origins in self.origins.items()
            ]
        return (*written, *self.filled)

    def metrics(self, operations: Sequence[Operation]) -> dict[str, int]:
        """Return the change's metrics, as of `operations`.

        They include the bytes of its vectors, and exclude rows that concurrent writers deleted
        first.
        """
        counts = dict(self.change.metrics)
        if "rows_deleted" in counts:
            counts["rows_deleted"] -= self.planned_deletes - rows_deleted(self.targets)
        if "bytes_written" in counts:
            counts["bytes_written"] += sum(
                op.vector.check.length for op in operations if isinstance(op, AddDeletionVector)
            )
            counts["bytes_written"] += sum(
                op.origin.check.length for op in operations if isinstance(op, ReplaceRows)
            )
        return counts

    def _is_void(self, operation: Operation) -> bool:
        """Return whether an operation replaces columns of a RowSet without live rows."""
        if not isinstance(operation, ReplaceColumn):
            return False
        target = self.targets[operation.table].get(operation.rowset)
        return target is None or len(target.found.deleted | target.rows) == target.found.rows

    def _write_operation(self, operation: Operation) -> Operation:
        if isinstance(operation, DropRowSet) and operation.table in self.overwritten:
            ids = id_ranges(self.overwritten[operation.table])
            return operation.model_copy(update={"rowsets": ids})
        if isinstance(operation, Compaction):
            return self._write_compaction(operation)
        return operation

    def _write_compaction(self, operation: Compaction) -> Compaction:
        own = self.compactions[operation.table]
        deleted = own.deleted_since
        outputs = tuple(
            self._with_vector(operation.table, output, deleted[i]) if i in deleted else output
            for i, output in enumerate(map(own.dated, operation.outputs))
        )
        return operation.model_copy(update={"outputs": outputs})

    def _with_vector(
        self, table: str, output: CompactionOutput, deleted: FrozenBitMap
    ) -> CompactionOutput:
        vector = self.writer.write(table, output.rowset.object, deleted, None)
        return output.model_copy(update={"vector": vector})

    def _write_vectors(self, table: str, target: TargetRowSet) -> list[Operation]:
        """Return one vector operation for each kind of statement that deleted rows."""
        written: list[Operation] = []
        found = target.found
        for each in target.deletions:
            if not each.rows:
                continue
            deleted = found.deleted | each.rows
            vector = self.writer.write(table, found.id, deleted, found.vector)
            kind = each.kind if each.kind in ("update", "merge") else None
            written.append(
                AddDeletionVector(table=table, rowset=found.id, vector=vector, kind=kind)
            )
            found = replace(found, deleted=deleted, vector=vector)
        return written


def rows_deleted(targets: Targets) -> int:
    """Return the number of rows that are deleted and not moved."""
    found = (target for of_table in targets.values() for target in of_table.values())
    return sum(len(t.rows) for target in found for t in target.changes if t.kind == "delete")


def _strictest(target: TargetRowSet) -> RowKind:
    for each in target.deletions:
        if each.rows and each.kind in ("update", "merge"):
            return each.kind
    return "delete"

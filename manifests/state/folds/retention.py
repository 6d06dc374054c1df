"""The fold of what limits a vacuum: tags, pins, leases, consumers, anchors and the floor.

Pure, as `fold.py`. Spec: docs/spec/epoch-log.md#fold
"""

from __future__ import annotations

from colonnade.manifests.model.operations import (
    DropConsumer,
    Lease,
    Pin,
    SetConsumer,
    Tag,
    Unpin,
    Untag,
    Vacuum,
)
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import Snapshot


class RetentionFold:
    """What keeps epochs of a database, while it is being changed.

    `removed` are the objects that vacuums have removed. Each method applies one operation of an
    epoch, and raises CorruptionError if it contradicts the state.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.anchors, self.anchor_list = snapshot.anchors, snapshot.anchor_list
        self.tags = dict(snapshot.tags)
        self.pins = dict(snapshot.pins)
        self.leases = dict(snapshot.leases)
        self.consumers = dict(snapshot.consumers)
        self.floor = snapshot.floor
        self.removed = set[str]()

    def set_or_remove(self, epoch: int, operation: Tag | Untag | Pin | Unpin) -> None:
        """Apply an operation on a tag or pin."""
        if isinstance(operation, Tag | Pin) and operation.epoch >= epoch:
            refuse(epoch, f"keeps epoch {operation.epoch}, which does not precede it")
        name = operation.name
        match operation:
            case Tag():
                if name in self.tags:
                    refuse(epoch, f"gives the tag {name!r} to a second epoch")
                self.tags[name] = operation.epoch
            case Untag():
                if self.tags.pop(name, None) is None:
                    refuse(epoch, f"removes the tag {name!r}, which does not exist")
            case Pin():
                pinned = self.pins.get(name)
                if pinned and pinned.epoch != operation.epoch:
                    refuse(epoch, f"moves the pin {name!r} to another epoch")
                self.pins[name] = max(pinned or operation, operation, key=lambda p: p.until_ms)
            case Unpin():
                if self.pins.pop(name, None) is None:
                    refuse(epoch, f"removes the pin {name!r}, which does not exist")

    def lease(self, epoch: int, operation: Lease) -> None:
        """Begin, renew or end the lease of a job."""
        before = self.leases.get(operation.job)
        if operation.epoch >= epoch or (before and before.epoch != operation.epoch):
            refuse(epoch, f"leases epoch {operation.epoch} to job {operation.job}")
        self.leases[operation.job] = operation
        if not operation.until_ms:
            # Vacuum may have ended a lease whose time was over.
            del self.leases[operation.job]

    def consume(self, epoch: int, operation: SetConsumer | DropConsumer) -> None:
        """Create, move or remove a consumer."""
        name = operation.name
        known = self.consumers.pop(name, None)
        if isinstance(operation, DropConsumer):
            if known is None:
                refuse(epoch, f"removes the consumer {name!r}, which does not exist")
            return
        if (known and known.seen) != operation.before or operation.seen >= epoch:
            refuse(epoch, f"moves the consumer {name!r} from another epoch, or to itself")
        if known is not None and known.source != operation.source:
            refuse(epoch, f"moves the consumer {name!r} to another table")
        self.consumers[name] = operation

    def vacuum(self, epoch: int, operation: Vacuum) -> None:
        """Remove epochs. Refuses to remove one that a tag, pin, lease or consumer keeps."""
        floor, anchored = operation.floor, [anchor.epoch for anchor in operation.anchors]
        if floor >= epoch:
            refuse(epoch, f"moves the floor to epoch {floor}")
        if len(set(anchored)) < len(anchored) or max(anchored, default=0) != floor:
            refuse(epoch, f"anchors epochs {anchored}, which do not fit a floor at {floor}")
        if operation.anchor_list is not None and len(anchored) != 1:
            refuse(epoch, "has an anchor list, and other anchors beside that of its floor")
        wanted = {*self.tags.values(), *(pin.epoch for pin in self.pins.values())}
        # What an anchor list has cannot be compared, because the fold reads no such object.
        unlisted = operation.anchor_list is None
        lost = sorted(each for each in wanted.difference(anchored) if unlisted and each < floor)
        held = [lease.epoch for lease in self.leases.values()]
        held += [each.seen for each in self.consumers.values() if each.until_ms]
        held = sorted(each for each in held if each < floor)
        if lost or held:
            kept = (lost or held)[0]
            refuse(epoch, f"removes epoch {kept}, which a tag, pin, lease or consumer keeps")
        # A state that was read from an anchor may have a higher floor than this epoch gives it.
        self.floor, self.anchors = max(self.floor, floor), operation.anchors
        self.anchor_list = operation.anchor_list
        self.removed.update(operation.victims)

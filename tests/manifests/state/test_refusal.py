"""An epoch that contradicts the state before it is damage, and is named."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.state.refusal import refuse


def test_a_refusal_is_damage_and_names_the_epoch() -> None:
    with pytest.raises(CorruptionError, match=r"Epoch 7 drops what never was\."):
        refuse(7, "drops what never was")

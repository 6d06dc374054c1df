"""What the planner keeps of transactions, without Spark."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec

from spark_ext.planner import transactions


def test_no_state_has_the_number_of_one_of_another_planner() -> None:
    spec = find_spec(transactions.__name__)
    assert spec is not None
    assert spec.loader is not None
    numbers = set()
    for _ in range(2):
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        numbers.add(next(module._STATES))
    assert len(numbers) == 2
    assert all(transactions.is_state(number) and number < 2**53 - 2**31 for number in numbers)

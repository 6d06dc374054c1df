"""Arrow columns as table columns: types, conversion, checks of values and sizes. Does no I/O."""

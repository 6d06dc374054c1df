"""Columns of Arrow as columns of a table: types, conversion, checks of values and sizes. Pure."""

"""The objects that users hold: tables, databases and transactions, and their operations."""

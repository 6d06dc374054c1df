"""The log of a database: its writer, its creation and its end."""

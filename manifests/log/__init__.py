"""The log of a database: its reader, its writer, its creation and its end."""

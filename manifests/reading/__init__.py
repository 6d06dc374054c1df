"""States of a database as its log tells them: the newest one, or one of an earlier epoch."""

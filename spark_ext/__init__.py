"""What Spark asks for: the data source, and `Table` and `Database` for a Spark session.

No rule of the format lives here; `tableformat` holds those.
"""

"""What Spark asks for: the data source, and `Table` and `Database` for a Spark session.

No rule of the format lives here; `tableformat` holds those.

    a session, made ready         session settings supported doctor errors
    who decides, who moves bytes  planner/ java/ write_task
    the source in pure Python     source options reader write_plan writer streams empty_arrays
    schemas of Spark              types pyspark_types
    what users call               table database transaction answer_rows
    how rows are changed          row_methods statements column_sql merge update
    work of ours as Spark jobs    executors optimize
"""

"""The Spark half: the data source, and `Table` and `Database` for a Spark session.

This package holds no rules of the format; `tableformat` does.

    setting up a session          session session_storage session_author settings
                                  launch_settings supported jar doctor errors
    settings of Hadoop            hadoop/
    planning, moving the rows     planner/ java/ table_design write_plan write_task
    rows of results               answer_rows history_rows
    the source in pure Python     source/
    options of the source         options/
    schemas of Spark              types pyspark_types
    the public classes            table/
    running jobs on executors     executors
"""

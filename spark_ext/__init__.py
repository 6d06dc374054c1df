"""The Spark half: the data source, and `Table` and `Database` for a Spark session.

This package holds no rules of the format; `tableformat` does.

    setting up a session          session session_storage settings supported doctor errors
    settings of Hadoop            hadoop_stores hadoop_s3 hadoop_gcs hadoop_azure hadoop_hdfs
    planning, moving the rows     planner/ java/ write_task
    the source in pure Python     source options reader write_plan writer streams empty_arrays
    schemas of Spark              types pyspark_types
    the public classes            table database transaction answer_rows
    changing rows                 row_methods statements column_sql merge update columns
    running jobs on executors     executors optimize
"""

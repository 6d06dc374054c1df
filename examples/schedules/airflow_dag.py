"""Keeps the tables of one database fast and small: a round every ten minutes, a page every day.

Needs Airflow 3 with its standard provider, and `colonnade[cli]` where the tasks run.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

DATABASE = "/data/lake"

with DAG(
    dag_id="colonnade_maintain",
    schedule=timedelta(minutes=10),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    # Two rounds at once do no harm, but nothing is gained by a second.
    max_active_runs=1,
) as maintain_dag:
    BashOperator(
        task_id="maintain",
        bash_command=f"colonnade maintain {DATABASE} --json",
        # A round goes on where one that was killed has stopped.
        retries=2,
        execution_timeout=timedelta(hours=2),
    )

with DAG(
    dag_id="colonnade_report",
    schedule="15 6 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
) as report_dag:
    BashOperator(
        task_id="report",
        bash_command=f"colonnade report {DATABASE} --output /var/www/html/lake.html",
    )

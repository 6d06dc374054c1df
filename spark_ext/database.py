"""`colonnade.Database`: create, list and drop the tables of a database from a Spark session."""

from __future__ import annotations

from pyspark.sql import SparkSession

from manifests.errors import AlreadyExistsError
from spark_ext.table import Table, TableBuilder
from tableformat.database import Database as ArrowDatabase


class Database:
    """A directory of tables with one log. Use `Database.forPath` or `Database.create`."""

    def __init__(self, spark_session: SparkSession, database: ArrowDatabase) -> None:
        self._spark = spark_session
        self._database = database

    @classmethod
    def forPath(cls, sparkSession: SparkSession, path: str) -> Database:
        """Open the database at `path`. Raises NotFoundError when there is none."""
        return cls(sparkSession, ArrowDatabase.open(path))

    @classmethod
    def create(cls, sparkSession: SparkSession, path: str) -> Database:
        """Create an empty database. Raises AlreadyExistsError when there is one."""
        return cls(sparkSession, ArrowDatabase.create(path))

    @classmethod
    def createIfNotExists(cls, sparkSession: SparkSession, path: str) -> Database:
        """Open the database at `path`, creating it when there is none."""
        try:
            return cls.create(sparkSession, path)
        except AlreadyExistsError:
            return cls.forPath(sparkSession, path)

    @property
    def path(self) -> str:
        """Where the database is."""
        return self._database.path

    def tables(self) -> list[str]:
        """The names of the tables, sorted."""
        return self._database.tables()

    def table(self, name: str) -> Table:
        """Open a table. Raises NotFoundError that lists what there is."""
        return Table(self._spark, self._database.table(name))

    def createTable(self, name: str) -> TableBuilder:
        """Begin to describe a new table of this database."""
        return TableBuilder(self._spark, path=f"{self._database.path}/{name}")

    def createTableIfNotExists(self, name: str) -> TableBuilder:
        """Begin to describe a table that may be there already; then it is opened as it is."""
        return TableBuilder(self._spark, path=f"{self._database.path}/{name}", open_existing=True)

    def dropTable(self, name: str) -> None:
        """Remove a table; its files stay until vacuum. Raises NotFoundError."""
        self._database.drop_table(name)

    def __repr__(self) -> str:
        return f"Database({self._database.path!r})"

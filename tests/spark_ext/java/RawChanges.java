import colonnade.spark.catalog.DatabaseCatalog;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.ChangelogContext.DeduplicationMode;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A catalog whose changes are the deleted and inserted rows of each epoch. Spark's own passes make
 * updates and net changes of them, by the column {@code k}.
 */
public final class RawChanges extends DatabaseCatalog {
  @Override
  public Changelog loadChangelog(
      Identifier identifier, ChangelogContext context, CaseInsensitiveStringMap options)
      throws NoSuchTableException {
    ChangelogContext raw = new ChangelogContext(context.range(), DeduplicationMode.NONE, false);
    return new Raw(super.loadChangelog(identifier, raw, CaseInsensitiveStringMap.empty()));
  }

  private record Raw(Changelog rows) implements Changelog {
    @Override
    public String name() {
      return rows.name();
    }

    @Override
    public Column[] columns() {
      return rows.columns();
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return rows.newScanBuilder(options);
    }

    @Override
    public boolean containsCarryoverRows() {
      return false;
    }

    @Override
    public boolean containsIntermediateChanges() {
      return true;
    }

    @Override
    public boolean representsUpdateAsDeleteAndInsert() {
      return true;
    }

    @Override
    public NamedReference[] rowId() {
      return new NamedReference[] {Expressions.column("k")};
    }

    @Override
    public NamedReference rowVersion() {
      return Expressions.column("_commit_version");
    }
  }
}

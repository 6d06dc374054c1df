package colonnade.spark.catalog;

import colonnade.planner.Planner;
import colonnade.planner.messages.Writes.CheckWriteOptions;
import colonnade.spark.sink.ColonnadeTable;
import colonnade.spark.table.ReadOptions;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The path of {@code spark.read.load(path)} or {@code df.write.save(path)}, as an identifier.
 *
 * <p>Spark asks the catalog for the table in the same way for both. But only for a read does it first
 * ask for the wanted version. This tells them apart: the table of a read must exist, and the table
 * of a write may not exist yet.
 */
public final class DataFramePath implements Identifier {
  private final String path;
  private final CaseInsensitiveStringMap options;
  private volatile boolean read;

  /** Creates an identifier. {@code options} are those of the read or write, including the path. */
  public DataFramePath(String path, CaseInsensitiveStringMap options) {
    this.path = path;
    this.options = options;
  }

  /** Marks this as a table to read, which must exist. */
  public void isRead() {
    read = true;
  }

  boolean mayBeNew() {
    return !read;
  }

  /** Whether this is a read of the changes of the table. */
  boolean asksForChanges() {
    return read && ReadOptions.asksForChanges(options.asCaseSensitiveMap());
  }

  /** Returns all options of the read or write. */
  Map<String, String> options() {
    return options.asCaseSensitiveMap();
  }

  /**
   * Refuses invalid options of a write before Spark compares its columns with the table's columns.
   */
  void checkWrite() {
    if (options.size() > 1) {
      Map<String, String> given = options.asCaseSensitiveMap();
      Planner.call(new CheckWriteOptions(given));
    }
  }

  /** Returns these options with those of the read or write that Spark does not pass on. */
  Map<String, String> withStorage(Map<String, String> others) {
    Map<String, String> found = ReadOptions.unsaid(options.asCaseSensitiveMap());
    found.putAll(others);
    return found;
  }

  /** Whether the write replaces the columns of the table by the columns of its rows. */
  boolean takesAnyColumns() {
    return options.getBoolean(ColonnadeTable.OVERWRITE_SCHEMA, false);
  }

  @Override
  public String[] namespace() {
    return new String[0];
  }

  @Override
  public String name() {
    return path;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Identifier identifier
        && identifier.namespace().length == 0
        && identifier.name().equals(path);
  }

  @Override
  public int hashCode() {
    return Identifier.of(namespace(), path).hashCode();
  }

  @Override
  public String toString() {
    return path;
  }
}

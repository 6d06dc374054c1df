package colonnade.catalog;

import org.apache.spark.sql.connector.catalog.Identifier;

/**
 * The path of {@code spark.read.load(path)} or {@code df.write.save(path)}, as an identifier.
 *
 * <p>Spark asks the catalog for the table in the same way for both. Only for a read it asks before
 * which version of it is wanted, and that makes the difference: a write goes to a table that may
 * not be there yet.
 */
public final class DataFramePath implements Identifier {
  private final String path;
  private volatile boolean read;

  public DataFramePath(String path) {
    this.path = path;
  }

  /** From now on this is a table to read, which must be there. */
  public void isRead() {
    read = true;
  }

  boolean mayBeNew() {
    return !read;
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

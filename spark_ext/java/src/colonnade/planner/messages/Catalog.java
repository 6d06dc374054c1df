package colonnade.planner.messages;

import java.util.List;
import java.util.Map;

/**
 * Requests of the catalog about databases, tables and names. {@code planner/messages/catalog.py}
 * says what each field is.
 */
public final class Catalog {
  private Catalog() {}

  /** Ask whether the text {@code path} is a URL and not a path on a local disk. */
  public record NamesUrl(String path) implements Question<Replies.Answer> {}

  /** List the databases in the folder {@code warehouse}, sorted; none if the folder is missing. */
  public record ListDatabases(String warehouse) implements Question<Replies.Names> {}

  /** Ask whether {@code path} is a database of several tables. */
  public record DatabaseExists(String path) implements Question<Replies.Answer> {}

  /** Create an empty database at {@code path}. */
  public record CreateDatabase(String path) implements OneTimeRequest<Replies.Done> {}

  /**
   * Remove the database at {@code path} and everything in its folder; tables need {@code
   * cascade}.
   */
  public record DropDatabase(String path, boolean cascade)
      implements OneTimeRequest<Replies.Answer> {}

  /** List the tables of the database at {@code path}, sorted. */
  public record ListTables(String path) implements Question<Replies.Names> {}

  /** Ask whether a table exists at {@code path}; the answer is no for a path that cannot be one. */
  public record TableExists(
      String path, Map<String, String> options, Long query)
      implements Question<Replies.Answer> {}

  /** Drop the table at {@code path}; the answer is no if it does not exist. */
  public record DropTable(String path) implements OneTimeRequest<Replies.Answer> {}

  /** Drop the table at {@code path}, and remove the files of a lone table on a local disk. */
  public record RemoveTable(String path) implements OneTimeRequest<Replies.Answer> {}

  /** Rename the table at {@code path} to {@code name}, in the same database. */
  public record RenameTable(
      String path, String name, boolean anyCase)
      implements OneTimeRequest<Replies.Done> {}

  /** Apply {@code changes} to the table at {@code path}, in order and in one epoch. */
  public record AlterTable(
      String path, List<Changes.Change> changes)
      implements OneTimeRequest<Replies.Done> {}

  /**
   * Return the name of a database in the folder {@code warehouse} as it is; {@code query} is as
   * in {@code Load}.
   */
  public record DatabaseInItsCase(
      String warehouse, String name, Long query)
      implements Question<Replies.Name> {}

  /**
   * Return the name of a table in the database at {@code path} as it is; {@code query} is as in
   * {@code Load}.
   */
  public record TableInItsCase(
      String path, String name, Long query)
      implements Question<Replies.Name> {}

  /**
   * Return the columns of the table at {@code path} with what it lacks for the rows of a
   * statement.
   */
  public record ColumnsForRows(
      String path, Views.NamedView view, Views.RowsToWrite rows, Map<String, String> options)
      implements Question<Columns> {}

  /** A Spark schema as JSON. */
  public record Columns(String columns) {}

  /**
   * Ask whether a column of the Spark type {@code own} can widen to take values of {@code
   * valueType}.
   */
  public record MayWiden(String own, String valueType) implements Question<Replies.Answer> {}
}

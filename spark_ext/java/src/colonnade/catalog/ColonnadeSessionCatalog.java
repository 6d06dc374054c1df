package colonnade.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.source.ColonnadeTable;
import java.util.Arrays;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.connector.expressions.Transform;

/**
 * Spark's own catalog, {@code spark_catalog}, which knows of each Colonnade table in it just a name
 * and a path: columns, properties and the comment are those of the table's log. What concerns other
 * formats passes through.
 */
public final class ColonnadeSessionCatalog extends DelegatingCatalogExtension
    implements StagingTableCatalog {

  private static boolean isOurs(TableInfo info) {
    return TableDesign.PROVIDER.equalsIgnoreCase(info.properties().get(TableCatalog.PROP_PROVIDER));
  }

  @Override
  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    if (identifier.namespace().length > 1) {
      Table about = about(identifier);
      return about != null ? about : super.loadTable(identifier);
    }
    try {
      return loaded(super.loadTable(identifier));
    } catch (NoSuchTableException missing) {
      Table about = about(identifier);
      if (about == null) {
        throw missing;
      }
      return about;
    }
  }

  /** What {@code t.history} or {@code db.t.history} names if {@code t} is ours, else null. */
  private Table about(Identifier identifier) throws NoSuchTableException {
    String[] above = identifier.namespace();
    if (above.length < 1 || above.length > 2) {
      return null;
    }
    String database = above.length == 2 ? above[0] : NamedTable.currentDatabase(name());
    Identifier owner = Identifier.of(new String[] {database}, above[above.length - 1]);
    String path;
    try {
      path = pathOf(super.loadTable(owner));
    } catch (NoSuchTableException error) {
      return null;
    }
    if (path == null) {
      return null;
    }
    if (!MetadataTable.kinds().contains(identifier.name())) {
      throw new NoSuchTableException(identifier);
    }
    return new MetadataTable(path, identifier.name());
  }

  @Override
  public Table loadTable(Identifier identifier, String version) throws NoSuchTableException {
    String path = pathOf(super.loadTable(identifier));
    return path == null
        ? super.loadTable(identifier, version)
        : Tables.load(path, Map.of("versionAsOf", version));
  }

  @Override
  public Table loadTable(Identifier identifier, long micros) throws NoSuchTableException {
    String path = pathOf(super.loadTable(identifier));
    return path == null
        ? super.loadTable(identifier, micros)
        : Tables.load(path, Map.of("timestampMicros", Long.toString(micros)));
  }

  private static Table loaded(Table table) {
    String path = pathOf(table);
    return path == null || table instanceof ColonnadeTable
        ? table
        : Tables.load(path, Map.of());
  }

  /** Where a table of ours is; null for one of another format. */
  private static String pathOf(Table table) {
    if (table instanceof ColonnadeTable ours) {
      return ours.path();
    }
    boolean ours =
        table instanceof V1Table
            && TableDesign.PROVIDER.equalsIgnoreCase(
                table.properties().get(TableCatalog.PROP_PROVIDER));
    return ours ? Warehouse.localPath(table.properties().get(TableCatalog.PROP_LOCATION)) : null;
  }

  @Override
  public Table createTable(Identifier identifier, TableInfo info)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (!isOurs(info)) {
      return super.createTable(identifier, info);
    }
    TableDesign design = TableDesign.of(info);
    String path = newPath(identifier, design);
    boolean known = design.location() != null && Tables.exists(path);
    if (known) {
      refuseOther(path, design, info.partitions());
    } else if (design.schema().isEmpty()) {
      throw ColonnadeException.unchecked(
          "COLONNADE_NOT_FOUND",
          "There is no table at " + path + " yet: name the columns of the one to create.");
    } else {
      StagedColonnadeTable.create(path, design);
    }
    return register(identifier, path);
  }

  /** A statement that repeats how a table is that is there must repeat it right. */
  private static void refuseOther(String path, TableDesign design, Transform[] partitioning) {
    ColonnadeTable table = ColonnadeTable.load(path, Map.of());
    boolean same = design.schema().isEmpty() || table.schema().sameType(design.schema());
    if (!same) {
      throw ColonnadeException.unchecked(
          "COLONNADE_ALREADY_EXISTS",
          String.format(
              "The Colonnade table %s has the columns %s; leave out the columns to use it.",
              path, table.schema().toDDL()));
    }
    if (partitioning.length > 0 && !Arrays.equals(partitioning, table.partitioning())) {
      throw ColonnadeException.unchecked(
          "COLONNADE_ALREADY_EXISTS",
          String.format(
              "The Colonnade table %s has the layout %s; leave out PARTITIONED BY and CLUSTER BY to"
                  + " use it.",
              path, Arrays.toString(table.partitioning())));
    }
  }

  /** Where a new table will be: at its LOCATION, else in the folder of its database. */
  private String newPath(Identifier identifier, TableDesign design)
      throws NoSuchNamespaceException {
    String location = design.location();
    return location == null ? ownPath(identifier) : Warehouse.localPath(location);
  }

  /** Where a table is that was created without a LOCATION. */
  private String ownPath(Identifier identifier) throws NoSuchNamespaceException {
    String database =
        loadNamespaceMetadata(identifier.namespace()).get(SupportsNamespaces.PROP_LOCATION);
    return Warehouse.localPath(database) + "/" + identifier.name();
  }

  /**
   * Makes a table known by name, as an external one: Spark must not create, move or delete the
   * folder of a managed one around us.
   */
  private Table register(Identifier identifier, String path)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    ColonnadeTable table = ColonnadeTable.load(path, Map.of());
    Map<String, String> properties =
        Map.of(
            TableCatalog.PROP_PROVIDER, TableDesign.PROVIDER, TableCatalog.PROP_LOCATION, path);
    super.createTable(identifier, table.columns(), new Transform[0], properties);
    return table;
  }

  /** Drops a table that was created without a LOCATION; of others it forgets the name. */
  @Override
  public boolean dropTable(Identifier identifier) {
    String path;
    boolean ours;
    try {
      path = pathOf(super.loadTable(identifier));
      ours = path != null && path.equals(ownPath(identifier));
    } catch (NoSuchTableException | NoSuchNamespaceException error) {
      return false;
    }
    boolean dropped = super.dropTable(identifier);
    if (dropped && ours) {
      Planner.callOnce("drop_table", Map.of("path", path));
    }
    return dropped;
  }

  @Override
  public Table alterTable(Identifier identifier, TableChange... changes)
      throws NoSuchTableException {
    String path = pathOf(super.loadTable(identifier));
    if (path == null) {
      return super.alterTable(identifier, changes);
    }
    return Alterations.carryOut(path, changes);
  }

  @Override
  public StagedTable stageCreate(Identifier identifier, TableInfo info)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (!isOurs(info)) {
      return new PassedTable(super.createTable(identifier, info), () -> dropTable(identifier));
    }
    TableDesign design = TableDesign.of(info);
    String path = newPath(identifier, design);
    return new StagedColonnadeTable(path, design, false)
        .then(() -> registered(identifier, path));
  }

  private void registered(Identifier identifier, String path) {
    try {
      register(identifier, path);
    } catch (TableAlreadyExistsException | NoSuchNamespaceException error) {
      String sentence =
          String.format(
              "The table was created at %s, but %s names another one by now.", path, identifier);
      throw new ColonnadeException("COLONNADE_ALREADY_EXISTS", sentence, error).unchecked();
    }
  }

  @Override
  public StagedTable stageReplace(Identifier identifier, TableInfo info)
      throws NoSuchTableException, NoSuchNamespaceException {
    String path = pathOf(super.loadTable(identifier));
    if (isOurs(info) && path != null) {
      return StagedOverwrite.orReplacement(path, info);
    }
    if (isOurs(info) || path != null) {
      throw ColonnadeException.unchecked(
          "COLONNADE_INVALID_INPUT",
          "Table " + identifier + " is of another format; drop it before you create the new one.");
    }
    dropTable(identifier);
    try {
      return stageCreate(identifier, info);
    } catch (TableAlreadyExistsException error) {
      throw new IllegalStateException(error); // somebody created it right after we dropped it
    }
  }

  @Override
  public StagedTable stageCreateOrReplace(Identifier identifier, TableInfo info)
      throws NoSuchNamespaceException {
    try {
      boolean exists = tableExists(identifier);
      return exists ? stageReplace(identifier, info) : stageCreate(identifier, info);
    } catch (NoSuchTableException | TableAlreadyExistsException error) {
      throw new IllegalStateException(error); // somebody dropped or created it meanwhile
    }
  }

  /** Without a namespace Spark asks for the transform of a table, and never for what people name. */
  @Override
  public UnboundFunction loadFunction(Identifier identifier) throws NoSuchFunctionException {
    boolean transform = identifier.namespace().length == 0;
    UnboundFunction found = transform ? Functions.find(identifier) : null;
    return found != null ? found : super.loadFunction(identifier);
  }
}

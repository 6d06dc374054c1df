package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Catalog.DropTable;
import colonnade.planner.messages.Catalog.RemoveTable;
import colonnade.spark.catalog.design.OwnFeatures;
import colonnade.spark.catalog.design.TableDesign;
import colonnade.spark.catalog.design.TableLike;
import colonnade.spark.feed.ChangesOptions;
import colonnade.spark.feed.TableChangelog;
import colonnade.spark.sink.ColonnadeTable;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.catalog.TableWritePrivilege;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's own catalog, {@code spark_catalog}. It stores only a name and a path for each Colonnade
 * table. The columns, properties and comment come from the table's log. Calls about tables of other
 * formats are passed on unchanged.
 */
public class SessionCatalog extends DelegatingCatalogExtension
    implements StagingTableCatalog {
  /** Spark creates one catalog for each session. */
  public SessionCatalog() {
    SessionCommands.ask(this);
  }

  /**
   * Whether a statement is about a Colonnade table. Without USING, it is about the session's
   * default format.
   */
  private static boolean isOurs(TableInfo info) {
    String provider = info.properties().get(TableCatalog.PROP_PROVIDER);
    return TableDesign.isOurs(
        provider != null ? provider : SQLConf.get().defaultDataSourceName());
  }

  @Override
  public Set<TableCatalogCapability> capabilities() {
    return OwnFeatures.with(super.capabilities());
  }

  @Override
  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    if (identifier.namespace().length > 1) {
      Table about = about(identifier);
      return about != null ? about : super.loadTable(identifier);
    }
    try {
      return Registration.loaded(super.loadTable(identifier));
    } catch (NoSuchTableException missing) {
      Table about = about(identifier);
      if (about == null) {
        throw missing;
      }
      return about;
    }
  }

  @Override
  public Table loadTable(Identifier identifier, Set<TableWritePrivilege> privileges)
      throws NoSuchTableException {
    return Tables.forStatement(loadTable(identifier), privileges);
  }

  /**
   * Returns the metadata table that {@code t.history} or {@code db.t.history} names if {@code t} is
   * a Colonnade table, else null.
   */
  private Table about(Identifier identifier) throws NoSuchTableException {
    String path = pathOfOwner(identifier);
    return path == null
        ? null
        : Tables.about(path, MetadataTable.kind(identifier.name()), Map.of());
  }

  /** Returns the path of the table that a metadata table is about; null for any other name. */
  private String pathOfOwner(Identifier identifier) throws NoSuchTableException {
    String[] above = identifier.namespace();
    if (above.length < 1 || above.length > 2) {
      return null;
    }
    String database = above.length == 2 ? above[0] : NamedTable.currentDatabase(name());
    Identifier owner = Identifier.of(new String[] {database}, above[above.length - 1]);
    String path;
    try {
      path = Registration.pathOf(super.loadTable(owner));
    } catch (NoSuchTableException error) {
      return null;
    }
    if (path != null && MetadataTable.kind(identifier.name()) == null) {
      throw new NoSuchTableException(identifier);
    }
    return path;
  }

  @Override
  public Table loadTable(Identifier identifier, String version) throws NoSuchTableException {
    Table past = past(identifier, Map.of("versionAsOf", version));
    return past == null ? super.loadTable(identifier, version) : past;
  }

  @Override
  public Table loadTable(Identifier identifier, long micros) throws NoSuchTableException {
    Table past = past(identifier, Map.of("timestampMicros", Long.toString(micros)));
    return past == null ? super.loadTable(identifier, micros) : past;
  }

  /**
   * Returns the changes of a table. Spark 4.2 and later call this method. It has no {@code
   * @Override} because Spark 4.1 lacks it.
   */
  public Changelog loadChangelog(
      Identifier identifier, ChangelogContext context, CaseInsensitiveStringMap options)
      throws NoSuchTableException {
    String path = Registration.pathOf(super.loadTable(identifier));
    if (path == null) {
      throw ColonnadeException.invalid(
          "In spark_catalog only Colonnade tables have changes, and %s is none.", identifier);
    }
    return TableChangelog.load(path, context, options);
  }

  /** The options that decide which changes are read. Spark 4.3 asks for them. */
  public Set<String> changelogStateOptionKeys() {
    return ChangesOptions.OF_CHANGELOG;
  }

  /** Returns a table at an earlier state, or null for a table of another format. */
  private Table past(Identifier identifier, Map<String, String> options)
      throws NoSuchTableException {
    String path = null;
    try {
      if (identifier.namespace().length > 1) {
        throw new NoSuchTableException(identifier);
      }
      path = Registration.pathOf(super.loadTable(identifier));
    } catch (NoSuchTableException missing) {
      String owner = pathOfOwner(identifier);
      if (owner == null) {
        throw missing;
      }
      return Tables.about(owner, MetadataTable.kind(identifier.name()), options);
    }
    return path == null ? null : Tables.load(path, options);
  }

  @Override
  public Table createTable(Identifier identifier, TableInfo info)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (!isOurs(info)) {
      OwnFeatures.refuse(info);
      return super.createTable(identifier, info);
    }
    refuseWithin("created", identifier);
    TableDesign design = TableDesign.of(info);
    String path = newPath(identifier, design);
    boolean known = design.location() != null && Tables.exists(path);
    if (known) {
      ExistingTable.refuseOther(path, design, info.partitions());
      return register(identifier, path, false);
    } else if (design.schema().isEmpty()) {
      throw ColonnadeException.unchecked(
          "COLONNADE_NOT_FOUND",
          "There is no table at " + path + " yet; name the columns of the table to create.");
    }
    StagedColonnadeTable.create(path, design);
    return registerNew(identifier, path, design);
  }

  /**
   * Spark 4.3 calls this method for Colonnade tables. It has no {@code @Override} because Spark 4.1
   * lacks it.
   */
  public Table createTableLike(Identifier identifier, TableInfo info, Table source)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    String provider = info.properties().get(TableCatalog.PROP_PROVIDER);
    return createTable(
        identifier,
        TableLike.of(info, source, provider != null ? provider : TableLike.provider(source)));
  }

  /**
   * Returns the path of a new table. It is its LOCATION, which may be relative to the folder of its
   * database. Without a LOCATION, it is in that folder.
   */
  private String newPath(Identifier identifier, TableDesign design)
      throws NoSuchNamespaceException {
    String database =
        loadNamespaceMetadata(identifier.namespace()).get(SupportsNamespaces.PROP_LOCATION);
    if (design.location() != null) {
      return Warehouse.localPath(design.location(), database);
    }
    String path = Warehouse.localPath(database) + "/" + identifier.name();
    boolean renamed = Tables.exists(path) && isKnown(identifier.namespace(), path);
    return renamed ? path + "-" + UUID.randomUUID() : path;
  }

  /** Whether a table of the database has this path. It must then have been renamed. */
  private boolean isKnown(String[] namespace, String path) throws NoSuchNamespaceException {
    for (Identifier each : super.listTables(namespace)) {
      try {
        if (path.equals(Registration.pathOf(super.loadTable(each)))) {
          return true;
        }
      } catch (NoSuchTableException dropped) {
        continue; // since we listed it
      }
    }
    return false;
  }

  /** Registers a table that was just created. Drops the table if its name is refused. */
  private Table registerNew(Identifier identifier, String path, TableDesign design)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    Table registered = null;
    try {
      registered = register(identifier, path, design.location() == null);
      return registered;
    } finally {
      if (registered == null) {
        Planner.call(new DropTable(path));
      }
    }
  }

  /** Registers a table as external: Spark itself would move or delete the folder of another. */
  private Table register(Identifier identifier, String path, boolean owned)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    ColonnadeTable table = ColonnadeTable.load(path, Map.of());
    super.createTable(
        identifier, table.columns(), new Transform[0], Registration.properties(path, owned));
    return table;
  }

  /** Drops a table. Also removes its files if it was created without a LOCATION. */
  @Override
  public boolean dropTable(Identifier identifier) {
    return drop(identifier, super::dropTable);
  }

  @Override
  public boolean purgeTable(Identifier identifier) {
    return drop(identifier, super::purgeTable);
  }

  private boolean drop(Identifier identifier, Predicate<Identifier> forget) {
    Table table;
    try {
      table = super.loadTable(identifier);
    } catch (NoSuchTableException error) {
      return false;
    }
    boolean owned = Registration.isOwned(table);
    if (owned) {
      refuseWithin("dropped", identifier);
    }
    boolean dropped = forget.test(identifier);
    if (dropped && owned) {
      Planner.call(new RemoveTable(Registration.pathOf(table)));
    }
    return dropped;
  }

  /**
   * Refuses a change to Spark's catalog that a rollback of the session's transaction could not
   * undo.
   */
  private static void refuseWithin(String done, Identifier identifier) {
    if (Planner.transaction() != null) {
      throw ColonnadeException.invalid(
          "Table %s cannot be %s within a transaction, because Spark's own catalog cannot undo"
              + " it; do it before or after, or in the catalog colonnade.",
          identifier, done);
    }
  }

  @Override
  public Table alterTable(Identifier identifier, TableChange... changes)
      throws NoSuchTableException {
    String path = Registration.pathOf(super.loadTable(identifier));
    if (path == null) {
      OwnFeatures.refuse(changes);
      return super.alterTable(identifier, changes);
    }
    return Alterations.carryOut(path, changes);
  }

  @Override
  public StagedTable stageCreate(Identifier identifier, TableInfo info)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (!isOurs(info)) {
      OwnFeatures.refuse(info);
      return new PassedTable(super.createTable(identifier, info), () -> dropTable(identifier));
    }
    refuseWithin("created", identifier);
    TableDesign design = TableDesign.of(info);
    String path = newPath(identifier, design);
    return new StagedColonnadeTable(path, design, false)
        .then(() -> registered(identifier, path, design));
  }

  private void registered(Identifier identifier, String path, TableDesign design) {
    try {
      registerNew(identifier, path, design);
    } catch (TableAlreadyExistsException | NoSuchNamespaceException error) {
      String sentence =
          String.format(
              "Table %s was not created, because another session took its name or dropped its"
                  + " database; run the statement again.",
              identifier);
      throw new ColonnadeException("COLONNADE_ALREADY_EXISTS", sentence, error).unchecked();
    }
  }

  @Override
  public StagedTable stageReplace(Identifier identifier, TableInfo info)
      throws NoSuchTableException, NoSuchNamespaceException {
    String path = Registration.pathOf(super.loadTable(identifier));
    if (isOurs(info) && path != null) {
      TableDesign design = TableDesign.of(info);
      ExistingTable.refuseMove(path, design.location() == null ? path : newPath(identifier, design));
      return StagedOverwrite.orReplacement(path, info);
    }
    if (isOurs(info) || path != null) {
      throw ColonnadeException.invalid(
          "Table " + identifier + " is of another format; drop it before you create the new one.");
    }
    dropTable(identifier);
    try {
      return stageCreate(identifier, info);
    } catch (TableAlreadyExistsException error) {
      throw new IllegalStateException(error); // another session created it
    }
  }

  @Override
  public StagedTable stageCreateOrReplace(Identifier identifier, TableInfo info)
      throws NoSuchNamespaceException {
    try {
      boolean exists = tableExists(identifier);
      return exists ? stageReplace(identifier, info) : stageCreate(identifier, info);
    } catch (NoSuchTableException | TableAlreadyExistsException error) {
      throw new IllegalStateException(error); // a concurrent session dropped or created it
    }
  }

  /**
   * Spark uses a name without a namespace only for a table's transform, never for a function that a
   * user names.
   */
  @Override
  public UnboundFunction loadFunction(Identifier identifier) throws NoSuchFunctionException {
    boolean transform = identifier.namespace().length == 0;
    UnboundFunction found = transform ? TransformFunction.find(identifier) : null;
    return found != null ? found : super.loadFunction(identifier);
  }
}

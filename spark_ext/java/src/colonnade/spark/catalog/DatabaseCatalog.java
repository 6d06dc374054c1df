package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Catalog.DropTable;
import colonnade.planner.messages.Catalog.RenameTable;
import colonnade.planner.messages.Procedures.Procedure;
import colonnade.spark.catalog.design.NewTable;
import colonnade.spark.catalog.design.OwnFeatures;
import colonnade.spark.catalog.design.TableDesign;
import colonnade.spark.catalog.design.TableLike;
import colonnade.spark.feed.ChangesOptions;
import colonnade.spark.feed.ChangesTable;
import colonnade.spark.feed.TableChangelog;
import colonnade.spark.quirks.statement.PlannedQuery;
import colonnade.spark.sink.ColonnadeTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.FunctionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.ProcedureCatalog;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.catalog.TableWritePrivilege;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The catalog {@code colonnade}: databases in a warehouse folder, and tables at any path, as in
 * {@code colonnade.sales.orders} and {@code colonnade.`/data/trips`}; see {@link TableName}.
 *
 * <p>The folder is {@code spark.sql.catalog.colonnade.warehouse}, by default the folder
 * {@code colonnade} in Spark's own warehouse.
 */
public class DatabaseCatalog
    implements StagingTableCatalog, SupportsNamespaces, ProcedureCatalog, FunctionCatalog {
  /** The namespace of procedures and functions. */
  static final String SYSTEM = "system";

  private String name;
  private Warehouse warehouse;

  @Override
  public void initialize(String catalogName, CaseInsensitiveStringMap options) {
    name = catalogName;
    warehouse = Warehouse.configured(options);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Set<TableCatalogCapability> capabilities() {
    return OwnFeatures.with(Set.of(TableCatalogCapability.SUPPORT_COLUMN_DEFAULT_VALUE));
  }

  @Override
  public String[] defaultNamespace() {
    return new String[] {TableName.DEFAULT_DATABASE};
  }

  private TableName named(Identifier identifier) {
    return TableName.of(warehouse.path(), identifier);
  }

  @Override
  public Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
    return Arrays.stream(warehouse.tables(namespace))
        .map(table -> Identifier.of(namespace, table))
        .toArray(Identifier[]::new);
  }

  @Override
  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    return PlannedQuery.together(() -> find(identifier));
  }

  private Table find(Identifier identifier) throws NoSuchTableException {
    TableName named = named(identifier);
    if (identifier instanceof DataFramePath path && path.mayBeNew()) {
      path.checkWrite();
      Map<String, String> storage = path.withStorage(Map.of());
      if (named.path() == null || !Tables.exists(named.path(), storage)) {
        return new NewTable(named.path(), null);
      } else if (path.takesAnyColumns()) {
        return new NewTable(named.path(), ColonnadeTable.load(named.path(), storage));
      }
    }
    TableName about = about(identifier);
    if (about != null) {
      return Tables.about(about, Map.of());
    }
    if (identifier instanceof DataFramePath path && path.asksForChanges()) {
      return ChangesTable.load(named.path(), path.options());
    }
    try {
      return Tables.load(identifier, named, Map.of());
    } catch (NoSuchTableException missing) {
      if (identifier.namespace().length > 0) {
        throw missing;
      }
      // Without this refusal, Spark would report that it cannot read files of the format
      // `colonnade`.
      String sentence =
          String.format(
              "Table %1$s.%2$s does not exist; a path has a slash in it, as in %1$s.`/data/%2$s`.",
              name, identifier.name());
      throw new ColonnadeException("COLONNADE_NOT_FOUND", sentence).asNoSuchTable().unchecked();
    }
  }

  /**
   * Returns the full name of the metadata table that an identifier names, or null. {@code
   * table.history} is about a table of the current database. A real table {@code history} in a
   * database {@code table} comes first.
   */
  private TableName about(Identifier identifier) {
    TableName named = named(identifier);
    if (Tables.isAbout(named)) {
      return named;
    }
    String[] namespace = identifier.namespace();
    if (namespace.length != 1 || named.isPath()) {
      return null;
    }
    String[] parts = {NamedTable.currentDatabase(name), namespace[0], identifier.name()};
    TableName here = TableName.of(warehouse.path(), List.of(parts));
    return Tables.isAbout(here) && !Tables.exists(named) ? here : null;
  }

  /**
   * Loads a table for a statement that writes, and that may create the table if it does not exist.
   */
  @Override
  public Table loadTable(Identifier identifier, Set<TableWritePrivilege> privileges)
      throws NoSuchTableException {
    if (!(identifier instanceof DataFramePath)
        && !tableExists(identifier)
        && about(identifier) == null) {
      throw new NoSuchTableException(identifier);
    }
    return Tables.forStatement(loadTable(identifier), privileges);
  }

  @Override
  public Table loadTable(Identifier identifier, String version) throws NoSuchTableException {
    return past(identifier, Map.of("versionAsOf", version));
  }

  @Override
  public Table loadTable(Identifier identifier, long micros) throws NoSuchTableException {
    return past(identifier, Map.of("timestampMicros", Long.toString(micros)));
  }

  private Table past(Identifier identifier, Map<String, String> options)
      throws NoSuchTableException {
    TableName about = about(identifier);
    return about == null
        ? Tables.load(identifier, named(identifier), options)
        : Tables.about(about, options);
  }

  /**
   * Returns the changes of a table. Spark 4.2 and later call this method. It has no {@code
   * @Override} because Spark 4.1 lacks it.
   */
  public Changelog loadChangelog(
      Identifier identifier, ChangelogContext context, CaseInsensitiveStringMap options)
      throws NoSuchTableException {
    return TableChangelog.load(requirePath(identifier), context, options);
  }

  /** The options that decide which changes are read. Spark 4.3 asks for them. */
  public Set<String> changelogStateOptionKeys() {
    return ChangesOptions.OF_CHANGELOG;
  }

  @Override
  public boolean tableExists(Identifier identifier) {
    return Tables.exists(named(identifier)) || Tables.isAbout(named(identifier));
  }

  @Override
  public Table createTable(Identifier identifier, TableInfo info) throws NoSuchNamespaceException {
    TableDesign design = TableDesign.of(info);
    String path = newPath(identifier, design);
    StagedColonnadeTable.create(path, design);
    return ColonnadeTable.load(path, Map.of());
  }

  /** Spark 4.3 calls this method. It has no {@code @Override} because Spark 4.1 lacks it. */
  public Table createTableLike(Identifier identifier, TableInfo info, Table source)
      throws NoSuchNamespaceException {
    String provider = info.properties().getOrDefault(PROP_PROVIDER, TableDesign.PROVIDER);
    return createTable(identifier, TableLike.of(info, source, provider));
  }

  /** Returns the path of a new table. */
  private String newPath(Identifier identifier, TableDesign design)
      throws NoSuchNamespaceException {
    TableName named = named(identifier);
    if (named.path() == null) {
      throw new NoSuchNamespaceException(identifier.namespace());
    }
    String location =
        design.location() == null ? null : Warehouse.localPath(design.location(), named.root());
    if (location != null && !location.equals(named.path())) {
      throw ColonnadeException.invalid(
          "Table %s is stored in its database, not at LOCATION %s; leave out LOCATION or create"
              + " %s.`%s` instead.",
          named, location, name, location);
    }
    if (!named.isPath()) {
      String[] namespace = identifier.namespace();
      warehouse.requireForTable(namespace.length == 0 ? defaultNamespace() : namespace);
    }
    return named.path();
  }

  @Override
  public Table alterTable(Identifier identifier, TableChange... changes)
      throws NoSuchTableException {
    Tables.refuse(about(identifier), "altered");
    return Alterations.carryOut(requirePath(identifier), changes);
  }

  private String requirePath(Identifier identifier) throws NoSuchTableException {
    TableName named = named(identifier);
    if (!Tables.exists(named)) {
      throw new NoSuchTableException(identifier);
    }
    return named.path();
  }

  @Override
  public boolean dropTable(Identifier identifier) {
    Tables.refuse(about(identifier), "dropped");
    String path = named(identifier).path();
    return path != null && Planner.call(new DropTable(path)).yes();
  }

  @Override
  public void renameTable(Identifier from, Identifier to) throws NoSuchTableException {
    Tables.refuse(about(from), "renamed");
    String path = requirePath(from);
    List<String> target = new ArrayList<>(List.of(to.namespace()));
    target.remove(name);
    target.add(to.name());
    boolean here = target.size() == 1 && !TableName.isPath(to.name());
    TableName there = here ? null : TableName.of(warehouse.path(), target);
    if (!here && !(there.rest().size() == 1 && there.root().equals(named(from).root()))) {
      throw ColonnadeException.invalid(
          "Table " + named(from) + " cannot move to another place; give only its new name.");
    }
    boolean anyCase = SQLConf.get().caseSensitiveAnalysis();
    Planner.call(new RenameTable(path, to.name(), anyCase));
  }

  @Override
  public StagedTable stageCreate(Identifier identifier, TableInfo info)
      throws NoSuchNamespaceException {
    TableDesign design = TableDesign.of(info);
    return new StagedColonnadeTable(newPath(identifier, design), design, false);
  }

  @Override
  public StagedTable stageReplace(Identifier identifier, TableInfo info)
      throws NoSuchNamespaceException, NoSuchTableException {
    requirePath(identifier);
    return stageCreateOrReplace(identifier, info);
  }

  @Override
  public StagedTable stageCreateOrReplace(Identifier identifier, TableInfo info)
      throws NoSuchNamespaceException {
    return StagedOverwrite.orReplacement(newPath(identifier, TableDesign.of(info)), info);
  }

  @Override
  public String[][] listNamespaces() {
    return warehouse.list();
  }

  @Override
  public String[][] listNamespaces(String[] namespace) throws NoSuchNamespaceException {
    if (namespace.length == 0) {
      return listNamespaces();
    }
    warehouse.require(namespace);
    return new String[0][];
  }

  @Override
  public boolean namespaceExists(String[] namespace) {
    return warehouse.has(namespace);
  }

  @Override
  public Map<String, String> loadNamespaceMetadata(String[] namespace)
      throws NoSuchNamespaceException {
    return Map.of(SupportsNamespaces.PROP_LOCATION, warehouse.require(namespace));
  }

  @Override
  public void createNamespace(String[] namespace, Map<String, String> properties)
      throws NamespaceAlreadyExistsException {
    warehouse.create(namespace, properties);
  }

  @Override
  public void alterNamespace(String[] namespace, NamespaceChange... changes) {
    throw ColonnadeException.invalid(
        "Database " + String.join(".", namespace) + " has nothing that could be altered.");
  }

  @Override
  public boolean dropNamespace(String[] namespace, boolean cascade)
      throws NoSuchNamespaceException, NonEmptyNamespaceException {
    return warehouse.drop(namespace, cascade);
  }

  @Override
  public Identifier[] listProcedures(String[] namespace) {
    List<Identifier> found = new ArrayList<>();
    if (Arrays.equals(namespace, new String[] {SYSTEM})) {
      for (String procedure : ColonnadeProcedure.descriptions().keySet()) {
        found.add(Identifier.of(namespace, procedure));
      }
    }
    return found.toArray(Identifier[]::new);
  }

  @Override
  public UnboundProcedure loadProcedure(Identifier identifier) {
    Map<String, Procedure> known = ColonnadeProcedure.descriptions();
    boolean ours = Arrays.equals(identifier.namespace(), new String[] {SYSTEM});
    if (!ours || !known.containsKey(identifier.name())) {
      throw ColonnadeException.unchecked(
          "COLONNADE_NOT_FOUND",
          "Procedure %s.%s does not exist; the procedures of %s.%s are: %s.",
          name, identifier, name, SYSTEM, String.join(", ", known.keySet()));
    }
    return new ColonnadeProcedure(
        identifier.name(),
        known.get(identifier.name()),
        Map.of(
            "table", table -> NamedTable.path(name, warehouse.path(), table),
            "database", database -> NamedTable.database(name, warehouse.path(), database)));
  }

  @Override
  public Identifier[] listFunctions(String[] namespace) {
    return TransformFunction.list(namespace);
  }

  @Override
  public UnboundFunction loadFunction(Identifier identifier) throws NoSuchFunctionException {
    UnboundFunction found = TransformFunction.find(identifier);
    if (found == null) {
      throw new NoSuchFunctionException(identifier);
    }
    return found;
  }
}

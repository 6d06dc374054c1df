package colonnade.spark.catalog;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.spark.catalog.design.TableDesign;
import colonnade.spark.catalog.design.TableLike;
import colonnade.spark.quirks.rules.SessionRules;
import colonnade.spark.sink.ColonnadeTable;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.TableSpec;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.V1Table;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.command.CreateTableLikeCommand;
import org.apache.spark.sql.execution.command.ShowTablesCommand;
import org.apache.spark.sql.execution.datasources.v2.CreateTableExec;
import org.apache.spark.sql.execution.datasources.v2.ShowTablesExtendedExec;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Runs statements about tables of Spark's own catalog, where Spark does not ask the catalog that
 * replaces it. Spark would treat each table as one of its own.
 */
final class SessionCommands extends SparkStrategy {
  private static final Seq<SparkPlan> NOT_OURS = seq();

  private final SessionCatalog catalog;

  private SessionCommands(SessionCatalog catalog) {
    this.catalog = catalog;
  }

  /** Makes the session that plans in this thread ask the catalog from now on. */
  static void ask(SessionCatalog catalog) {
    SessionRules.addStrategy(new SessionCommands(catalog));
  }

  @Override
  public Seq<SparkPlan> apply(LogicalPlan plan) {
    if (plan instanceof CreateTableLikeCommand like) {
      return createLike(like);
    }
    if (plan instanceof ShowTablesCommand show && show.isExtended()) {
      return show.partitionSpec().isEmpty() ? seq(List.of(planLater(shown(show)))) : NOT_OURS;
    }
    return NOT_OURS;
  }

  /**
   * Creates a table like another one if either is a Colonnade table. Spark 4.1 always plans the
   * statement as this command. Later versions do so only if both are tables of Spark's own catalog.
   */
  private Seq<SparkPlan> createLike(CreateTableLikeCommand like) {
    if (like.provider().isEmpty() && like.fileFormat().inputFormat().isDefined()) {
      return NOT_OURS; // but a table of Hive's
    }
    Table source = source(like.sourceTable());
    String provider =
        like.provider().isDefined() ? like.provider().get() : TableLike.provider(source);
    if (!TableDesign.isOurs(provider) && !(source instanceof ColonnadeTable)) {
      return NOT_OURS;
    }
    Map<String, String> none = Map.of();
    Map<String, String> properties =
        new HashMap<>(TableDesign.isOurs(provider) ? TableLike.properties(source) : none);
    properties.putAll(CollectionConverters.asJava(like.properties()));
    Option<String> comment = Option.apply(properties.remove(TableCatalog.PROP_COMMENT));
    Option<String> location = like.fileFormat().locationUri().map(URI::toString);
    TableSpec spec =
        new TableSpec(
            Map$.MODULE$.from(CollectionConverters.asScala(properties)),
            Option.apply(provider),
            Map$.MODULE$.empty(),
            location,
            comment,
            Option.empty(),
            Option.empty(),
            location.isDefined(),
            seq());
    SparkPlan create =
        new CreateTableExec(
            catalog,
            identifier(like.targetTable()),
            TableLike.columns(source, provider),
            seq(List.of(source.partitioning())),
            spec,
            like.ifNotExists());
    return seq(List.of(create));
  }

  /** Returns the rows of SHOW TABLE EXTENDED; rows of our tables have the facts of the catalog. */
  private LogicalPlan shown(ShowTablesCommand show) {
    List<InternalRow> rows = new ArrayList<>();
    for (Row row : CollectionConverters.asJava(show.run(SparkSession.active()))) {
      boolean temporary = row.getBoolean(2);
      rows.add((temporary ? Optional.<InternalRow>empty() : ofOurs(show, row)).orElse(plain(row)));
    }
    return new LocalRelation(
        show.output(), seq(rows), false, Option.empty());
  }

  private Optional<InternalRow> ofOurs(ShowTablesCommand show, Row row) {
    Identifier name = Identifier.of(new String[] {row.getString(0)}, row.getString(1));
    Seq<String> database = seq(List.of(row.getString(0)));
    try {
      return catalog.loadTable(name) instanceof ColonnadeTable
          ? Arrays.stream(
                  new ShowTablesExtendedExec(show.output(), catalog, database, name.name())
                      .executeCollect())
              .findFirst()
          : Optional.empty();
    } catch (Exception unreadable) {
      return Optional.empty(); // Spark's own row shows a table that cannot be read
    }
  }

  private static InternalRow plain(Row row) {
    return new GenericInternalRow(
        new Object[] {
          UTF8String.fromString(row.getString(0)),
          UTF8String.fromString(row.getString(1)),
          row.getBoolean(2),
          UTF8String.fromString(row.getString(3))
        });
  }

  /**
   * Returns a table as the replacement catalog knows it, else the table or view as Spark knows it.
   */
  private Table source(TableIdentifier name) {
    CatalogTable known =
        SparkSession.active().sessionState().catalog().getTempViewOrPermanentTableMetadata(name);
    if (!known.provider().exists(TableDesign::isOurs)) {
      return new V1Table(known);
    }
    try {
      return catalog.loadTable(identifier(known.identifier()));
    } catch (NoSuchTableException missing) {
      throw new IllegalStateException(missing); // a concurrent session dropped it
    }
  }

  private static Identifier identifier(TableIdentifier name) {
    String database =
        name.database().isDefined()
            ? name.database().get()
            : SparkSession.active().sessionState().catalog().getCurrentDatabase();
    return Identifier.of(new String[] {database}, name.table());
  }
}

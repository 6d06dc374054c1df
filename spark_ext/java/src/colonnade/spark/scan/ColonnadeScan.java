package colonnade.spark.scan;

import colonnade.planner.messages.Clauses.OrderField;
import colonnade.planner.messages.Queries.PlannedScan;
import colonnade.spark.table.ColumnName;
import colonnade.spark.table.PartitionKeys;
import colonnade.spark.table.PartitionLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.RowOrdering;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportOrdering;
import org.apache.spark.sql.connector.read.SupportsReportPartitioning;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.SupportsRuntimeV2Filtering;
import org.apache.spark.sql.connector.read.partitioning.Partitioning;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.AtomicType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * One use of a table in a query, which is planned once. Scans with equal requests are equal, so
 * that Spark reads them once.
 */
final class ColonnadeScan
    implements SupportsReportStatistics,
        SupportsReportOrdering,
        SupportsReportPartitioning,
        SupportsRuntimeV2Filtering {
  private static final long SMALL_BYTES = 4 << 20;

  /** The setting that asks tasks for rows in the order of the sort key. */
  private static final String IN_ORDER_SETTING = "spark.colonnade.readInOrder";

  private final ScanRequest request;
  private final String description;
  private final ColonnadeBatch batch;
  private final boolean filterLater;
  private final boolean givesColumns;

  /**
   * Filters that Spark found while the query runs, for the next batch that this thread requests.
   * Spark may use one scan in several places and filter it in only one of them.
   */
  private final ThreadLocal<List<Predicate>> found = new ThreadLocal<>();

  /**
   * Creates a scan. {@code filterLater} allows Spark to filter it by values that it finds while the
   * query runs.
   */
  ColonnadeScan(
      ScanRequest request, String description, PartitionLayout layout, boolean filterLater) {
    this.request = request;
    this.description = description;
    this.filterLater = filterLater;
    boolean inOrder = Boolean.parseBoolean(SQLConf.get().getConfString(IN_ORDER_SETTING, "false"));
    this.batch = new ColonnadeBatch(request, PartitionKeys.of(layout, request.schema()), inOrder);
    this.givesColumns = isReadByGeneratedCode(request.schema());
  }

  @Override
  public StructType readSchema() {
    return request.schema();
  }

  @Override
  public String description() {
    return description;
  }

  /**
   * Returns whether Spark generates code that reads these columns. Without such code, Spark copies
   * every row value by value, which is slow from columns.
   */
  private static boolean isReadByGeneratedCode(StructType schema) {
    SQLConf conf = SQLConf.get();
    return conf.wholeStageEnabled() && !WholeStageCodegenExec.isTooManyFields(conf, schema);
  }

  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return givesColumns && !batch.merges()
        ? ColumnarSupportMode.SUPPORTED
        : ColumnarSupportMode.UNSUPPORTED;
  }

  @Override
  public Statistics estimateStatistics() {
    PlannedScan plan = batch.plan();
    return new LogStatistics(plan.rows(), plan.bytes(), plan.columns(), request.schema());
  }

  /**
   * Returns the order of the rows of each task, as the planner knows it. It is that of the sort key
   * if every task reads one RowSet, or if tasks were asked for this order.
   */
  @Override
  public SortOrder[] outputOrdering() {
    List<SortOrder> orders = new ArrayList<>();
    for (OrderField field : batch.plan().orderedBy()) {
      String column = field.column();
      if (request.schema().getFieldIndex(column).isEmpty()) {
        break;
      }
      // The order has Spark's default for NULL: first in ascending and last in descending order.
      SortDirection direction = field.descending() ? SortDirection.DESCENDING : SortDirection.ASCENDING;
      orders.add(Expressions.sort(ColumnName.reference(column), direction));
    }
    return orders.toArray(SortOrder[]::new);
  }

  @Override
  public Partitioning outputPartitioning() {
    return batch.partitioning();
  }

  @Override
  public NamedReference[] filterAttributes() {
    if (!filterLater || isSmall()) {
      return new NamedReference[0];
    }
    // Only columns of these types have bounds.
    return Stream.of(request.schema().fields())
        .filter(field -> field.dataType() instanceof AtomicType)
        .filter(field -> RowOrdering.isOrderable(field.dataType()))
        .map(StructField::name)
        .filter(name -> batch.plan().columns().containsKey(name))
        .map(ColumnName::reference)
        .toArray(NamedReference[]::new);
  }

  /** Whether reading everything costs less than planning what to skip. */
  private boolean isSmall() {
    PlannedScan plan = batch.plan();
    return plan.rowsets() < 2 && plan.bytes() < SMALL_BYTES;
  }

  @Override
  public void filter(Predicate[] predicates) {
    found.set(Stream.of(predicates).flatMap(FoundValues::of).toList());
  }

  @Override
  public Batch toBatch() {
    List<Predicate> filters = found.get();
    if (filters == null) {
      return batch;
    }
    found.remove();
    boolean ordered = outputOrdering().length > 0;
    return batch.alike(request.with(filters), ordered);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ColonnadeScan scan && request.equals(scan.request);
  }

  @Override
  public int hashCode() {
    return request.hashCode();
  }
}

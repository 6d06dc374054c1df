package colonnade.spark.table;

import colonnade.format.PartitionTransform;
import colonnade.planner.messages.Clauses.LayoutField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * The partitioning of a table, in Spark's terms. A table without fields is not partitioned.
 *
 * @param callable whether Spark finds the transforms as functions: not in its own catalog alone
 */
public record PartitionLayout(List<Field> fields, boolean callable) {

  /** A transform of a column, by name; the argument is 0 where the transform has none. */
  public record Field(PartitionTransform transform, String column, int argument) {

    /** Returns the field as a transform of Spark, which Spark compares with those of other tables. */
    Transform asTransform() {
      String quoted = ColumnName.quoted(column);
      return switch (transform) {
        case IDENTITY -> Expressions.identity(quoted);
        case YEARS -> Expressions.years(quoted);
        case MONTHS -> Expressions.months(quoted);
        case DAYS -> Expressions.days(quoted);
        case HOURS -> Expressions.hours(quoted);
        case BUCKET -> Expressions.bucket(argument, quoted);
        default -> Expressions.apply(transform.text(), arguments());
      };
    }

    private Expression[] arguments() {
      NamedReference reference = ColumnName.reference(column);
      return transform.hasArgument()
          ? new Expression[] {Expressions.literal(argument), reference}
          : new Expression[] {reference};
    }

    /**
     * Whether Spark can tell that two tables are partitioned alike by it. It compares transforms
     * of a column alone, and the number of buckets.
     */
    boolean isComparable() {
      return transform == PartitionTransform.BUCKET || !transform.hasArgument();
    }

    /** What its values are called where they need a name, as users of Iceberg know it. */
    String name() {
      return transform.label(column);
    }

    /** The type of its values in a table of that schema. */
    DataType type(StructType schema) {
      return transform.resultType(schema.apply(column).dataType());
    }
  }

  /** Reads a list of fields as the planner writes it. */
  public static PartitionLayout of(List<LayoutField> fields, boolean callable) {
    return new PartitionLayout(fields.stream().map(PartitionLayout::field).toList(), callable);
  }

  private static Field field(LayoutField field) {
    int argument = field.argument() == null ? 0 : field.argument().intValue();
    return new Field(
        PartitionTransform.named(field.transform()), field.column().get(0), argument);
  }

  public boolean isEmpty() {
    return fields.isEmpty();
  }

  /** As Spark describes tables. */
  public Transform[] transforms() {
    return fields.stream().map(Field::asTransform).toArray(Transform[]::new);
  }

  /** Returns the expressions that let Spark bring rows together. */
  public Transform[] clustering() {
    return fields.stream().filter(this::isCallable).map(Field::asTransform)
        .toArray(Transform[]::new);
  }

  /** Whether Spark can evaluate a field. */
  boolean isCallable(Field field) {
    return callable || field.transform() == PartitionTransform.IDENTITY;
  }

  /** What brings rows of a partition next to each other, and then in the order of a sort key. */
  public SortOrder[] ordering(SortOrder[] sortKey) {
    List<SortOrder> orders = new ArrayList<>();
    for (Transform transform : clustering()) {
      orders.add(Expressions.sort(transform, SortDirection.ASCENDING));
    }
    orders.addAll(Arrays.asList(sortKey));
    return orders.toArray(SortOrder[]::new);
  }
}

package colonnade.spark.catalog;

import colonnade.format.PartitionTransform;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.IntegralType;

/** A partition transform of values of one type. Spark calls it on the driver and in tasks. */
public record BoundTransform(PartitionTransform transform, DataType type, DataType resultType)
    implements ScalarFunction<Object> {

  @Override
  public DataType[] inputTypes() {
    return transform.hasArgument()
        ? new DataType[] {DataTypes.IntegerType, type}
        : new DataType[] {type};
  }

  @Override
  public String name() {
    return transform.text();
  }

  /** One name for what puts equal values into one partition: integers of any length. */
  @Override
  public String canonicalName() {
    String accepted = type instanceof IntegralType ? "integer" : type.catalogString();
    return "colonnade." + name() + "(" + accepted + ")";
  }

  @Override
  public Object produceResult(InternalRow arguments) {
    int last = transform.hasArgument() ? 1 : 0;
    if (arguments.isNullAt(0) || arguments.isNullAt(last)) {
      return null;
    }
    int argument = transform.hasArgument() ? arguments.getInt(0) : 0;
    Object found = transform.apply(arguments.get(last, type), type, argument);
    return found instanceof Decimal decimal ? fitting(decimal) : found;
  }

  /** The decimal in the type of the result; the least one in place of one that is longer. */
  private Decimal fitting(Decimal value) {
    DecimalType kind = (DecimalType) resultType;
    boolean fits = value.changePrecision(kind.precision(), kind.scale());
    if (fits) {
      return value;
    }
    String nines = "-" + "9".repeat(kind.precision());
    return Decimal.apply(new BigDecimal(new BigInteger(nines), kind.scale()));
  }
}

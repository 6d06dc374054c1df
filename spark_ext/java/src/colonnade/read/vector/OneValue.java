package colonnade.read.vector;

import colonnade.format.Bound;
import colonnade.format.Malformed;
import colonnade.format.TableField;
import java.math.BigInteger;
import org.apache.spark.unsafe.types.UTF8String;

/** Makes vectors show one value in every row. */
public final class OneValue {
  private OneValue() {}

  /** Shows a value in the form of a bound. Throws {@link Malformed} for one of another type. */
  public static void show(TableField column, Bound value, ColonnadeVector target) throws Malformed {
    if (value instanceof Bound.Text text) {
      target.setConstant(text.value());
    } else if (value instanceof Bound.Raw raw) {
      target.setConstant(UTF8String.fromBytes(raw.value()));
    } else if (value instanceof Bound.Real real) {
      showReal(column, real.value(), target);
    } else if (value instanceof Bound.Whole whole) {
      showWhole(column, whole.value(), target);
    }
  }

  static void showReal(TableField column, double value, ColonnadeVector target) {
    boolean isFloat = column.kind() == TableField.Kind.FLOAT32;
    target.setConstant(
        isFloat ? Float.floatToRawIntBits((float) value) : Double.doubleToRawLongBits(value), 0);
  }

  private static void showWhole(TableField column, BigInteger value, ColonnadeVector target)
      throws Malformed {
    if (column.kind() == TableField.Kind.DECIMAL) {
      require(value.abs().compareTo(BigInteger.TEN.pow(column.precision())) < 0, column);
      target.setConstant(value.longValue(), value.shiftRight(64).longValue());
    } else {
      long number = value.longValue();
      require(number == limited(column, number), column);
      target.setConstant(number, 0);
    }
  }

  private static long limited(TableField column, long number) {
    return switch (column.kind()) {
      case BOOLEAN -> number & 1;
      case INT8 -> (byte) number;
      case INT16 -> (short) number;
      case INT32 -> (int) number;
      default -> number;
    };
  }

  private static void require(boolean fits, TableField column) throws Malformed {
    if (!fits) {
      throw new Malformed("its index states a value that is not a valid " + column.type());
    }
  }
}

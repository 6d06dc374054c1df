package colonnade.format;

import com.google.flatbuffers.FlatBufferBuilder;
import java.util.function.ToIntFunction;
import org.apache.arrow.flatbuf.Binary;
import org.apache.arrow.flatbuf.Bool;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.Duration;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.List;
import org.apache.arrow.flatbuf.Map;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.Struct_;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.TimeUnit;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Utf8;

/** An Arrow type as the schema message of a stream states it. */
public record ArrowType(byte kind, ToIntFunction<FlatBufferBuilder> table) {
  public static ArrowType bool() {
    return new ArrowType(Type.Bool, ArrowType::boolTable);
  }

  public static ArrowType signed(int bits) {
    return new ArrowType(Type.Int, builder -> Int.createInt(builder, bits, true));
  }

  public static ArrowType unsigned(int bits) {
    return new ArrowType(Type.Int, builder -> Int.createInt(builder, bits, false));
  }

  public static ArrowType floating(int bits) {
    short precision = bits == 32 ? Precision.SINGLE : Precision.DOUBLE;
    return new ArrowType(
        Type.FloatingPoint, b -> FloatingPoint.createFloatingPoint(b, precision));
  }

  public static ArrowType decimal(int precision, int scale) {
    return new ArrowType(
        Type.Decimal, builder -> Decimal.createDecimal(builder, precision, scale, 128));
  }

  public static ArrowType utf8() {
    return new ArrowType(Type.Utf8, ArrowType::utf8Table);
  }

  public static ArrowType binary() {
    return new ArrowType(Type.Binary, ArrowType::binaryTable);
  }

  public static ArrowType date() {
    return new ArrowType(Type.Date, builder -> Date.createDate(builder, DateUnit.DAY));
  }

  /**
   * Returns a timestamp type in microseconds. It has a time zone if {@code isInstant}, and is a
   * local time otherwise.
   */
  public static ArrowType timestamp(boolean isInstant) {
    return new ArrowType(
        Type.Timestamp,
        builder ->
            Timestamp.createTimestamp(
                builder,
                TimeUnit.MICROSECOND,
                isInstant ? builder.createString("UTC") : 0));
  }

  public static ArrowType time() {
    return new ArrowType(
        Type.Time, builder -> Time.createTime(builder, TimeUnit.NANOSECOND, 64));
  }

  public static ArrowType duration() {
    return new ArrowType(
        Type.Duration, builder -> Duration.createDuration(builder, TimeUnit.MICROSECOND));
  }

  public static ArrowType list() {
    return new ArrowType(Type.List, ArrowType::listTable);
  }

  public static ArrowType map() {
    return new ArrowType(Type.Map, builder -> Map.createMap(builder, false));
  }

  public static ArrowType struct() {
    return new ArrowType(Type.Struct_, ArrowType::structTable);
  }

  private static int boolTable(FlatBufferBuilder builder) {
    Bool.startBool(builder);
    return Bool.endBool(builder);
  }

  private static int utf8Table(FlatBufferBuilder builder) {
    Utf8.startUtf8(builder);
    return Utf8.endUtf8(builder);
  }

  private static int binaryTable(FlatBufferBuilder builder) {
    Binary.startBinary(builder);
    return Binary.endBinary(builder);
  }

  private static int listTable(FlatBufferBuilder builder) {
    List.startList(builder);
    return List.endList(builder);
  }

  private static int structTable(FlatBufferBuilder builder) {
    Struct_.startStruct_(builder);
    return Struct_.endStruct_(builder);
  }
}

package colonnade.spark.table;

import java.util.List;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Lists of Java as Spark's classes take them. */
public final class ScalaSeq {
  private ScalaSeq() {}

  /** Returns the values of a list. */
  public static <T> Seq<T> seq(List<T> values) {
    return CollectionConverters.asScala(values).toSeq();
  }

  /** Returns no values. */
  public static <T> Seq<T> seq() {
    return seq(List.of());
  }
}

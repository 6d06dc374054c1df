package colonnade.spark.quirks.statement;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.sql.classic.DataFrameWriter;
import org.apache.spark.sql.connector.expressions.Transform;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The {@code partitionBy()} and {@code clusterBy()} of the {@code df.write} that calls the catalog.
 * Where it appends or overwrites, Spark compares them with the layout of the table, and passes them
 * to no source. They are in the writer itself, which is on the stack of this thread.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code DataFrameWriter.partitioningAsV2}. Seen on Java 17 and 25:
 * {@code java.lang.LiveStackFrame}, in a package that Spark's launchers open.
 */
public final class FrameLayout {
  private FrameLayout() {}

  /** Returns the layout that the writer asks for, or nothing if it or Java does not tell. */
  public static Optional<Transform[]> asked() {
    try {
      Class<?> frame = Class.forName("java.lang.LiveStackFrame");
      Method locals = opened(frame.getDeclaredMethod("getLocals"));
      StackWalker walker =
          (StackWalker) opened(frame.getDeclaredMethod("getStackWalker")).invoke(null);
      Optional<DataFrameWriter<?>> writer =
          walker.walk(frames -> frames.flatMap(each -> writers(each, locals)).findFirst());
      return writer.isPresent() ? Optional.of(layout(writer.get())) : Optional.empty();
    } catch (ReflectiveOperationException | RuntimeException closed) {
      return Optional.empty();
    }
  }

  private static Method opened(Method method) {
    method.setAccessible(true);
    return method;
  }

  private static Stream<DataFrameWriter<?>> writers(StackWalker.StackFrame frame, Method locals) {
    if (!frame.getClassName().equals(DataFrameWriter.class.getName())) {
      return Stream.empty();
    }
    try {
      return Stream.of((Object[]) locals.invoke(frame))
          .filter(DataFrameWriter.class::isInstance)
          .map(found -> (DataFrameWriter<?>) found);
    } catch (IllegalAccessException | InvocationTargetException closed) {
      return Stream.empty();
    }
  }

  private static Transform[] layout(DataFrameWriter<?> writer) throws ReflectiveOperationException {
    Method method = opened(DataFrameWriter.class.getDeclaredMethod("partitioningAsV2"));
    return CollectionConverters.asJava((Seq<?>) method.invoke(writer)).toArray(Transform[]::new);
  }
}

package colonnade.store.hadoop;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.apache.hadoop.util.VersionInfo;

/** What to add to Spark where Hadoop lacks a class that reaches a store. */
final class MissingConnector {
  /** A store that Spark reaches only with a jar that does not come with it. */
  private record Store(Pattern url, String remedy) {}

  private static final List<Store> STORES =
      List.of(
          new Store(Pattern.compile("^s3a?://.*"), ofHadoop("S3", "hadoop-aws")),
          new Store(Pattern.compile("^abfss?://.*"), ofHadoop("Azure", "hadoop-azure")),
          new Store(
              Pattern.compile("^gs://.*"),
              "Spark lacks the connector for GCS, or one of its classes; add the jar gcs-connector"
                  + " of com.google.cloud.bigdataoss, with the classifier shaded, to spark.jars,"
                  + " and name its class in spark.hadoop.fs.gs.impl"));

  private MissingConnector() {}

  private static String ofHadoop(String store, String name) {
    return "Spark lacks the connector for " + store + ", or one of its classes; add"
        + " org.apache.hadoop:" + name + ":" + VersionInfo.getVersion()
        + " to spark.jars.packages, and start Spark again";
  }

  /** Returns what is missing, if a class of the connector for {@code url} is. */
  static Optional<String> reason(String url, Throwable error) {
    if (!lacksClass(error)) {
      return Optional.empty();
    }
    return STORES.stream()
        .filter(store -> store.url().matcher(url).matches())
        .map(Store::remedy)
        .findFirst();
  }

  private static boolean lacksClass(Throwable error) {
    return error != null
        && (error instanceof ClassNotFoundException
            || error instanceof NoClassDefFoundError
            || error instanceof UnsupportedFileSystemException
            || lacksClass(error.getCause()));
  }
}

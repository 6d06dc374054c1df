package colonnade.store.hadoop;

import colonnade.store.StoreException;
import java.io.IOException;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The objects below one URL as files of Hadoop. Safe for concurrent use by several threads.
 *
 * <p>Hadoop keeps one file system for each scheme and bucket in a process. S3A is asked for with
 * the scheme {@code s3}, so that its settings for Colonnade change no other reader of a bucket.
 */
final class HadoopFiles {
  private static final Pattern S3 = Pattern.compile("^s3a?://");

  private final String url;
  private final String address;
  private final Configuration conf = new Configuration(false);

  /** Prepares for a URL of any scheme that Hadoop knows. Does no I/O. */
  HadoopFiles(String url, Map<String, String> hadoopConf) {
    this.url = url;
    hadoopConf.forEach(conf::set);
    boolean isS3 = S3.matcher(url).find() && conf.get("fs.s3.impl") == null;
    this.address = isS3 ? S3.matcher(url).replaceFirst("s3://") : url;
    if (isS3) {
      conf.set("fs.s3.impl", conf.get("fs.s3a.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem"));
      conf.setBoolean(
          "fs.s3.impl.disable.cache", conf.getBoolean("fs.s3a.impl.disable.cache", false));
      // The default of Hadoop 3.5 asks for the length of every object, and reads other ranges.
      conf.setIfUnset("fs.s3a.input.stream.type", "classic");
    }
  }

  /** Returns the URL in the form that users know. */
  String url() {
    return url;
  }

  /** Returns the name of an object for error messages. */
  String locate(String name) {
    return url + "/" + name;
  }

  /** Returns where Hadoop has an object. */
  Path path(String name) {
    return new Path(address + "/" + name);
  }

  /**
   * Returns the file system, which Hadoop keeps for the process.
   *
   * @throws IOException with a sentence, if Hadoop lacks the file system or its settings
   */
  FileSystem system() throws IOException {
    try {
      return new Path(address).getFileSystem(conf);
    } catch (IOException | RuntimeException error) {
      throw failed("", "opened", error);
    } catch (LinkageError error) { // a class of the connector lacks another
      throw failed("", "opened", new IOException(error.toString(), error));
    }
  }

  /**
   * Returns the number of bytes that the store has of an object.
   *
   * @throws IOException with a sentence, if the store does not say it
   */
  long size(String name) throws IOException {
    try {
      return system().getFileStatus(path(name)).getLen();
    } catch (IOException error) {
      throw failed(name, "read", error);
    }
  }

  /**
   * Returns the error for an object, or for the store, that could not be {@code verb}. An error
   * that already has a code and a sentence is returned unchanged.
   */
  IOException failed(String name, String verb, Exception error) {
    String location = name.isEmpty() ? url : locate(name);
    IOException cause = error instanceof IOException known ? known : wrapped(error);
    if (!StoreException.isCoded(cause)) {
      cause =
          MissingConnector.reason(url, error)
              .or(() -> HadoopReason.of(error, verb))
              .map(said -> new IOException(said, error))
              .orElse(cause);
    }
    return StoreException.failed(location, verb, cause);
  }

  /** Connectors refuse settings with errors of all kinds. */
  private static IOException wrapped(Exception error) {
    return new IOException(error.getMessage(), error);
  }
}

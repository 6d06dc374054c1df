package colonnade.store.hadoop;

import colonnade.store.ByteSink;
import colonnade.store.ObjectNameCheck;
import colonnade.store.ObjectOutput;
import colonnade.store.SideBySide;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.BulkDelete;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Creates objects of any store that Hadoop has a file system for. Their names are random, so no
 * object is replaced. Spec: docs/spec/store.md#buckets
 */
final class HadoopSink implements ByteSink {
  private final HadoopFiles files;

  HadoopSink(String url, Map<String, String> hadoopConf) {
    files = new HadoopFiles(url, hadoopConf);
  }

  @Override
  public boolean filesAreCheap() {
    return false;
  }

  @Override
  public ObjectOutput create(String name, boolean sync) throws IOException {
    ObjectNameCheck.check(name);
    FileSystem system = files.system();
    Path path = files.path(name);
    try {
      FSDataOutputStreamBuilder<?, ?> builder = system.createFile(path);
      builder.recursive();
      builder.overwrite(false);
      // S3A would ask for the object, and for a folder of its name, before it writes.
      builder.opt("fs.s3a.create.performance", true);
      return new HadoopOutput(this, name, builder.build(), sync);
    } catch (IOException | RuntimeException error) {
      throw failed(name, error);
    }
  }

  @Override
  public void closeAll(List<ObjectOutput> outputs) throws IOException {
    SideBySide.run(outputs, ObjectOutput::close);
  }

  @Override
  public void delete(String name) throws IOException {
    ObjectNameCheck.check(name);
    FileSystem system = files.system();
    Path path = files.path(name);
    // The plain call of S3A would put an object in place of a folder that becomes empty.
    try (BulkDelete removal = system.createBulkDelete(path.getParent())) {
      List<Map.Entry<Path, String>> kept = removal.bulkDelete(List.of(path));
      if (!kept.isEmpty()) {
        throw new IOException(kept.get(0).getValue());
      }
    } catch (FileNotFoundException error) {
      return;
    } catch (IOException | RuntimeException error) {
      throw failed(name, error);
    }
  }

  /** Does nothing. A bucket has no folders, and elsewhere an empty one does no harm. */
  @Override
  public void removeFolder(String name) {}

  /** Returns the number of bytes that the store has of an object. */
  long size(String name) throws IOException {
    return files.size(name);
  }

  /** Returns the error for an object that could not be written. */
  IOException failed(String name, Exception error) {
    return files.failed(name, "written", error);
  }
}

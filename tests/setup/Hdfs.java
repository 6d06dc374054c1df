import java.io.File;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/** Hadoop's own namenode and datanode in one process: {@code Hdfs FOLDER RPC_PORT HTTP_PORT}. */
public final class Hdfs {
  private static final String HOST = "127.0.0.1";

  private Hdfs() {}

  /** Runs until the process is ended. The file {@code /ready} exists once files can be written. */
  public static void main(String[] arguments) throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true);
    Configuration conf = settings(new File(arguments[0]), arguments[1], arguments[2]);
    NameNode.format(conf);
    NameNode namenode = NameNode.createNameNode(new String[0], conf);
    DataNode.createDataNode(new String[0], conf);
    FileSystem files = FileSystem.get(conf);
    while (!write(files, new Path("/trial"))) {
      Thread.sleep(100);
    }
    files.rename(new Path("/trial"), new Path("/ready"));
    namenode.join();
  }

  private static Configuration settings(File folder, String port, String httpPort) {
    Configuration conf = new HdfsConfiguration();
    conf.set("fs.defaultFS", "hdfs://" + HOST + ":" + port);
    conf.set("dfs.namenode.http-address", HOST + ":" + httpPort);
    conf.set("dfs.namenode.name.dir", new File(folder, "name").getAbsoluteFile().toURI() + "");
    conf.set("dfs.datanode.data.dir", new File(folder, "data").getAbsoluteFile().toURI() + "");
    for (String each : new String[] {"address", "http.address", "ipc.address"}) {
      conf.set("dfs.datanode." + each, HOST + ":0");
    }
    conf.set("dfs.datanode.hostname", HOST);
    conf.set("dfs.replication", "1");
    // Small pages, so that tests see several.
    conf.set("dfs.ls.limit", "100");
    conf.set("dfs.heartbeat.interval", "1");
    return conf;
  }

  private static boolean write(FileSystem files, Path path) {
    try (FSDataOutputStream out = files.create(path, true)) {
      out.write(1);
      return true;
    } catch (IOException error) {
      return false; // the namenode does not know the datanode yet
    }
  }
}

package colonnade.planner;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.security.alias.CredentialProvider;
import org.apache.hadoop.security.alias.CredentialProviderFactory;
import org.apache.spark.sql.classic.SparkSession;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The session's settings for Hadoop: Spark's own {@code spark.hadoop.*}, those of the session, and
 * Hadoop's files. They hold secrets, and nothing shows them.
 */
public final class HadoopSettings {
  private static final String S3 = "fs.s3a.";

  /** What the names of settings begin with that lead to a store. Python has the same list. */
  private static final String[] STORES = {
    S3,
    "fs.gs.",
    "google.cloud.auth.",
    "fs.azure.",
    "fs.defaultFS",
    "dfs.nameservices",
    "dfs.ha.namenodes.",
    "dfs.http.policy",
    "dfs.namenode.http-address",
    "dfs.namenode.https-address",
    "dfs.namenode.rpc-address",
    "hadoop.security.authentication",
  };

  private static final String BUCKET = "fs.s3a.bucket.";
  private static final String FILES = "hadoop.security.credential.provider.path";
  private static final String OWN_FILES = "security.credential.provider.path";
  private static final String DEFAULTS = "-default.xml";
  private static final long FRESH_NANOS = 60_000_000_000L;

  /** The setting that says why credential files could not be read. */
  private static final String UNREADABLE = "colonnade.credentials.unreadable";

  /** What the credential files at some paths held, and when they were read. */
  private record Credentials(Map<String, String> paths, Map<String, String> found, long nanos) {
    /** Names nothing, because a record's own text would show the credentials. */
    @Override
    public String toString() {
      return "Credentials";
    }
  }

  private static volatile Credentials last = new Credentials(Map.of(), Map.of(), 0);

  static {
    try {
      // Otherwise the settings of HDFS are known only after some code has opened it.
      HdfsConfiguration.init();
    } catch (LinkageError absent) {
      // A Spark without the classes of HDFS needs no settings of it.
    }
  }

  private HadoopSettings() {}

  /** Returns all settings, which tasks need to reach the store of a URL; none for a local path. */
  public static Map<String, String> ofTasks(String url) {
    Map<String, String> settings = new HashMap<>();
    if (url.contains("://")) {
      for (Map.Entry<String, String> entry : SparkSession.active().sessionState().newHadoopConf()) {
        if (!entry.getKey().startsWith("spark.")) {
          settings.put(entry.getKey(), entry.getValue());
        }
      }
    }
    return settings;
  }

  /**
   * Returns the settings for stores that someone has given, with the credentials from Hadoop's
   * credential files. The planner needs them to reach a store.
   */
  static Map<String, String> ofStores() {
    SparkSession session = SparkSession.active();
    Configuration conf = session.sparkContext().hadoopConfiguration();
    Map<String, String> found = new HashMap<>();
    for (Map.Entry<String, String> entry : conf) {
      if (isOfStores(entry.getKey())) {
        put(conf, found, entry.getKey());
      }
    }
    String files = conf.get(FILES, "");
    for (Map.Entry<String, String> entry :
        CollectionConverters.asJava(session.conf().getAll()).entrySet()) {
      if (isOfStores(entry.getKey())) {
        found.put(entry.getKey(), entry.getValue());
      } else if (entry.getKey().equals(FILES)) {
        files = entry.getValue();
      }
    }
    addCredentials(found, files);
    return found;
  }

  private static boolean isOfStores(String name) {
    for (String store : STORES) {
      if (name.startsWith(store)) {
        return true;
      }
    }
    return false;
  }

  private static void put(Configuration conf, Map<String, String> found, String name) {
    String value = conf.get(name, "");
    String[] sources = conf.getPropertySources(name);
    boolean isDefault = sources != null && sources[sources.length - 1].endsWith(DEFAULTS);
    if (!value.isBlank() && !isDefault) {
      found.put(name, value);
    }
  }

  /** Adds what credential files hold. It takes precedence over the same settings in plain text. */
  private static void addCredentials(Map<String, String> found, String files) {
    Map<String, String> paths = new TreeMap<>();
    String common = found.getOrDefault(S3 + OWN_FILES, "");
    paths.put(S3, joined(common, files));
    found.forEach(
        (name, value) -> {
          if (name.startsWith(BUCKET) && name.endsWith("." + OWN_FILES)) {
            String prefix = name.substring(0, name.length() - OWN_FILES.length());
            paths.put(prefix, value);
          }
        });
    paths.values().removeIf(String::isBlank);
    if (paths.isEmpty()) {
      return;
    }
    Credentials known = last;
    if (!known.paths().equals(paths) || System.nanoTime() - known.nanos() > FRESH_NANOS) {
      known = new Credentials(paths, read(paths), System.nanoTime());
      last = known;
    }
    found.putAll(known.found());
  }

  private static String joined(String first, String second) {
    return first.isBlank() || second.isBlank() ? first + second : first + "," + second;
  }

  /**
   * Reads credential files by the prefix of the settings that they are for. A failure becomes a
   * setting, because most requests do not need the credentials.
   */
  private static Map<String, String> read(Map<String, String> paths) {
    Map<String, String> found = new HashMap<>();
    for (Map.Entry<String, String> entry : paths.entrySet()) {
      Configuration conf =
          new Configuration(SparkSession.active().sparkContext().hadoopConfiguration());
      conf.set(FILES, entry.getValue());
      try {
        for (CredentialProvider provider : CredentialProviderFactory.getProviders(conf)) {
          read(provider, entry.getKey(), found);
        }
      } catch (IOException | RuntimeException error) {
        found.put(UNREADABLE, error.getClass().getSimpleName());
      }
    }
    return found;
  }

  private static void read(
      CredentialProvider provider, String prefix, Map<String, String> found) throws IOException {
    for (String alias : provider.getAliases()) {
      if (isOfStores(alias)) {
        boolean isOfAnyBucket = alias.startsWith(S3) && !alias.startsWith(BUCKET);
        String name = isOfAnyBucket ? prefix + alias.substring(S3.length()) : alias;
        char[] secret = provider.getCredentialEntry(alias).getCredential();
        found.putIfAbsent(name, new String(secret));
      }
    }
  }
}

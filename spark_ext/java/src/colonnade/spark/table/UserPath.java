package colonnade.spark.table;

import colonnade.planner.Planner;
import colonnade.planner.messages.Catalog.NamesUrl;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A path as a user writes it. What is a URL the planner decides, as for every other engine. */
public final class UserPath {
  private static final int MOST_KNOWN = 1000;

  /** What the planner has said about texts. It depends on nothing else. */
  private static final Map<String, Boolean> URLS = new ConcurrentHashMap<>();

  private UserPath() {}

  /**
   * Whether a path depends on the folder that the driver happens to run in.
   *
   * <p>Refuses a text that begins like a URL and is none.
   */
  public static boolean isRelative(String path) {
    return !path.startsWith("/") && !path.startsWith("~") && !isUrl(path);
  }

  /** The path from the root, or the URL. */
  public static String absolute(String path) {
    return isRelative(path) ? Path.of(path).toAbsolutePath().toString() : path;
  }

  private static boolean isUrl(String path) {
    if (path.indexOf(':') <= 0) {
      return false;
    }
    if (URLS.size() > MOST_KNOWN) {
      URLS.clear();
    }
    return URLS.computeIfAbsent(
        path, text -> Planner.call(new NamesUrl(text)).yes());
  }
}

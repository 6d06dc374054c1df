package colonnade.store.cache;

import colonnade.store.ByteRun;
import colonnade.store.ByteSource;
import colonnade.store.cache.Piece.Range;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Reads objects of a store through a cache. Requires: the objects never change.
 *
 * <p>Safe for concurrent use by several threads. Guide: docs/cache.md
 */
public final class CachedSource implements ByteSource {
  private static final Pattern S3A = Pattern.compile("s3a:", Pattern.CASE_INSENSITIVE);

  private static final Map<Settings, FolderPieces> CACHES = new ConcurrentHashMap<>();

  private record Settings(String folder, long bytes) {}

  private final ByteSource store;
  private final FolderPieces cache;
  private final Set<String> used = ConcurrentHashMap.newKeySet();

  private CachedSource(ByteSource store, FolderPieces cache) {
    this.store = store;
    this.cache = cache;
  }

  /**
   * Returns a store behind the cache that a task names, or the store itself. Does no I/O.
   *
   * @param settings the folder and its limit, which the planner has checked; a missing node if
   *     there is no cache. Equal settings mean one cache of this process.
   */
  public static ByteSource of(ByteSource store, JsonNode settings) {
    if (settings.isMissingNode()) {
      return store;
    }
    Settings chosen =
        new Settings(settings.get("folder").textValue(), settings.get("bytes").longValue());
    return new CachedSource(
        store,
        CACHES.computeIfAbsent(chosen, each -> new FolderPieces(each.folder(), each.bytes())));
  }

  @Override
  public String url() {
    return store.url();
  }

  @Override
  public boolean isRemote() {
    return store.isRemote();
  }

  @Override
  public String locate(String name) {
    return store.locate(name);
  }

  @Override
  public byte[] read(String name, long offset, int length) throws IOException {
    return read(name, offset, length, (start, count) -> store.read(name, start, count));
  }

  @Override
  public int mostRuns() throws IOException {
    return store.mostRuns();
  }

  @Override
  public ByteRun run(String name, long end) {
    ByteRun run = store.run(name, end);
    return new ByteRun() {
      @Override
      public byte[] read(long offset, int length) throws IOException {
        return CachedSource.this.read(name, offset, length, run);
      }

      @Override
      public void close() {
        run.close();
      }
    };
  }

  private byte[] read(String name, long offset, int length, ByteRun run) throws IOException {
    used.add(name);
    String key = key(name);
    Range wanted = new Range(offset, offset + length);
    List<Piece> held = cache.find(key, wanted);
    Range gap = Piece.missing(wanted, held);
    if (gap == null) {
      return Piece.assemble(wanted, held);
    }
    byte[] data = run.read(gap.start(), (int) (gap.end() - gap.start()));
    for (Piece piece : Piece.divide(gap.start(), data)) {
      cache.keep(key, piece);
    }
    if (gap.equals(wanted)) {
      return data;
    }
    held.add(new Piece(gap.start(), data));
    return Piece.assemble(wanted, held);
  }

  @Override
  public void forget() {
    for (String name : used) {
      cache.forget(key(name));
    }
  }

  /** Returns the digits that name an object in the folder, which are the same in Python. */
  private String key(String name) {
    String location = S3A.matcher(store.url()).replaceFirst("s3:") + "/" + name;
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] found = digest.digest(location.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(found, 0, 16);
    } catch (NoSuchAlgorithmException error) {
      throw new IllegalStateException("Every Java has SHA-256.", error);
    }
  }
}

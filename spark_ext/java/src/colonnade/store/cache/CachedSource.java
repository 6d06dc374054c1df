package colonnade.store.cache;

import colonnade.store.ByteRun;
import colonnade.store.ByteSource;
import colonnade.store.cache.Piece.Range;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
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

  private final ByteSource store;
  private final Cache cache;
  private final Set<String> used = ConcurrentHashMap.newKeySet();

  private CachedSource(ByteSource store, Cache cache) {
    this.store = store;
    this.cache = cache;
  }

  /**
   * Returns a store behind the cache that a task names, or the store itself.
   *
   * @param settings the folder and its limits; a missing node if there is no cache
   */
  public static ByteSource of(ByteSource store, JsonNode settings) {
    return settings.isMissingNode() ? store : new CachedSource(store, Cache.of(settings));
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
    List<Piece> held = find(key, wanted);
    Range gap = Piece.missing(wanted, held);
    if (gap == null) {
      return Piece.assemble(wanted, held);
    }
    byte[] data = run.read(gap.start(), (int) (gap.end() - gap.start()));
    for (Piece piece : Piece.divide(gap.start(), data)) {
      cache.memory().keep(key, piece);
      cache.folder().keep(key, piece);
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
      cache.memory().forget(key(name));
      cache.folder().forget(key(name));
    }
  }

  /** Returns kept pieces: those in memory, and those of the folder that memory lacks. */
  private List<Piece> find(String key, Range wanted) {
    List<Piece> found = new ArrayList<>(cache.memory().find(key, wanted));
    Range gap = Piece.missing(wanted, found);
    if (gap != null) {
      for (Piece piece : cache.folder().find(key, gap)) {
        cache.memory().keep(key, piece);
        found.add(piece);
      }
    }
    return found;
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

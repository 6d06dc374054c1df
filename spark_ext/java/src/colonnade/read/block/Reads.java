package colonnade.read.block;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs reads concurrently, and before the calling thread needs their results. */
public final class Reads {
  private static final int AT_ONCE = 16;

  private static final ExecutorService THREADS =
      Executors.newCachedThreadPool(
          work -> {
            Thread thread = new Thread(work, "colonnade-read");
            thread.setDaemon(true);
            return thread;
          });

  private Reads() {}

  /** One read, which stores its own result. */
  public interface Read {
    void run() throws IOException;
  }

  /**
   * Runs all reads and waits for them. Runs up to sixteen at once if each costs a round trip, else
   * one after the other.
   */
  public static void all(boolean remote, List<Read> reads) throws IOException {
    if (!remote || reads.size() < 2) {
      for (Read read : reads) {
        read.run();
      }
      return;
    }
    Queue<Read> left = new ConcurrentLinkedQueue<>(reads);
    List<Future<Void>> workers = new ArrayList<>();
    for (int i = 0; i < Math.min(AT_ONCE, reads.size()); i++) {
      workers.add(ahead(() -> drain(left)));
    }
    try {
      for (Future<Void> worker : workers) {
        await(worker);
      }
    } finally {
      left.clear();
    }
  }

  private static Void drain(Queue<Read> left) throws IOException {
    for (Read read = left.poll(); read != null; read = left.poll()) {
      read.run();
    }
    return null;
  }

  public static <T> Future<T> ahead(Callable<T> read) {
    return THREADS.submit(read);
  }

  /** Runs work in the background. */
  public static void ahead(Runnable work) {
    THREADS.execute(work);
  }

  public static <T> T await(Future<T> read) throws IOException {
    try {
      return read.get();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new IOException("The task was interrupted while it waited for a read.", error);
    } catch (ExecutionException error) {
      if (error.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw new IllegalStateException("A read in the background failed.", error.getCause());
    }
  }
}

package colonnade.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs steps concurrently that wait for the disk. Many concurrent waits take about as long as one.
 */
public final class SideBySide {
  private static final int AT_ONCE = 16;

  private SideBySide() {}

  /** The step to run for each item. */
  public interface Step<T> {
    void run(T item) throws IOException;
  }

  /**
   * Runs a step for every item and returns when all have finished.
   *
   * @throws IOException the first error of a step, in the order of the items
   */
  public static <T> void run(List<T> items, Step<T> step) throws IOException {
    if (items.isEmpty()) {
      return;
    }
    ExecutorService threads =
        Executors.newFixedThreadPool(Math.min(AT_ONCE, items.size()), SideBySide::daemon);
    List<Future<?>> running = new ArrayList<>();
    for (T item : items) {
      running.add(
          threads.submit(
              () -> {
                step.run(item);
                return null;
              }));
    }
    threads.shutdown();
    List<Throwable> failures = new ArrayList<>();
    boolean interrupted = false;
    for (Future<?> each : running) {
      interrupted |= await(each, failures);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (!failures.isEmpty()) {
      if (failures.get(0) instanceof IOException error) {
        throw error;
      }
      throw new IllegalStateException("A step beside others failed.", failures.get(0));
    }
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "colonnade-sync");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Waits for a step even if the thread is interrupted, because no step may still run afterwards.
   * Returns whether the thread was interrupted.
   */
  private static boolean await(Future<?> step, List<Throwable> failures) {
    boolean interrupted = false;
    while (true) {
      try {
        step.get();
        return interrupted;
      } catch (InterruptedException error) {
        interrupted = true;
      } catch (ExecutionException error) {
        failures.add(error.getCause());
        return interrupted;
      }
    }
  }
}

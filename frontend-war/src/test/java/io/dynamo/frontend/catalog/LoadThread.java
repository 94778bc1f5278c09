package io.dynamo.frontend.catalog;

import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Runs tasks on the test's own thread: at once, or when the test says. */
final class LoadThread extends AbstractExecutorService {
  @Nullable List<Runnable> waiting;

  @Override
  public void execute(Runnable task) {
    if (waiting == null) {
      task.run();
    } else {
      waiting.add(task);
    }
  }

  @Override
  public void shutdown() {}

  @Override
  public List<Runnable> shutdownNow() {
    return List.of();
  }

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public boolean isTerminated() {
    return false;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return true;
  }
}

package io.dynamo.cli.cluster;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The processes of a cluster on this machine. The stores start first, the servers when those
 * answer; a part that ends later is started again. Safe for concurrent use: {@link #close} may be
 * called at any time, by a shutdown hook for one.
 */
public final class LocalCluster implements AutoCloseable {
  private static final Duration ASK_AGAIN = Duration.ofMillis(200);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
  private static final Duration STEADY = Duration.ofMinutes(1);
  private static final int LAST_LINES = 20;

  private final List<List<PartPlan>> stages;
  private final Duration deadline;
  private final Consumer<String> report;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Map<PartPlan, GuardedProcess> processes = new LinkedHashMap<>(); // guarded by this

  /**
   * Starts nothing yet.
   *
   * @param report receives a line for each part that ends and is started again, on any thread
   */
  public LocalCluster(ClusterPlan plan, Consumer<String> report) {
    this(plan.stages(), plan.deadline(), report);
  }

  /**
   * @param stages each starts when all parts of those before it serve, and is stopped before them
   * @param deadline of the start as a whole
   */
  LocalCluster(List<List<PartPlan>> stages, Duration deadline, Consumer<String> report) {
    this.stages = List.copyOf(stages);
    this.deadline = deadline;
    this.report = report;
  }

  /**
   * Starts all parts and waits until they serve.
   *
   * @return false when this was closed meanwhile
   * @throws ClusterFailedException when one ends, or does not serve in time; the caller closes this
   */
  public boolean start() throws ClusterFailedException, InterruptedException {
    long end = System.nanoTime() + deadline.toNanos();
    for (var stage : stages) {
      for (var part : stage) {
        try {
          launch(part);
        } catch (IOException e) {
          throw new ClusterFailedException(
              "%s cannot be started: %s; correct that".formatted(part.name(), e.getMessage()));
        }
      }
      awaitServing(stage, end);
      if (closing.getCount() == 0) {
        return false;
      }
    }
    for (var stage : stages) {
      for (var part : stage) {
        Thread.ofVirtual().name("keep " + part.name()).start(() -> keep(part));
      }
    }
    return true;
  }

  /** Waits until {@link #close} has ended. */
  public void awaitClosed() throws InterruptedException {
    closed.await();
  }

  /** Returns whether the part was launched: none is once this closes. */
  private synchronized boolean launch(PartPlan part) throws IOException {
    if (closing.getCount() == 0) {
      return false;
    }
    processes.put(part, GuardedProcess.start(part));
    return true;
  }

  private synchronized @Nullable GuardedProcess process(PartPlan part) {
    return processes.get(part);
  }

  private void awaitServing(List<PartPlan> stage, long end)
      throws ClusterFailedException, InterruptedException {
    var awaited = new ArrayList<>(stage);
    while (closing.getCount() > 0) {
      var problems = new LinkedHashMap<PartPlan, String>();
      for (var part : awaited) {
        var process = process(part);
        if (process == null) {
          return; // closed before it was launched
        }
        if (!process.isAlive() && closing.getCount() > 0) {
          throw failure(
              part, "ended with status %d before it served".formatted(process.awaitEnd()));
        }
        for (var probe : part.probes()) {
          var problem = probe.problem();
          if (problem != null) {
            problems.put(part, problem);
            break;
          }
        }
      }
      if (problems.isEmpty()) {
        return;
      }
      awaited.retainAll(problems.keySet());
      if (System.nanoTime() - end >= 0) {
        throw failure(
            awaited.getFirst(),
            "does not serve within %d s: %s"
                .formatted(deadline.toSeconds(), problems.get(awaited.getFirst())));
      }
      closing.await(ASK_AGAIN.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private ClusterFailedException failure(PartPlan part, String what) {
    var process = requireNonNull(process(part));
    var lines = process.lastLines(LAST_LINES);
    return new ClusterFailedException(
        "%s %s; the last lines of %s:%n%s"
            .formatted(
                part.name(),
                what,
                process.console(),
                lines.isEmpty()
                    ? "  (it printed nothing)"
                    : lines.stream().map(line -> "  " + line).collect(Collectors.joining("\n"))));
  }

  /** Starts a part again each time it ends, at once or after a pause that grows. */
  private void keep(PartPlan part) {
    var pause = FIRST_PAUSE;
    try {
      while (true) {
        var process = requireNonNull(process(part));
        int status = process.awaitEnd();
        if (closing.getCount() == 0) {
          return;
        }
        pause = process.age().compareTo(STEADY) >= 0 ? FIRST_PAUSE : pause;
        report.accept(
            "%s ended with status %d and is started again in %d s; its log is %s"
                .formatted(part.name(), status, pause.toSeconds(), process.console()));
        do {
          if (closing.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
            return;
          }
          pause = shorter(pause.multipliedBy(2), LONGEST_PAUSE);
        } while (!relaunch(part));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether there is nothing more to try. */
  private boolean relaunch(PartPlan part) {
    try {
      launch(part);
      return true;
    } catch (IOException e) {
      report.accept("%s cannot be started: %s".formatted(part.name(), e.getMessage()));
      return false;
    }
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /** Stops all parts, servers first, and returns when no process of them is left. */
  @Override
  public void close() {
    boolean first;
    Map<PartPlan, GuardedProcess> open;
    synchronized (this) {
      first = closing.getCount() > 0;
      closing.countDown();
      open = new LinkedHashMap<>(processes);
    }
    try {
      if (first) {
        stop(open);
        closed.countDown();
      }
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void stop(Map<PartPlan, GuardedProcess> open) throws InterruptedException {
    try {
      for (var stage : stages.reversed()) {
        var parts = stage.stream().filter(open::containsKey).toList();
        for (var part : parts) {
          requireNonNull(open.get(part)).stop();
        }
        for (var part : parts) {
          requireNonNull(open.get(part)).awaitStop();
        }
      }
    } catch (InterruptedException e) {
      open.values().forEach(GuardedProcess::stop);
      throw e;
    }
  }
}

package io.dynamo.worker.engine.remote;

import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.remote.LoadSource.ServerLoad;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Completes the load of this worker's own generations by what the server reports of all its
 * clients. The server is asked beside the callers, when they want to know a load and the latest
 * answer is {@link #INTERVAL} old: callers do not wait for it, and it is left alone while nobody
 * wants to know. Without an answer, or with an old one, the own figures count alone. Safe for
 * concurrent use.
 */
final class ServerLoads {
  static final Duration INTERVAL = Duration.ofSeconds(1);

  /** How long an answer counts, from when it was asked for. */
  static final Duration EXPIRY = Duration.ofSeconds(5);

  /** The greatest distance of two answers whose difference shows that the later one is of now. */
  static final Duration COMPARED = Duration.ofSeconds(30);

  static final Duration AFTER_FAILURE = Duration.ofSeconds(10);

  private static final System.Logger LOG = System.getLogger(ServerLoads.class.getName());

  /**
   * The latest answer.
   *
   * @param current which ranks' figures are of now, not of an earlier pass
   * @param atNanos when it was asked for
   */
  private record Answer(List<ServerLoad> loads, boolean[] current, long atNanos) {}

  private final EngineHttp http;
  private final LoadSource source;
  private final String engine;
  private final Executor executor;
  private final LongSupplier nanoTime;
  private final AtomicBoolean asking = new AtomicBoolean();
  private volatile @Nullable Answer latest;
  private volatile long nextNanos; // when the server may be asked again
  private volatile boolean failing;
  private volatile boolean closed;

  /**
   * @param engine the kind of engine, for messages
   * @param executor asks the server; may block
   */
  ServerLoads(
      EngineHttp http, LoadSource source, String engine, Executor executor, LongSupplier nanoTime) {
    this.http = http;
    this.source = source;
    this.engine = engine;
    this.executor = executor;
    this.nanoTime = nanoTime;
    this.nextNanos = nanoTime.getAsLong();
  }

  /** Makes one for a server's dialect; null where such servers do not report their load. */
  static @Nullable ServerLoads of(Dialect dialect, EngineHttp http) {
    return dialect instanceof LoadSource source
        ? new ServerLoads(
            http,
            source,
            dialect.engine(),
            task -> Thread.ofVirtual().name("server-load").start(task),
            System::nanoTime)
        : null;
  }

  /** Returns the greater of the own and the reported load of each rank. */
  List<RankLoad> complete(List<RankLoad> own) {
    long now = nanoTime.getAsLong();
    if (now - nextNanos >= 0 && asking.compareAndSet(false, true)) {
      try {
        executor.execute(this::ask);
      } catch (RuntimeException | Error failure) {
        asking.set(false);
        throw failure;
      }
    }
    var answer = latest;
    if (answer == null || now - answer.atNanos >= EXPIRY.toNanos()) {
      return own;
    }
    var loads = new ArrayList<RankLoad>(own.size());
    for (int rank = 0; rank < own.size(); rank++) {
      boolean counts = rank < answer.loads.size() && answer.current[rank];
      loads.add(counts ? greater(own.get(rank), answer.loads.get(rank)) : own.get(rank));
    }
    return List.copyOf(loads);
  }

  /** Returns a load in which the server's requests include this worker's. */
  private static RankLoad greater(RankLoad own, ServerLoad reported) {
    int total =
        (int)
            Math.min(
                Integer.MAX_VALUE,
                Math.max(
                    (long) own.running() + own.waiting(),
                    (long) reported.running() + reported.waiting()));
    int waiting = Math.max(own.waiting(), reported.waiting());
    double usage = Math.clamp(reported.cacheUsage(), 0.0, 1.0);
    int blocks = Double.isNaN(usage) ? 0 : (int) (own.totalBlocks() * usage);
    return new RankLoad(
        total - waiting,
        waiting,
        Math.max(own.heldBlocks(), blocks),
        own.cachedBlocks(),
        own.totalBlocks(),
        own.prefillTokens(),
        own.promptTokens(),
        own.cachedTokens(),
        own.corruptBlocks());
  }

  private void ask() {
    boolean answered = false;
    try {
      long begin = nanoTime.getAsLong();
      var loads = source.load(http);
      long nanos = nanoTime.getAsLong() - begin;
      latest = new Answer(List.copyOf(loads), current(loads, begin), begin);
      answered = !loads.isEmpty();
      if (!answered) {
        warn("it reports none");
      } else if (nanos >= EXPIRY.toNanos()) {
        warn("its report takes %d ms".formatted(TimeUnit.NANOSECONDS.toMillis(nanos)));
      } else if (failing) {
        failing = false;
        LOG.log(Level.INFO, "{0} at {1} reports its load again", engine, http.base());
      }
    } catch (IOException | RuntimeException e) {
      latest = null;
      warn(e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      nextNanos = nanoTime.getAsLong() + (answered ? INTERVAL : AFTER_FAILURE).toNanos();
      asking.set(false);
    }
  }

  private boolean[] current(List<ServerLoad> loads, long now) {
    var before = latest;
    var current = new boolean[loads.size()];
    for (int rank = 0; rank < current.length; rank++) {
      var load = loads.get(rank);
      current[rank] =
          load.tokens() == null
              || (before != null
                  && now - before.atNanos < COMPARED.toNanos()
                  && rank < before.loads.size()
                  && !load.equals(before.loads.get(rank)));
    }
    return current;
  }

  /** Ends the log's messages. Idempotent. */
  void close() {
    closed = true;
  }

  private void warn(String why) {
    if (!failing && !closed) {
      failing = true;
      LOG.log(
          Level.INFO,
          "the load of {0} at {1} is that of this worker''s own requests: {2}",
          engine,
          http.base(),
          why);
    }
  }
}

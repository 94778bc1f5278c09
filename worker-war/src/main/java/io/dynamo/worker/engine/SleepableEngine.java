package io.dynamo.worker.engine;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.model.RenderedSample;
import io.dynamo.request.RequestContext;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * An engine that can release its memory and be made anew: there is no engine behind it while it
 * sleeps, and waking makes a new one. Counts, adapters and listeners carry over. Safe for
 * concurrent use.
 *
 * <p>Invariant: receivers of the KV events know of no block while it sleeps.
 */
public final class SleepableEngine
    implements Engine,
        LoadReport,
        PassReport,
        CacheControl,
        AdapterHost,
        AdapterReport,
        BlockPort,
        SampleReport {
  /** Makes engines. Called by one thread at a time. */
  public interface Source {
    /** Returns a new engine, not started. */
    EngineParts make();

    /** Releases the weights, which the next {@link #make} loads again. */
    void forgetWeights();

    /** Called before the engine is closed for a sleep: what else uses its weights ends. */
    default void resting() {}

    /** Called once a new engine has started after a sleep. */
    default void resumed() {}
  }

  /**
   * The engine and its state at one moment.
   *
   * @param engine the latest engine; a closed one while it sleeps
   * @param cancelledBefore generations cancelled on the previous engines
   * @param lastCancelBefore when the last of those ended
   */
  private record State(
      EngineParts engine, boolean asleep, long cancelledBefore, long lastCancelBefore) {
    long cancelled() {
      return cancelledBefore + engine.load().cancelled();
    }

    long lastCancelNanos() {
      return engine.load().cancelled() == 0 ? lastCancelBefore : engine.load().lastCancelNanos();
    }

    State sleeping() {
      return new State(engine, true, cancelledBefore, lastCancelBefore);
    }

    State awakeWith(EngineParts coming) {
      return new State(coming, false, cancelled(), lastCancelNanos());
    }
  }

  private final Source source;
  private final KeptAdapters adapters = new KeptAdapters(); // guarded by this, as next two
  private @Nullable KvEventSink events;
  private PassReport.@Nullable Listener listener;
  private volatile State state; // replaced as a whole, under this
  private volatile @Nullable EngineDescription started; // null before the start
  private volatile @Nullable Engine coming; // the engine that a wake is starting
  private volatile @Nullable Engine leaving; // the engine whose server a sleep waits for
  private volatile boolean closed;
  private volatile long loadNanos; // written under this

  /** Makes the first engine, without starting it. */
  public SleepableEngine(Source source) {
    long begun = System.nanoTime();
    this.source = source;
    this.state = new State(source.make(), false, 0, 0);
    this.loadNanos = System.nanoTime() - begun;
  }

  @Override
  public synchronized EngineDescription start(KvEventSink to) {
    if (started != null) {
      throw new IllegalStateException("an engine starts once");
    }
    long begun = System.nanoTime();
    events = to;
    var description = state.engine.engine().start(to);
    started = description;
    long made = loadNanos;
    loadNanos = made + System.nanoTime() - begun;
    return description;
  }

  /**
   * Ends every generation, so that it migrates, and frees the KV blocks.
   *
   * @param dropWeights whether the weights are released as well
   * @return false when it already slept
   * @throws IllegalStateException when it was not started or is closed
   */
  public synchronized boolean sleep(boolean dropWeights) {
    var description = requireStarted();
    if (state.asleep) {
      return false;
    }
    source.resting();
    state = state.sleeping();
    try {
      releaseMemory(dropWeights);
      state.engine.engine().close();
    } finally {
      var to = sink();
      for (int rank = 0; rank < description.ranks(); rank++) {
        to.cleared(rank);
      }
    }
    if (dropWeights) {
      source.forgetWeights();
    }
    return true;
  }

  private void releaseMemory(boolean dropWeights) { // caller holds this
    if (state.engine.engine() instanceof MemoryRelease server) {
      leaving = state.engine.engine();
      try {
        if (!closed) { // a close() in the meantime may not have seen `leaving`
          server.releaseMemory(dropWeights);
        }
      } finally {
        leaving = null;
      }
    }
  }

  /**
   * Makes and starts a new engine, with the adapters that the previous one had, but for those that
   * it refuses, which is logged.
   *
   * @return false when it was already awake
   * @throws IllegalStateException when the engine was not started, is closed, or differs in its
   *     description from the one before, since its model has changed
   */
  public synchronized boolean wake() {
    var description = requireStarted();
    if (!state.asleep) {
      return false;
    }
    long begun = System.nanoTime();
    var made = source.make();
    coming = made.engine();
    try {
      start(made, description);
      source.resumed();
    } catch (RuntimeException | Error failure) {
      made.engine().close();
      throw failure;
    } finally {
      coming = null;
    }
    state = state.awakeWith(made);
    loadNanos = System.nanoTime() - begun;
    return true;
  }

  private void start(EngineParts made, EngineDescription before) { // caller holds this
    requireStarted(); // a close() in the meantime may not have seen `coming`
    var now = made.engine().start(sink());
    if (!now.equals(before)) {
      throw new IllegalStateException(
          "the engine woke as %s and went to sleep as %s; restart the worker"
              .formatted(now, before));
    }
    adapters.restore(made);
    var to = listener;
    if (to != null) {
      made.passes().reportPassesTo(to);
    }
  }

  private EngineDescription requireStarted() { // caller holds this
    var description = started;
    if (closed || description == null) {
      throw new IllegalStateException(closed ? "the engine is closed" : "it was not started");
    }
    return description;
  }

  private KvEventSink sink() { // caller holds this
    var to = events;
    if (to == null) {
      throw new IllegalStateException("the engine was not started");
    }
    return to;
  }

  /** Returns how long it took to make and start the latest engine, in nanoseconds. */
  public long loadNanos() {
    return loadNanos;
  }

  public boolean isAsleep() {
    return state.asleep;
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    var at = state;
    if (at.asleep) {
      throw new WorkerLostException(ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the engine sleeps");
    }
    return at.engine.engine().generate(request, context);
  }

  @Override
  public int running() {
    return state.engine.engine().running();
  }

  /**
   * {@inheritDoc} While asleep, returns empty ranks. Never waits for an engine that starts or
   * stops.
   */
  @Override
  public List<RankLoad> ranks() {
    var at = state;
    if (!at.asleep) {
      return at.engine.load().ranks();
    }
    var description = started;
    return description == null
        ? List.of()
        : Collections.nCopies(
            description.ranks(), new RankLoad(0, 0, 0, 0, description.totalBlocks(), 0, 0, 0, 0));
  }

  @Override
  public long cancelled() {
    return state.cancelled();
  }

  @Override
  public long lastCancelNanos() {
    return state.lastCancelNanos();
  }

  @Override
  public synchronized void reportPassesTo(PassReport.Listener to) {
    listener = to;
    if (!state.asleep) {
      state.engine.passes().reportPassesTo(to);
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException when the engine has no cache
   */
  @Override
  public void clearCache() {
    var at = state;
    if (at.asleep) {
      return; // a sleeping engine has no cache
    }
    if (!(at.engine.engine() instanceof CacheControl cache)) {
      throw new IllegalStateException("this engine has no KV cache");
    }
    cache.clearCache();
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException when the engine takes no adapters, or not this one
   * @throws IllegalStateException when it sleeps
   */
  @Override
  public synchronized void loadAdapter(String name, Path directory) {
    if (state.asleep) {
      throw new IllegalStateException("the engine sleeps; wake it first");
    }
    adapters.load(state.engine, name, directory);
  }

  @Override
  public synchronized void unloadAdapter(String name) {
    if (state.asleep) {
      adapters.unloadAsleep(name);
    } else {
      adapters.unload(state.engine, name);
    }
  }

  @Override
  public Map<String, Path> serverAdapters() {
    return state.engine.engine() instanceof AdapterReport report
        ? report.serverAdapters()
        : Map.of();
  }

  /** {@inheritDoc} Null too for an engine that has no server. */
  @Override
  public @Nullable RenderedSample renderedSample() {
    return state.engine.engine() instanceof SampleReport report ? report.renderedSample() : null;
  }

  /** Whether the engine's blocks can go to other engines. */
  public boolean hasBlockPort() {
    return state.engine.engine() instanceof BlockPort;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException when it sleeps, or its blocks cannot go elsewhere
   */
  @Override
  public KvLayout layout() {
    return port().layout();
  }

  @Override
  public @Nullable KvBlocks exportBlocks(RequestContext generation, Deadline deadline)
      throws InterruptedException {
    return port().exportBlocks(generation, deadline);
  }

  @Override
  public int importBlocks(KvBlocks blocks, Deadline deadline) throws InterruptedException {
    return port().importBlocks(blocks, deadline);
  }

  private BlockPort port() {
    var at = state;
    if (at.asleep || !(at.engine.engine() instanceof BlockPort port)) {
      throw new IllegalStateException(
          at.asleep ? "the engine sleeps" : "the blocks of this engine cannot go elsewhere");
    }
    return port;
  }

  @Override
  public void close() {
    closed = true;
    for (var busy : Arrays.asList(coming, leaving)) {
      if (busy != null) {
        busy.close(); // the thread that waits for its start or its server holds this
      }
    }
    synchronized (this) {
      state.engine.engine().close();
    }
  }
}

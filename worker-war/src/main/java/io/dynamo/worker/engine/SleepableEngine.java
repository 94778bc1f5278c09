package io.dynamo.worker.engine;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * An engine that can give its memory back and come again: asleep there is none behind it, and
 * waking makes a new one. What it tells goes on across sleeps. Safe for concurrent use.
 *
 * <p>Invariant: whoever hears the KV events knows of no block while it sleeps.
 */
public final class SleepableEngine
    implements Engine, LoadReport, PassReport, CacheControl, AdapterHost {
  /** Where engines come from. Called by one thread at a time. */
  public interface Source {
    /** A new engine, not started. */
    EngineParts make();

    /** Lets go of the weights, which the next {@link #make} loads again. */
    void forgetWeights();
  }

  private final Source source;
  private final Map<String, Path> adapters = new LinkedHashMap<>(); // guarded by this, like these:
  private @Nullable EngineDescription told; // null before the start
  private @Nullable KvEventSink events;
  private PassReport.@Nullable Listener listener;
  private boolean closed;
  private long cancelledBefore; // by the engines that are gone
  private volatile EngineParts awake; // the latest engine; a closed one while it sleeps
  private volatile boolean asleep; // written under this

  /** Makes the first engine. */
  public SleepableEngine(Source source) {
    this.source = source;
    this.awake = source.make();
  }

  @Override
  public synchronized EngineDescription start(KvEventSink to) {
    if (told != null) {
      throw new IllegalStateException("an engine starts once");
    }
    events = to;
    var description = awake.engine().start(to);
    told = description;
    return description;
  }

  /**
   * Ends every generation, so that it migrates, and frees the KV blocks.
   *
   * @param dropWeights whether the weights are let go as well
   * @return false when it slept already
   * @throws IllegalStateException when it was not started or is closed
   */
  public synchronized boolean sleep(boolean dropWeights) {
    var description = requireStarted();
    if (asleep) {
      return false;
    }
    asleep = true;
    var going = awake;
    going.engine().close();
    cancelledBefore += going.load().cancelled();
    var to = events;
    for (int rank = 0; to != null && rank < description.ranks(); rank++) {
      to.cleared(rank);
    }
    if (dropWeights) {
      source.forgetWeights();
    }
    return true;
  }

  /**
   * Makes and starts a new engine, with the adapters that the one before had.
   *
   * @return false when it was awake already
   * @throws IllegalStateException when it was not started, is closed, or is not what it was: its
   *     model has been changed meanwhile
   */
  public synchronized boolean wake() {
    var description = requireStarted();
    if (!asleep) {
      return false;
    }
    var coming = source.make();
    try {
      var now = coming.engine().start(sink());
      if (!now.equals(description)) {
        throw new IllegalStateException(
            "the engine woke as %s and went to sleep as %s; restart the worker"
                .formatted(now, description));
      }
      adapters.forEach((name, directory) -> host(coming).loadAdapter(name, directory));
      var to = listener;
      if (to != null) {
        coming.passes().tellPasses(to);
      }
    } catch (RuntimeException | Error failure) {
      coming.engine().close();
      throw failure;
    }
    awake = coming;
    asleep = false;
    return true;
  }

  private EngineDescription requireStarted() { // holds this
    var description = told;
    if (closed || description == null) {
      throw new IllegalStateException(closed ? "the engine is closed" : "it was not started");
    }
    return description;
  }

  private KvEventSink sink() { // holds this
    var to = events;
    if (to == null) {
      throw new IllegalStateException("the engine was not started");
    }
    return to;
  }

  public boolean isAsleep() {
    return asleep;
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    if (asleep) {
      throw new WorkerLostException(ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the engine sleeps");
    }
    return awake.engine().generate(request, context);
  }

  @Override
  public int running() {
    return awake.engine().running();
  }

  /** Asleep, ranks that hold nothing. */
  @Override
  public List<RankLoad> ranks() {
    if (!asleep) {
      return awake.load().ranks();
    }
    EngineDescription description;
    synchronized (this) {
      description = told;
    }
    return description == null
        ? List.of()
        : Collections.nCopies(
            description.ranks(), new RankLoad(0, 0, 0, 0, description.totalBlocks(), 0, 0, 0, 0));
  }

  @Override
  public synchronized long cancelled() {
    return asleep ? cancelledBefore : cancelledBefore + awake.load().cancelled();
  }

  @Override
  public long lastCancelNanos() {
    return awake.load().lastCancelNanos();
  }

  @Override
  public synchronized void tellPasses(PassReport.Listener to) {
    listener = to;
    if (!asleep) {
      awake.passes().tellPasses(to);
    }
  }

  /**
   * @throws IllegalStateException when the engine has no cache
   */
  @Override
  public void clearCache() {
    if (asleep) {
      return; // it holds none
    }
    if (!(awake.engine() instanceof CacheControl cache)) {
      throw new IllegalStateException("this engine has no KV cache");
    }
    cache.clearCache();
  }

  /**
   * @throws IllegalArgumentException when the engine takes no adapters, or not this one
   * @throws IllegalStateException when it sleeps
   */
  @Override
  public synchronized void loadAdapter(String name, Path directory) {
    if (asleep) {
      throw new IllegalStateException("the engine sleeps; wake it first");
    }
    host(awake).loadAdapter(name, directory);
    adapters.put(name, directory);
  }

  private static AdapterHost host(EngineParts of) {
    if (of.engine() instanceof AdapterHost host) {
      return host;
    }
    throw new IllegalArgumentException("this engine takes no LoRA adapters; llama and mock do");
  }

  @Override
  public synchronized void unloadAdapter(String name) {
    if (adapters.remove(name) != null && !asleep) {
      host(awake).unloadAdapter(name);
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    awake.engine().close();
  }
}

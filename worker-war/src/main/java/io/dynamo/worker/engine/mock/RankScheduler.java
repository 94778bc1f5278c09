package io.dynamo.worker.engine.mock;

import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.worker.engine.CancelLog;
import io.dynamo.worker.engine.Pacer;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.TokenStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One rank's queue, slots and steps: each step gives every sequence whose prefill is done one
 * token. Driven by one thread; {@link #submit}, {@link #wake} and {@link #load} may come from any.
 *
 * <p>Invariant: {@code live} counts the inbox, those that wait and those that run, and never
 * exceeds {@code maxRunning + maxWaiting}.
 */
final class RankScheduler implements Pacer.Paced {
  private final int rank;
  private final MockEngineConfig config;
  private final PagedKvCache cache;
  private final CancelLog cancels;
  private final long stepNanos;
  private final long prefillNanos;
  private final Queue<Generation> inbox = new ConcurrentLinkedQueue<>(); // bounded by live
  private final ArrayDeque<Generation> waiting = new ArrayDeque<>();
  private final ArrayList<Generation> running = new ArrayList<>();
  private final PassMeter meter = new PassMeter();
  private final AtomicInteger live = new AtomicInteger();
  private long nextStep; // by the pacer's clock, from the first tick on
  private boolean ticked;
  private int prefillTokens;
  private long promptTokens;
  private long cachedTokens;
  private volatile boolean clearAsked;
  private volatile boolean ended;
  private volatile Pacer.@Nullable Driven driven;
  private volatile PassReport.@Nullable Listener passes;
  private volatile RankLoad load; // replaced by each tick

  RankScheduler(int rank, MockEngineConfig config, PagedKvCache cache, CancelLog cancels) {
    this.rank = rank;
    this.config = config;
    this.cache = cache;
    this.cancels = cancels;
    this.stepNanos = config.tokenInterval().toNanos();
    this.prefillNanos = config.prefillPerToken().toNanos();
    this.load = measure();
  }

  /** Starts to be driven; called once. */
  void start(Pacer pacer) {
    driven = pacer.drive("mock-engine-rank-" + rank, this);
  }

  void wake() {
    var by = driven;
    if (by != null) {
      by.wake();
    }
  }

  /**
   * Queues a generation.
   *
   * @throws WorkerBusyException when slots and queue are full
   */
  void submit(Generation generation) {
    int limit = config.maxRunning() + config.maxWaiting();
    if (live.incrementAndGet() > limit) {
      live.decrementAndGet();
      throw new WorkerBusyException(
          "rank %d runs and queues %d generations, its limit; try another worker"
              .formatted(rank, limit));
    }
    inbox.add(generation);
    if (ended) {
      refuseInbox();
    } else {
      wake();
    }
  }

  private void refuseInbox() {
    for (var late = inbox.poll(); late != null; late = inbox.poll()) {
      live.decrementAndGet();
      late.unfollow();
      late.stream.fail(TokenStream.shutDown());
    }
  }

  /** Empties the cache at the next tick. */
  void clear() {
    clearAsked = true;
    wake();
  }

  /** Generations that run or wait. */
  int live() {
    return live.get();
  }

  RankLoad load() {
    return load;
  }

  /** Tells {@code listener} of each pass from now on. */
  void tellPasses(PassReport.Listener listener) {
    passes = listener;
  }

  @Override
  public long tick(long now) {
    if (!ticked) {
      ticked = true;
      nextStep = now;
      meter.startAt(now);
    }
    if (clearAsked) {
      clearAsked = false;
      cache.clear();
    }
    for (var next = inbox.poll(); next != null; next = inbox.poll()) {
      waiting.add(next);
    }
    waiting.removeIf(generation -> endedBeforeItsTime(generation, now));
    running.removeIf(generation -> endedBeforeItsTime(generation, now));
    admit(now);
    if (now - nextStep >= 0 && step(now)) {
      nextStep = now - nextStep < stepNanos ? nextStep + stepNanos : now + stepNanos;
      admit(now); // slots that the step has freed
    }
    long wait = untilDue(now);
    load = measure();
    return wait;
  }

  private boolean endedBeforeItsTime(Generation generation, long now) {
    if (generation.isGivenUp()) {
      settle(generation);
      cancels.record();
      generation.stream.finish(EngineOutput.finish(FinishReason.CANCELLED, generation.usage()));
      return true;
    }
    if (now - generation.deadlineNanos >= 0) {
      settle(generation);
      generation.stream.fail(
          new DeadlineExceededException(
              "the deadline passed after %d of %d tokens"
                  .formatted(generation.usage().completionTokens(), generation.budget())));
      return true;
    }
    return false;
  }

  /** Frees what a generation holds, before its end is told. */
  private void settle(Generation generation) {
    generation.free();
    live.decrementAndGet();
  }

  private void admit(long now) {
    while (!waiting.isEmpty() && running.size() < config.maxRunning()) {
      var head = waiting.getFirst();
      try {
        int uncached = head.claim();
        if (uncached == SequenceBlocks.NO_ROOM) {
          return;
        }
        waiting.removeFirst();
        promptTokens += head.promptTokens;
        cachedTokens += head.cachedTokens();
        head.admitted(now, now + uncached * prefillNanos);
        running.add(head);
      } catch (RuntimeException failure) {
        waiting.removeFirst();
        fail(head, failure);
      }
    }
  }

  private void fail(Generation generation, RuntimeException failure) {
    settle(generation);
    generation.stream.fail(
        failure instanceof DynamoException typed
            ? typed
            : new EngineFailedException(
                ErrorCode.BACKEND_UNKNOWN, "the engine failed: " + failure, failure));
  }

  /** One token for each sequence that can take it; whether any did. */
  private boolean step(long now) {
    boolean any = false;
    meter.begin(waiting);
    int kept = 0;
    int count = running.size();
    for (int i = 0; i < count; i++) {
      var generation = running.get(i);
      boolean goesOn = true;
      if (now - generation.readyNanos() >= 0 && generation.stream.hasRoom()) {
        any = true;
        meter.add(generation);
        goesOn = advance(generation);
      }
      if (goesOn) {
        running.set(kept++, generation);
      }
    }
    while (running.size() > kept) {
      running.removeLast();
    }
    if (any) {
      tell(now);
    }
    return any;
  }

  private void tell(long now) {
    var pass = meter.end(now);
    var listener = passes;
    if (listener != null) {
      listener.passed(rank, pass);
    }
  }

  private boolean advance(Generation generation) {
    try {
      var last = generation.advance();
      if (last == null) {
        return true;
      }
      settle(generation);
      generation.stream.finish(last);
    } catch (RuntimeException failure) {
      fail(generation, failure);
    }
    return false;
  }

  private long untilDue(long now) {
    long wait = IDLE;
    int prefill = 0;
    for (int i = 0; i < running.size(); i++) {
      var generation = running.get(i);
      wait = Math.min(wait, Math.max(0, generation.deadlineNanos - now));
      long ready = generation.readyNanos() - now;
      if (generation.isPrefilling()) {
        prefill += generation.uncachedTokens();
      }
      if (ready > 0 || generation.stream.hasRoom()) {
        wait = Math.min(wait, Math.max(0, Math.max(ready, nextStep - now)));
      }
    }
    for (var generation : waiting) {
      wait = Math.min(wait, Math.max(0, generation.deadlineNanos - now));
    }
    prefillTokens = prefill;
    return wait;
  }

  private RankLoad measure() {
    return new RankLoad(
        running.size(),
        waiting.size(),
        cache.heldBlocks(),
        cache.cachedBlocks(),
        config.blocksPerRank(),
        prefillTokens,
        promptTokens,
        cachedTokens,
        cache.corruptBlocks());
  }

  @Override
  public void end() {
    ended = true;
    waiting.forEach(this::shutDown);
    running.forEach(this::shutDown);
    waiting.clear();
    running.clear();
    refuseInbox();
    prefillTokens = 0;
    load = measure();
    cache.close();
  }

  private void shutDown(Generation generation) {
    settle(generation);
    generation.stream.fail(TokenStream.shutDown());
  }

  /** Ends every generation and frees the cache. Idempotent. */
  void close() {
    var by = driven;
    if (by != null) {
      by.close();
    } else if (!ended) {
      end();
    }
  }
}

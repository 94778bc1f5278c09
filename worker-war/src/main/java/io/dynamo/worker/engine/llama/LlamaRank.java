package io.dynamo.worker.engine.llama;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.FailureShape;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.worker.engine.CancelLog;
import io.dynamo.worker.engine.Pacer;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.RankQueue;
import io.dynamo.worker.engine.TokenStream;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import org.jspecify.annotations.Nullable;

/**
 * One rank: its queue, its running sequences and its passes. Driven by one thread; {@link #submit},
 * {@link #submitTask}, {@link #wake} and {@link #load} may be called by any thread.
 */
final class LlamaRank implements Pacer.Paced {
  private static final System.Logger LOG = System.getLogger(LlamaRank.class.getName());
  private static final String TASKS = "has %d tasks to do";
  private static final int MAX_TASKS = 64;
  private static final double NANOS_PER_SECOND = 1e9;

  /** A task that runs between two passes, or is refused when the rank ends. */
  interface Task extends RankQueue.Entry {
    void run(BlockPool pool);
  }

  private final BlockPool pool;
  private final LlamaForwardPass pass;
  private final PassPlan plan;
  private final LlamaPassMeter meter = new LlamaPassMeter();
  private final CancelLog cancels;
  private final RankQueue<LlamaGeneration> arrivals;
  private final RankQueue<Task> tasks;
  private final ArrayDeque<LlamaGeneration> waiting = new ArrayDeque<>();
  private final ArrayList<LlamaGeneration> running =
      new ArrayList<>(); // in the order of their arrival
  private volatile boolean clearAsked;
  private volatile Pacer.@Nullable Driven driven;
  private volatile PassReport.@Nullable Listener passes;
  private volatile RankLoad load; // replaced by each tick
  private volatile long preemptions; // written by each tick

  LlamaRank(LlamaEngineConfig config, BlockPool pool, LlamaForwardPass pass, CancelLog cancels) {
    this.pool = pool;
    this.pass = pass;
    this.plan = new PassPlan(config, pool);
    this.cancels = cancels;
    this.arrivals =
        RankQueue.ofGenerations(pool.rank(), config.maxRunning() + config.maxWaiting(), this::wake);
    this.tasks = new RankQueue<>(pool.rank(), TASKS, MAX_TASKS, this::wake);
    this.load = measure();
  }

  /** Starts the rank's thread; called once. */
  void start(Pacer pacer) {
    driven = pacer.drive("llama-engine-rank-" + pool.rank(), this);
  }

  void reportPassesTo(PassReport.Listener listener) {
    passes = listener;
  }

  void wake() {
    var by = driven;
    if (by != null) {
      by.wake();
    }
  }

  BlockPool pool() {
    return pool;
  }

  /**
   * Queues a generation.
   *
   * @throws WorkerBusyException when places and queue are full
   * @throws io.dynamo.error.WorkerLostException when the rank has ended
   */
  void submit(LlamaGeneration generation) {
    if (arrivals.isEnded()) {
      throw TokenStream.shutDown();
    }
    arrivals.submit(generation);
  }

  /**
   * Queues a task.
   *
   * @throws WorkerBusyException when too many tasks wait
   */
  void submitTask(Task task) {
    tasks.submit(task);
  }

  /** Queues a task that releases blocks, however many wait. */
  void submitRelease(Task task) {
    tasks.submitAlways(task);
  }

  /** Returns the running generation of a request, if it is here; for tasks only. */
  @Nullable LlamaGeneration running(Cancellation request) {
    for (var generation : running) {
      if (generation.cancellation.equals(request)) {
        return generation;
      }
    }
    return null;
  }

  /**
   * Empties the cache at the next tick: no generation submitted from now on sees its earlier
   * content.
   */
  void clear() {
    clearAsked = true;
    wake();
  }

  /** Returns the number of generations that run or wait. */
  int live() {
    return arrivals.live();
  }

  /** Whether the rank has ended and computes nothing any more. */
  boolean ended() {
    return arrivals.isEnded();
  }

  RankLoad load() {
    return load;
  }

  /** Returns how many generations have been preempted since the start. */
  long preemptions() {
    return preemptions;
  }

  @Override
  public long tick(long now) {
    for (var next = arrivals.take(); next != null; next = arrivals.take()) {
      waiting.add(next); // first: generations that arrive after a clear must find the cache empty
    }
    if (clearAsked) {
      clearAsked = false;
      pool.clear();
    }
    for (var task = tasks.take(); task != null; task = tasks.take()) {
      tasks.free();
      task.run(pool);
    }
    waiting.removeIf(generation -> endedBeforeItsTime(generation, now));
    running.removeIf(generation -> endedBeforeItsTime(generation, now));
    plan.make(running, waiting);
    preemptions = plan.preemptions();
    boolean any = !plan.parts().isEmpty();
    if (any) {
      load = measure(); // before a pass, so that it shows prompts in progress
      var scheduled = meter.scheduled(plan.parts());
      var queued = meter.queued(waiting);
      long began = System.nanoTime();
      compute();
      reportPass(
          new io.dynamo.kv.ForwardPass(
              (System.nanoTime() - began) / NANOS_PER_SECOND, scheduled, queued));
    }
    load = measure();
    return any ? 0 : untilDeadline(now);
  }

  private void reportPass(io.dynamo.kv.ForwardPass done) {
    var listener = passes;
    if (listener != null) {
      listener.passed(pool.rank(), done);
    }
  }

  private boolean endedBeforeItsTime(LlamaGeneration generation, long now) {
    if (generation.isGivenUp()) {
      settle(generation);
      cancels.record();
      generation.stream.finish(EngineOutput.finish(FinishReason.CANCELLED, generation.usage()));
      return true;
    }
    if (generation.by.isGone()) {
      settle(generation);
      generation.stream.fail(
          new WorkerBusyException("the adapter was unloaded; another worker may have it"));
      return true;
    }
    if (now - generation.deadlineNanos >= 0) {
      settle(generation);
      generation.stream.fail(
          new DeadlineExceededException(
              "the deadline passed after %d of %d tokens"
                  .formatted(generation.generated(), generation.budget)));
      return true;
    }
    return false;
  }

  /** Releases the blocks and the place of a generation, before its stream ends. Idempotent. */
  private void settle(LlamaGeneration generation) {
    if (generation.free()) {
      arrivals.free();
    }
  }

  /** Collects the results of a pass: a token or a failure for each of its parts. */
  private final class Outcome implements LlamaForwardPass.Sink {
    final int[] tokens = new int[plan.parts().size()];
    final @Nullable RuntimeException[] failures = new RuntimeException[tokens.length];
    final boolean[] poisoned = new boolean[tokens.length];

    @Override
    public void logits(int segment, float[] logits, int at) {
      try {
        tokens[segment] = plan.parts().get(segment).generation().draw(logits, at);
      } catch (RuntimeException failure) {
        failures[segment] = failure;
      }
    }

    @Override
    public void poisoned(int segment) {
      poisoned[segment] = true;
    }
  }

  private void compute() {
    var outcome = new Outcome();
    RuntimeException broken = null;
    try {
      WeightGroups.run(pass, plan, outcome);
    } catch (RuntimeException failure) {
      broken = brokenPass(failure);
    } catch (OutOfMemoryError full) { // fails these generations, not the rank
      broken = brokenPass(full);
    }
    for (int i = 0; i < plan.parts().size(); i++) {
      var part = plan.parts().get(i);
      var failure = broken == null ? outcome.failures[i] : broken;
      if (failure != null) {
        fail(part.generation(), failure);
      } else if (outcome.poisoned[i]) {
        finishPoisoned(part.generation());
      } else {
        advance(part, outcome.tokens[i]);
      }
    }
  }

  /**
   * Returns a migratable error for a failed pass: no request is at fault, so all of them may
   * continue elsewhere.
   */
  private static WorkerLostException brokenPass(Throwable cause) {
    return new WorkerLostException(
        ErrorCode.BACKEND_STREAM_INCOMPLETE, "the engine failed in a pass: " + cause, cause);
  }

  private void advance(PassPlan.Part part, int token) {
    var generation = part.generation();
    try {
      generation.advance(part.count());
      if (generation.pending() > 0) {
        return; // more of the prompt remains
      }
      var last = generation.append(token);
      if (last != null) {
        running.remove(generation);
        settle(generation);
        generation.stream.finish(last);
      }
    } catch (RuntimeException failure) {
      fail(generation, failure);
    }
  }

  private void fail(LlamaGeneration generation, RuntimeException failure) {
    LOG.log(
        Level.ERROR, "rank " + pool.rank() + " failed at a generation", FailureShape.of(failure));
    running.remove(generation);
    settle(generation);
    generation.stream.fail(
        failure instanceof DynamoException typed
            ? typed
            : new EngineFailedException(
                ErrorCode.BACKEND_UNKNOWN, "the engine failed: " + failure, failure));
  }

  private void finishPoisoned(LlamaGeneration generation) {
    LOG.log(
        Level.ERROR,
        "rank {0} computed numbers that are not finite after {1} tokens; the weights are broken",
        pool.rank(),
        generation.length());
    running.remove(generation);
    settle(generation);
    generation.stream.fail(
        new WorkerLostException(
            ErrorCode.BACKEND_STREAM_INCOMPLETE, "the model computed numbers that are not finite"));
  }

  private long untilDeadline(long now) {
    long wait = IDLE;
    for (var generation : running) {
      wait = Math.min(wait, Math.max(0, generation.deadlineNanos - now));
    }
    for (var generation : waiting) {
      wait = Math.min(wait, Math.max(0, generation.deadlineNanos - now));
    }
    return wait;
  }

  private RankLoad measure() {
    int prefill = 0;
    for (var generation : running) {
      prefill += generation.pending() > 1 ? generation.pending() : 0;
    }
    return new RankLoad(
        running.size(),
        waiting.size(),
        pool.heldBlocks(),
        pool.cachedBlocks(),
        pool.capacity(),
        prefill,
        plan.promptTokens(),
        plan.cachedTokens(),
        pool.corruptBlocks());
  }

  @Override
  public void end() {
    arrivals.end();
    waiting.forEach(this::shutDown);
    running.forEach(this::shutDown);
    waiting.clear();
    running.clear();
    tasks.end();
    load = measure();
    pool.close();
  }

  private void shutDown(LlamaGeneration generation) {
    settle(generation);
    generation.stream.fail(TokenStream.shutDown());
  }

  /** Ends every generation and frees the blocks. Idempotent. */
  void close() {
    var by = driven;
    if (by != null) {
      by.close();
    } else if (!arrivals.isEnded()) {
      end();
    }
  }
}

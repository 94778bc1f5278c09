package io.dynamo.worker.engine.mock;

import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.kv.ForwardPass;
import io.dynamo.worker.engine.CancelLog;
import io.dynamo.worker.engine.Pacer;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.RankQueue;
import io.dynamo.worker.engine.TokenStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One rank: plans the changes of a pass when it begins and publishes them when it ends. Used by the
 * thread of its {@link RankGroup}; {@link #submit}, {@link #clear} and the accessors may be called
 * by any thread.
 */
final class RankScheduler {
  private static final double NANOS_PER_SECOND = 1e9;

  private final int rank;
  private final MockEngineConfig config;
  private final PagedKvCache cache;
  private final CancelLog cancels;
  private final PassEvents events;
  private final PassScheduler plan;
  private final RankQueue<MockGeneration> arrivals;
  private final MockPassMeter meter = new MockPassMeter();
  private final RankSeries series;
  private final Runnable wake;
  private ForwardPass.@Nullable Work scheduled; // of the current pass, as is queued
  private ForwardPass.@Nullable Work queued;
  private volatile long preemptions; // written by each tick
  private volatile boolean clearAsked;
  private volatile PassReport.@Nullable Listener passes;
  private volatile RankLoad load; // replaced by each tick

  /**
   * @param wake makes the group's thread tick soon
   */
  RankScheduler(
      int rank,
      MockEngineConfig config,
      PagedKvCache cache,
      PassEvents events,
      CancelLog cancels,
      RankSeries series,
      Runnable wake) {
    this.series = series;
    this.wake = wake;
    this.rank = rank;
    this.config = config;
    this.cache = cache;
    this.cancels = cancels;
    this.events = events;
    this.arrivals = RankQueue.ofGenerations(rank, config.maxRunning() + config.maxWaiting(), wake);
    this.plan =
        new PassScheduler(
            config.scheduling(),
            config.maxRunning(),
            config.blockTokens(),
            cache,
            (refused, why) -> fail((MockGeneration) refused, why));
    this.load = measure();
  }

  void wake() {
    wake.run();
  }

  /**
   * Queues a generation.
   *
   * @throws WorkerBusyException when slots and queue are full
   */
  void submit(MockGeneration generation) {
    arrivals.submit(generation);
  }

  /** Empties the cache at the next tick. */
  void clear() {
    clearAsked = true;
    wake();
  }

  /** Returns the number of generations that run or wait. */
  int live() {
    return arrivals.live();
  }

  RankLoad load() {
    return load;
  }

  /** Reports each pass to {@code listener} from now on. */
  void reportPassesTo(PassReport.Listener listener) {
    passes = listener;
  }

  /** Accepts new generations, and drops those that were cancelled or whose deadline passed. */
  void look(long now) {
    for (var next = arrivals.take(); next != null; next = arrivals.take()) {
      plan.waiting.add(next);
    }
    dropEnded(now);
  }

  /**
   * Plans the next pass.
   *
   * @return how long it takes in nanoseconds, {@link RankGroup#NO_PASS} when there is nothing to
   *     compute
   */
  long beginPass() {
    if (clearAsked) {
      clearAsked = false;
      cache.clear();
      events.flush();
    }
    if (!plan.plan()) {
      events.flush(); // removals by a failed admission
      return RankGroup.NO_PASS;
    }
    scheduled = meter.scheduled(plan.scheduled());
    queued = meter.queued(plan.waiting);
    return plan.nanos();
  }

  /**
   * Publishes the results of the pass: events, a report, tokens.
   *
   * @param passNanos how long it took
   */
  void endPass(long passNanos) {
    events.flush();
    var listener = passes;
    if (listener != null && scheduled != null && queued != null) {
      listener.passed(rank, new ForwardPass(passNanos / NANOS_PER_SECOND, scheduled, queued));
    }
    for (var sequence : List.copyOf(plan.scheduled())) {
      if (sequence.isReady() && sequence.hasRoom()) {
        advance((MockGeneration) sequence);
      }
    }
    scheduled = null;
    queued = null;
  }

  /**
   * Updates the load and the preemption count that other threads read.
   *
   * @return nanoseconds until the next deadline
   */
  long settle(long now) {
    long preempted = plan.preemptions();
    if (preempted != preemptions) {
      series.preemptions().accept(preempted - preemptions);
      preemptions = preempted;
    }
    load = measure();
    return untilDeadline(now);
  }

  private void dropEnded(long now) {
    plan.waiting.removeIf(sequence -> endedBeforeItsTime((MockGeneration) sequence, now));
    plan.running.removeIf(
        sequence -> {
          boolean over = endedBeforeItsTime((MockGeneration) sequence, now);
          if (over) {
            plan.scheduled().remove(sequence);
          }
          return over;
        });
  }

  private boolean endedBeforeItsTime(MockGeneration generation, long now) {
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

  /** Frees the blocks and the place of a generation, before its stream ends. */
  private void settle(MockGeneration generation) {
    generation.free();
    arrivals.free();
  }

  private void fail(MockGeneration generation, RuntimeException failure) {
    settle(generation);
    generation.stream.fail(
        failure instanceof DynamoException typed
            ? typed
            : new EngineFailedException(
                ErrorCode.BACKEND_UNKNOWN, "the engine failed: " + failure, failure));
  }

  private void advance(MockGeneration generation) {
    try {
      var last = generation.advance();
      if (last != null) {
        plan.remove(generation);
        settle(generation);
        generation.stream.finish(last);
      }
    } catch (RuntimeException failure) {
      plan.remove(generation);
      fail(generation, failure);
    }
  }

  private long untilDeadline(long now) {
    long wait = Pacer.Paced.IDLE;
    for (var sequence : plan.running) {
      wait = Math.min(wait, Math.max(0, ((MockGeneration) sequence).deadlineNanos - now));
    }
    for (var sequence : plan.waiting) {
      wait = Math.min(wait, Math.max(0, ((MockGeneration) sequence).deadlineNanos - now));
    }
    return wait;
  }

  private RankLoad measure() {
    int prefill = 0;
    for (var sequence : plan.running) {
      prefill += sequence.generated() == 0 ? sequence.promptTokens - sequence.reused : 0;
    }
    return new RankLoad(
        plan.running.size(),
        plan.waiting.size(),
        cache.heldBlocks(),
        cache.cachedBlocks(),
        config.blocksPerRank(),
        prefill,
        plan.promptTokens(),
        plan.cachedTokens(),
        cache.corruptBlocks());
  }

  /** Returns how many sequences have been preempted since the start. */
  long preemptions() {
    return preemptions;
  }

  /** Returns the buffer for the cache events of this rank's passes. */
  PassEvents events() {
    return events;
  }

  /** Ends every generation and frees the cache; the last call of the group's thread. */
  void end() {
    arrivals.end();
    plan.waiting.forEach(sequence -> shutDown((MockGeneration) sequence));
    plan.running.forEach(sequence -> shutDown((MockGeneration) sequence));
    plan.waiting.clear();
    plan.running.clear();
    plan.scheduled().clear();
    load = measure();
    cache.close();
  }

  private void shutDown(MockGeneration generation) {
    settle(generation);
    generation.stream.fail(TokenStream.shutDown());
  }
}

package io.dynamo.worker.engine.mock;

import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.HeapMemory;
import java.util.ArrayList;
import java.util.List;

/** One rank's scheduler in virtual time: requests arrive at their times, passes take theirs. */
final class VirtualWorker {
  private static final int BLOCK_BYTES = 8;

  /** A request and its results; times in nanoseconds from the first arrival. */
  static final class Request extends Sequence {
    final long arrival;
    long firstToken = -1;
    long lastToken = -1;
    boolean rejected;

    private Request(long arrival, int[] prompt, int output, SequenceBlocks blocks) {
      super(prompt, prompt.length + output, blocks);
      this.arrival = arrival;
    }

    @Override
    boolean hasRoom() {
      return true;
    }
  }

  private final int blockTokens;
  private final int blocks;
  private final int context;
  private final Scheduling how;
  private final PassEvents events = new PassEvents(EngineContract.DEAF);
  private final PagedKvCache cache;
  private final PassScheduler plan;
  private final List<Request> requests = new ArrayList<>();
  private int madeTokens = 1_000_000_000; // unique, and different from prompts' tokens

  VirtualWorker(Scheduling how, int maxRunning, int blockTokens, int blocks, int context) {
    this.how = how;
    this.blockTokens = blockTokens;
    this.blocks = blocks;
    this.context = context;
    var region = new HeapMemory().allocate((long) blocks * BLOCK_BYTES);
    this.cache = new PagedKvCache(0, blocks, BLOCK_BYTES, region, events);
    this.plan =
        new PassScheduler(
            how,
            maxRunning,
            blockTokens,
            cache,
            (_, why) -> {
              throw new AssertionError(why);
            });
  }

  /** Adds a request; called in the order of arrival. */
  Request add(long arrival, int[] prompt, int output) {
    int budget = Math.min(output, Math.max(0, context - prompt.length));
    var own =
        new SequenceBlocks(
            0,
            cache,
            new Xxh3BlockHashing(),
            events,
            blockTokens,
            how.prefixCaching(),
            prompt.length + budget);
    var request = new Request(arrival, prompt, budget, own);
    request.rejected =
        prompt.length >= context || (prompt.length + blockTokens - 1) / blockTokens > blocks;
    requests.add(request);
    return request;
  }

  PassScheduler plan() {
    return plan;
  }

  PagedKvCache cache() {
    return cache;
  }

  /** Queues {@code request} for the next pass. */
  void enqueue(Request request) {
    if (!request.rejected) {
      plan.waiting.add(request);
    }
  }

  /**
   * Runs a pass that begins at {@code now}.
   *
   * @return when it ends; {@code now} when there is nothing to do
   */
  long pass(long now) {
    if (!plan.plan()) {
      return now;
    }
    long end = now + plan.nanos();
    events.flush();
    for (var sequence : List.copyOf(plan.scheduled())) {
      if (sequence.isReady()) {
        advance((Request) sequence, end);
      }
    }
    return end;
  }

  private void advance(Request request, long now) {
    request.append(madeTokens++);
    if (request.firstToken < 0) {
      request.firstToken = now;
    }
    request.lastToken = now;
    if (request.isFull()) {
      plan.remove(request);
      request.blocks.release();
    }
  }

  /** Runs until no work is left. */
  void run() {
    long now = 0;
    int next = 0;
    while (next < requests.size() || !plan.running.isEmpty() || !plan.waiting.isEmpty()) {
      if (plan.running.isEmpty() && plan.waiting.isEmpty()) {
        now = Math.max(now, requests.get(next).arrival);
      }
      while (next < requests.size() && requests.get(next).arrival <= now) {
        enqueue(requests.get(next++));
      }
      now = pass(now);
    }
  }
}

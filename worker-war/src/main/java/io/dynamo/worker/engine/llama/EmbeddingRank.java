package io.dynamo.worker.engine.llama;

import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.FailureShape;
import io.dynamo.error.WorkerLostException;
import io.dynamo.worker.engine.Pacer;
import io.dynamo.worker.engine.RankQueue;
import io.dynamo.worker.engine.TokenStream;
import io.dynamo.worker.engine.Vectors;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Computes the prompts of requests for embeddings, several in a pass. Driven by one thread; {@link
 * #submit} and {@link #wake} may be called by any thread.
 *
 * <p>Requests take turns, a prompt each, so that a large one delays a small one by a prompt at a
 * time. A prompt that is longer than a pass is the only one with tokens left after it.
 */
final class EmbeddingRank implements Pacer.Paced {
  private static final System.Logger LOG = System.getLogger(EmbeddingRank.class.getName());
  private static final String WHAT = "computes and queues %d requests for embeddings";

  private final LlamaEmbedderConfig config;
  private final LlamaForwardPass pass;
  private final KvStore store;
  private final int width;
  private final RankQueue<EmbeddingBatch> arrivals;
  private final ArrayDeque<EmbeddingBatch> turn = new ArrayDeque<>(); // have prompts to begin
  private final Set<EmbeddingBatch> live = new LinkedHashSet<>();
  private final List<EmbeddingPrompt> parts = new ArrayList<>(); // of the present pass
  private final List<LlamaForwardPass.Segment> segments = new ArrayList<>();
  private final int[] free; // blocks
  private int freeBlocks;
  private @Nullable EmbeddingPrompt partial; // has tokens left after the last pass
  private volatile Pacer.@Nullable Driven driven;

  /** Takes ownership of {@code store}. */
  EmbeddingRank(LlamaEmbedderConfig config, LlamaForwardPass pass, KvStore store, int width) {
    this.config = config;
    this.pass = pass;
    this.store = store;
    this.width = width;
    this.arrivals = new RankQueue<>(0, WHAT, config.maxRequests(), this::wake);
    this.free = new int[config.blocks()];
    while (freeBlocks < free.length) {
      free[freeBlocks] = freeBlocks;
      freeBlocks++;
    }
  }

  /** Starts the rank's thread; called once. */
  void start(Pacer pacer) {
    driven = pacer.drive("llama-embeddings", this);
  }

  void wake() {
    var by = driven;
    if (by != null) {
      by.wake();
    }
  }

  /**
   * Queues a batch.
   *
   * @throws io.dynamo.error.WorkerBusyException when the queue is full
   * @throws WorkerLostException when the rank has ended
   */
  void submit(EmbeddingBatch batch) {
    if (arrivals.isEnded()) {
      throw TokenStream.shutDown();
    }
    arrivals.submit(batch);
  }

  /** Returns the number of requests that run or wait. */
  int live() {
    return arrivals.live();
  }

  @Override
  public long tick(long now) {
    for (var next = arrivals.take(); next != null; next = arrivals.take()) {
      live.add(next);
      turn.add(next);
    }
    for (var batch : List.copyOf(live)) {
      var end = early(batch, now);
      if (end != null) {
        fail(batch, end);
      }
    }
    plan();
    if (segments.isEmpty()) {
      return untilDeadline(now);
    }
    compute();
    return 0;
  }

  /** Returns why a batch ends before its time; null when it goes on. */
  private static @Nullable DynamoException early(EmbeddingBatch batch, long now) {
    if (batch.isGivenUp()) {
      return new CancelledException("the requester has given the embeddings up");
    }
    return now - batch.deadlineNanos < 0
        ? null
        : new DeadlineExceededException(
            "the deadline passed after %d of %d embeddings"
                .formatted(batch.done(), batch.prompts()));
  }

  private void plan() {
    parts.clear();
    segments.clear();
    int room = config.passTokens();
    var begun = partial;
    if (begun != null && begun.batch.isEnded()) {
      drop(begun);
    } else if (begun != null) {
      room -= add(begun, room);
    }
    while (room > 0 && !turn.isEmpty()) {
      var batch = turn.getFirst();
      int blocks = BlockTable.blocksFor(batch.nextTokens(), config.blockTokens());
      if (blocks > freeBlocks) {
        return; // its turn comes when the prompts of this pass have left theirs
      }
      turn.removeFirst();
      var prompt = new EmbeddingPrompt(batch, batch.begin(), take(blocks), config.pooling(), width);
      room -= add(prompt, room);
      if (!batch.isAllBegun()) {
        turn.addLast(batch);
      }
    }
  }

  /** Adds as much of a prompt as there is room for; returns the number of tokens. */
  private int add(EmbeddingPrompt prompt, int room) {
    int count = Math.min(room, prompt.pending());
    parts.add(prompt);
    segments.add(prompt.segment(count));
    partial = count < prompt.pending() ? prompt : null;
    return count;
  }

  private int[] take(int count) {
    var taken = new int[count];
    for (int i = 0; i < count; i++) {
      taken[i] = free[--freeBlocks];
    }
    return taken;
  }

  private void release(EmbeddingPrompt prompt) {
    for (int block : prompt.blocks) {
      free[freeBlocks++] = block;
    }
  }

  private void compute() {
    var outcome = new Outcome();
    try {
      pass.runStates(segments, config.pooling() == Pooling.MEAN, outcome);
    } catch (RuntimeException | OutOfMemoryError failure) { // ends these requests, not the rank
      outcome.broken =
          new WorkerLostException(
              ErrorCode.BACKEND_STREAM_INCOMPLETE,
              "the engine failed in a pass: " + failure,
              failure);
      LOG.log(Level.ERROR, "a pass of embeddings failed", FailureShape.of(failure));
    }
    for (int i = 0; i < parts.size(); i++) {
      advance(parts.get(i), segments.get(i).count(), outcome);
    }
  }

  /** Collects the states of a pass. */
  private final class Outcome implements LlamaForwardPass.StateSink {
    private @Nullable DynamoException broken; // set when the pass as a whole failed

    @Override
    public void state(int segment, int position, float[] states, int at) {
      parts.get(segment).add(states, at);
    }

    @Override
    public void poisoned(int segment) {
      LOG.log(Level.ERROR, "an embedding is not finite; the weights are broken");
      fail(
          parts.get(segment).batch,
          new WorkerLostException(
              ErrorCode.BACKEND_STREAM_INCOMPLETE,
              "the model computed numbers that are not finite"));
    }
  }

  private void advance(EmbeddingPrompt prompt, int count, Outcome outcome) {
    var batch = prompt.batch;
    if (outcome.broken != null) {
      fail(batch, outcome.broken);
    }
    boolean whole = prompt.advance(count);
    if (batch.isEnded()) {
      drop(prompt);
    } else if (whole) {
      release(prompt);
      var vector = Vectors.finished(prompt.pooled(), batch.dimensions, config.unitLength());
      if (batch.set(prompt.place(), vector)) {
        leave(batch);
        batch.complete();
      }
    }
  }

  /** Frees what a prompt of a batch that has ended still holds. */
  private void drop(EmbeddingPrompt prompt) {
    release(prompt);
    if (prompt.equals(partial)) {
      partial = null;
    }
  }

  private void fail(EmbeddingBatch batch, DynamoException cause) {
    if (!batch.isEnded()) {
      leave(batch);
      batch.stream.fail(cause);
    }
  }

  /** Frees the place of a batch, before its stream ends. */
  private void leave(EmbeddingBatch batch) {
    batch.end();
    live.remove(batch);
    turn.remove(batch);
    arrivals.free();
  }

  private long untilDeadline(long now) {
    long wait = IDLE;
    for (var batch : live) {
      wait = Math.min(wait, Math.max(0, batch.deadlineNanos - now));
    }
    return wait;
  }

  @Override
  public void end() {
    arrivals.end();
    for (var batch : List.copyOf(live)) {
      fail(batch, TokenStream.shutDown());
    }
    store.close();
  }

  /** Ends every request and frees the blocks. Idempotent. */
  void close() {
    var by = driven;
    if (by != null) {
      by.close();
    } else if (!arrivals.isEnded()) {
      end();
    }
  }
}

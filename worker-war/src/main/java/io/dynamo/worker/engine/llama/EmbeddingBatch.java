package io.dynamo.worker.engine.llama;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.RankQueue;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The prompts of one request for embeddings, and the vectors so far. Used by the rank's thread,
 * save {@link #follow}, {@link #refuse} and the stream.
 */
final class EmbeddingBatch implements RankQueue.Entry {
  final ItemStream<EmbeddingOutput> stream;
  final @Nullable Integer dimensions;
  final long deadlineNanos;
  private final List<int[]> prompts;
  private final Cancellation cancellation;
  private final Runnable wake;
  private final float[] @Nullable [] vectors; // by prompt, null until it is computed
  private int begun; // prompts whose computation has begun
  private int done;
  private boolean ended;
  private volatile boolean givenUp;
  private Cancellation.@Nullable Registration registration;

  /**
   * @param prompts of the request, none of them empty
   * @param wake makes the rank's thread tick soon
   */
  EmbeddingBatch(
      EmbeddingRequest request, List<int[]> prompts, RequestContext context, Runnable wake) {
    this.prompts = prompts;
    this.dimensions = request.dimensions();
    this.deadlineNanos = context.deadline().nanoTime();
    this.cancellation = context.cancellation();
    this.wake = wake;
    this.vectors = new float[prompts.size()][];
    this.stream = new ItemStream<>(2, () -> {}, this::giveUp);
  }

  /** Subscribes to the requester's cancellation; called before the rank sees this batch. */
  void follow() {
    registration = cancellation.onCancel(_ -> giveUp());
  }

  /** Ends the subscription; also called on any thread for a batch that no rank has taken. */
  void unfollow() {
    if (registration != null) {
      registration.close();
    }
  }

  private void giveUp() {
    givenUp = true;
    wake.run();
  }

  boolean isGivenUp() {
    return givenUp;
  }

  int prompts() {
    return prompts.size();
  }

  int done() {
    return done;
  }

  /** Whether no prompt is left to begin. */
  boolean isAllBegun() {
    return begun == prompts.size();
  }

  /** Returns the number of tokens of the prompt that begins next. */
  int nextTokens() {
    return prompts.get(begun).length;
  }

  /** Begins the next prompt; returns its place. */
  int begin() {
    return begun++;
  }

  int[] tokens(int place) {
    return prompts.get(place);
  }

  /** Records that the rank is done with this batch. */
  void end() {
    ended = true;
    unfollow();
  }

  boolean isEnded() {
    return ended;
  }

  /** Sets a prompt's vector; returns whether it was the last that was missing. */
  boolean set(int place, float[] vector) {
    vectors[place] = vector;
    done++;
    return done == prompts.size();
  }

  /** Ends the stream with the vectors of all prompts. */
  void complete() {
    int tokens = prompts.stream().mapToInt(prompt -> prompt.length).sum();
    stream.offer(
        new EmbeddingOutput(Arrays.stream(vectors).map(Objects::requireNonNull).toList(), tokens));
    stream.complete();
  }

  @Override
  public void refuse(RuntimeException why) {
    unfollow();
    stream.fail(why);
  }
}

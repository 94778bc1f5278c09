package io.dynamo.worker.engine.llama;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import io.dynamo.inference.Usage;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.RankQueue;
import io.dynamo.worker.engine.TokenStream;
import io.dynamo.worker.engine.llama.sample.Sampler;
import io.dynamo.worker.engine.sampling.EndTokens;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One sequence being generated. Advanced by the rank's thread only; {@link #giveUp} may be called
 * by any thread.
 *
 * <p>Invariant: {@code computed < length} while it runs: the newest token's keys and values are not
 * computed before the pass that makes the next one.
 */
final class LlamaGeneration implements RankQueue.Entry {
  final TokenStream stream;
  final Cancellation cancellation; // of its request, which it can be found by
  final BlockTable table;
  final EndTokens ends;
  final AdaptedModel by;
  final int promptTokens;
  final int budget;
  final long deadlineNanos;
  private final Sampler sampler;
  private final Runnable wake;
  private int[] tokens; // the prompt, then the generated tokens
  private int length;
  private int computed; // tokens whose keys and values are in the blocks
  private int cachedTokens; // prompt tokens found cached at first admission
  private boolean admitted;
  private boolean settled;
  private volatile boolean givenUp;
  private Cancellation.@Nullable Registration registration;

  /**
   * @param by the weights to compute with
   * @param wake makes the rank's thread tick soon
   */
  LlamaGeneration(
      int[] prompt,
      int budget,
      EndTokens ends,
      AdaptedModel by,
      RequestContext context,
      Sampler sampler,
      BlockTable table,
      int streamBuffer,
      Runnable wake) {
    this.promptTokens = prompt.length;
    this.budget = budget;
    this.ends = ends;
    this.by = by;
    this.deadlineNanos = context.deadline().nanoTime();
    this.cancellation = context.cancellation();
    this.sampler = sampler;
    this.table = table;
    this.wake = wake;
    this.length = promptTokens;
    this.tokens = Arrays.copyOf(prompt, promptTokens + Math.min(budget, 64));
    this.stream = new TokenStream(streamBuffer, wake, this::giveUp);
  }

  /** Subscribes to the requester's cancellation; called before the rank sees this generation. */
  void follow() {
    registration = cancellation.onCancel(_ -> giveUp());
  }

  private void giveUp() {
    givenUp = true;
    wake.run();
  }

  boolean isGivenUp() {
    return givenUp;
  }

  int[] tokens() {
    return tokens;
  }

  /** Returns a copy of the prompt and the tokens generated so far. */
  int[] tokensSoFar() {
    return Arrays.copyOf(tokens, length);
  }

  int length() {
    return length;
  }

  int computed() {
    return computed;
  }

  /**
   * Returns the number of tokens still to be computed before the next one can be drawn; at least 1.
   */
  int pending() {
    return length - computed;
  }

  int generated() {
    return length - promptTokens;
  }

  int cachedTokens() {
    return cachedTokens;
  }

  /**
   * Takes blocks for all tokens so far, reusing cached ones.
   *
   * @return whether the pool had enough; if not, nothing is held
   */
  boolean claim() {
    int found = table.reuse(tokens, length);
    if (!table.canCover(length) || !table.cover(length)) {
      table.release();
      return false;
    }
    computed = found;
    if (!admitted) {
      admitted = true;
      cachedTokens = Math.min(found, promptTokens);
    }
    return true;
  }

  boolean wasAdmitted() {
    return admitted;
  }

  /** Releases the blocks; all tokens have to be computed again, or found in the cache. */
  void preempt() {
    table.release();
    computed = 0;
  }

  /** Records that {@code count} more tokens were computed. */
  void advance(int count) {
    computed += count;
    table.computed(tokens, computed);
  }

  /** Draws the next token from the logits of the newest token. */
  int draw(float[] logits, int at) {
    return sampler.next(logits, at, length, generated() >= ends.leastTokens());
  }

  /**
   * Appends a token and offers it, unless it is the last.
   *
   * @return the last item, or null when more follow
   */
  @Nullable EngineOutput append(int token) {
    if (length == tokens.length) {
      tokens = Arrays.copyOf(tokens, Math.min(2 * length, promptTokens + budget));
    }
    boolean first = generated() == 0;
    boolean mayEnd = generated() >= ends.leastTokens();
    tokens[length++] = token;
    FinishReason finish = null;
    StopReason stop = null;
    if (mayEnd && ends.isEndOfText(token)) {
      finish = FinishReason.EOS;
    } else if (mayEnd && ends.isStop(token)) {
      finish = FinishReason.STOP;
      stop = new StopReason.Token(token);
    } else if (sampler.isComplete()) {
      finish = FinishReason.STOP;
    } else if (generated() == budget) {
      finish = FinishReason.LENGTH;
    }
    var usage = first || finish != null ? usage() : null;
    var item =
        new EngineOutput(
            new int[] {token},
            null,
            finish,
            null,
            0,
            usage,
            sampler.logprobs(),
            stop,
            PassedOn.NONE);
    if (finish != null) {
      return item;
    }
    stream.offer(item);
    return null;
  }

  Usage usage() {
    return new Usage(promptTokens, generated(), cachedTokens);
  }

  /**
   * Releases the blocks and unsubscribes from cancellation; the caller ends the stream.
   *
   * @return false when that was done before
   */
  boolean free() {
    if (settled) {
      return false;
    }
    settled = true;
    table.release();
    unfollow();
    return true;
  }

  @Override
  public void refuse(RuntimeException why) {
    unfollow();
    stream.fail(why);
  }

  /**
   * Unsubscribes from cancellation; also called on any thread for a generation that never held
   * blocks.
   */
  void unfollow() {
    if (registration != null) {
      registration.close();
    }
  }
}

package io.dynamo.worker.engine.remote;

import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs.Top;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One message of a server's answer. Arrays are owned by the record and never changed.
 *
 * @param tokens the new tokens only, whether the server sends those alone or all so far
 * @param logprobs one for each new token; null when the server does not report them
 * @param top the likeliest tokens at each new position, best first
 * @param finish why the answer ends, null while it goes on
 * @param stop the client's stop that was matched
 * @param cached prompt tokens found in the server's cache, null when the message does not report it
 * @param last whether no message follows
 * @param passedOn the engine's own fields for the item
 */
public record Chunk(
    int[] tokens,
    double @Nullable [] logprobs,
    List<List<Top>> top,
    @Nullable FinishReason finish,
    @Nullable StopReason stop,
    @Nullable Integer cached,
    boolean last,
    PassedOn passedOn) {
  private static final int[] NONE = {};

  /** The message that ends every answer. */
  public static final Chunk END =
      new Chunk(NONE, null, List.of(), null, null, null, true, PassedOn.NONE);

  public Chunk {
    top = top.isEmpty() ? List.of() : top.stream().map(List::copyOf).toList();
    if (logprobs != null && logprobs.length != tokens.length) {
      throw new IllegalArgumentException(
          "%d tokens come with %d log probabilities".formatted(tokens.length, logprobs.length));
    }
  }
}

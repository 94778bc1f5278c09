package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The place of a request in a stored conversation.
 *
 * @param earlier the items of all turns before, the oldest first
 * @param known whether a previous response or a conversation was looked for and found
 * @param recorder keeps the answer; null when it is not kept
 * @param heldBytes memory that it takes until the answer is kept
 */
public record Continuation(
    List<JsonNode> earlier, boolean known, @Nullable AnswerRecorder recorder, long heldBytes) {
  /** The value for a request that continues no conversation and is not stored. */
  public static final Continuation NONE = new Continuation(List.of(), false, null, 0);

  public Continuation {
    earlier = List.copyOf(earlier);
  }
}

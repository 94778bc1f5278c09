package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.StopReason;
import io.dynamo.inference.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes an answer of one message as a row of typed blocks (text, thoughts, tool calls), in the
 * order in which the model made them. For one request and one thread: a stream is either begun, fed
 * with pieces and ended or failed, or the answer is written whole.
 */
public non-sealed interface BlockFormat extends AnswerFormat {
  /**
   * The end of a message.
   *
   * @param finish null when the worker gave no reason
   * @param stop the client's stop that ended the text, null for none
   * @param called whether the message has a tool call
   */
  record Ending(
      @Nullable FinishReason finish, @Nullable StopReason stop, boolean called, Usage usage) {}

  /** Appends the events that come before the first piece. */
  void begin(ByteText frames, int promptTokens);

  /** Appends the events of a part of the message. */
  void piece(ByteText frames, Piece piece);

  /** Appends the events that close the message, and the stream's last. */
  void end(ByteText frames, Ending ending);

  /** Appends the events that end a broken stream. */
  void failure(ByteText frames, ApiError error);

  /** A whole answer, as UTF-8 JSON. */
  byte[] whole(List<MessageBlock> blocks, Ending ending);

  /** Whether a stream keeps all of its text until the end, which counts as gathered memory. */
  default boolean keepsText() {
    return false;
  }
}

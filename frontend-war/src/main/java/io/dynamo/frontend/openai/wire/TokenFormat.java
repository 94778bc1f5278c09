package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import io.dynamo.inference.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes an answer of the tokens or texts of choices, as the native APIs of engines and KServe have
 * them. For one request and one thread.
 */
public non-sealed interface TokenFormat extends AnswerFormat {
  /**
   * The tokens that one item of a worker adds to one choice, or all of a choice.
   *
   * @param ids token ids separated by commas
   * @param finish null while the choice goes on
   * @param stop the client's stop that ended the text, null for none
   * @param logprobs of these tokens, null when none were asked for
   * @param engine the engine's own fields
   */
  record Part(
      int choice,
      ByteText ids,
      String text,
      @Nullable FinishReason finish,
      @Nullable StopReason stop,
      @Nullable LogprobsText logprobs,
      PassedOn engine) {}

  /** Appends the frame of a part. */
  void part(ByteText frames, Part part, Usage usage);

  /**
   * Appends the frames that end a stream.
   *
   * @param usage null when the client did not ask for it
   */
  void end(ByteText frames, @Nullable Usage usage);

  /** Appends the frames that end a broken stream. */
  void failure(ByteText frames, ApiError error);

  /** Appends what a stream has while there is silence. */
  default void silence(ByteText frames) {
    frames.ascii(": \n\n");
  }

  /** A whole answer: the bytes of its body. */
  byte[] whole(List<Part> choices, Usage usage);

  /** New storage for the log probabilities of one choice. */
  LogprobsText logprobs(LogprobsText.Tokens tokens, int alternatives, int textOffset);
}

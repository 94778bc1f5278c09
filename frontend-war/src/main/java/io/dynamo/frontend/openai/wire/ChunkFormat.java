package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes an answer of numbered choices, as chat and completions have them, with Dynamo's order of
 * keys. Safe for concurrent use.
 */
public non-sealed interface ChunkFormat extends AnswerFormat {
  /**
   * A choice of a unary answer.
   *
   * @param opening the text before the generated text; the choices of a prompt share it
   * @param finish null only when no text was asked for
   * @param logprobs null when none were asked for
   * @param message the message taken apart, null when the text is the message
   */
  record CompletedChoice(
      int index,
      String opening,
      String text,
      @Nullable FinishReason finish,
      @Nullable LogprobsText logprobs,
      @Nullable MessageDelta message) {
    /** Without an opening. */
    public CompletedChoice(
        int index,
        String text,
        @Nullable FinishReason finish,
        @Nullable LogprobsText logprobs,
        @Nullable MessageDelta message) {
      this(index, "", text, finish, logprobs, message);
    }

    /** The opening and the text, joined anew at each call. */
    String fullText() {
      return opening.isEmpty() ? text : opening + text;
    }
  }

  /**
   * Appends a chunk of one choice.
   *
   * @param text may be empty
   * @param first whether it is the choice's first
   * @param logprobs of the tokens of this chunk, null for none
   * @param running the usage so far, when it is requested on every chunk
   * @param nvext the extension's JSON object, null for none
   */
  void chunk(
      ByteText frames,
      int choice,
      String text,
      boolean first,
      @Nullable FinishReason finish,
      @Nullable LogprobsText logprobs,
      @Nullable Usage running,
      @Nullable ByteText nvext);

  /**
   * Appends a chunk of one choice whose message was taken apart; an API without messages writes its
   * content.
   */
  void chunk(
      ByteText frames,
      int choice,
      MessageDelta delta,
      boolean first,
      @Nullable FinishReason finish,
      @Nullable LogprobsText logprobs,
      @Nullable Usage running,
      @Nullable ByteText nvext);

  /** Appends the chunk without choices that carries the usage. */
  void usage(ByteText frames, Usage usage);

  /**
   * A whole answer.
   *
   * @param choices by index
   * @param usage null when no text was asked for
   */
  byte[] unary(List<CompletedChoice> choices, @Nullable Usage usage, @Nullable ByteText nvext);

  /** New storage for the log probabilities of one choice. */
  LogprobsText logprobs(LogprobsText.Tokens tokens, int alternatives, int textOffset);

  /** Appends the terminator of every stream. */
  static void done(ByteText frames) {
    frames.ascii("data: [DONE]\n\n");
  }

  /** Appends the counts as an object. */
  static void appendUsage(Usage usage, ByteText json) {
    json.ascii("{\"prompt_tokens\":").number(usage.promptTokens());
    json.ascii(",\"completion_tokens\":").number(usage.completionTokens());
    json.ascii(",\"total_tokens\":").number(usage.totalTokens());
    var cached = usage.cachedTokens();
    if (cached != null) {
      json.ascii(",\"prompt_tokens_details\":{\"cached_tokens\":").number(cached).ascii("}");
    }
    var reasoning = usage.reasoningTokens();
    if (reasoning != null) {
      json.ascii(",\"completion_tokens_details\":{\"reasoning_tokens\":").number(reasoning);
      json.ascii("}");
    }
    json.ascii("}");
  }

  /** The name of a finish reason in the API; a cancellation by the worker counts as a stop. */
  static String wireName(FinishReason finish) {
    return switch (finish) {
      case EOS, STOP, CANCELLED, ERROR -> "stop";
      case LENGTH -> "length";
      case CONTENT_FILTER -> "content_filter";
    };
  }
}

package io.dynamo.frontend.postprocess;

import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;
import io.dynamo.frontend.postprocess.message.NonEmptyContent;
import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.frontend.postprocess.message.PieceList;
import io.dynamo.frontend.postprocess.message.ReasoningParser;
import io.dynamo.frontend.postprocess.tools.CallPolicy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Splits one choice's text into content, reasoning and calls while it is generated. For one thread.
 */
public final class MessageAssembler {
  private final MessageParser parser;
  private final @Nullable ReasoningParser thinking;
  private final PieceList pieces;
  private final @Nullable NonEmptyContent nonEmpty;
  private final CallPolicy policy;
  private final MessageSink sink;
  private int reasoningTokens;

  /**
   * @param thinking the part of {@code parser} that finds thoughts, null for none @param pieces
   *     collects the pieces that {@code policy} lets through
   */
  MessageAssembler(
      MessageParser parser,
      @Nullable ReasoningParser thinking,
      PieceList pieces,
      @Nullable NonEmptyContent nonEmpty,
      CallPolicy policy) {
    this.parser = parser;
    this.thinking = thinking;
    this.pieces = pieces;
    this.nonEmpty = nonEmpty;
    this.policy = policy;
    this.sink = policy;
  }

  /**
   * Returns the pieces that {@code text} completes, in the order of the message.
   *
   * @param tokens the number of tokens of the text
   * @param last whether the text is complete; then all that was held back is added
   */
  public List<Piece> accept(String text, int tokens, boolean last) {
    boolean thought = thinking != null && thinking.isThinking();
    if (!text.isEmpty()) {
      parser.accept(text, sink);
    }
    if (last) {
      parser.finish(sink);
      policy.finish();
      if (nonEmpty != null) {
        nonEmpty.finish();
      }
    }
    var added = pieces.take();
    if (added.isEmpty() ? thought : thoughtIn(added)) {
      reasoningTokens += tokens;
    }
    return added;
  }

  /** Whether the message has a call so far. */
  public boolean hasCalls() {
    return pieces.calls() > 0;
  }

  /** The number of tokens of thoughts; null when the message is not parsed for them. */
  public @Nullable Integer reasoningTokens() {
    return thinking == null ? null : reasoningTokens;
  }

  private static boolean thoughtIn(List<Piece> pieces) {
    for (var piece : pieces) {
      if (piece instanceof Piece.Reasoning) {
        return true;
      }
    }
    return false;
  }
}

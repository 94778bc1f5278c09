package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.postprocess.message.Piece;
import java.util.ArrayList;
import java.util.List;

/**
 * The part of a message that one chunk, or a whole answer, carries: content, thoughts and tool
 * calls.
 *
 * @param calls starts of calls and fragments of their arguments
 * @param called whether the message has a call so far
 */
public record MessageDelta(String content, String reasoning, List<Piece> calls, boolean called) {
  /** A delta that adds nothing. */
  public static MessageDelta empty(boolean called) {
    return new MessageDelta("", "", List.of(), called);
  }

  /**
   * Cuts pieces so that each part can be one chunk without a change of order: thoughts, then
   * content, then calls.
   *
   * @return at least one part
   */
  public static List<MessageDelta> split(List<Piece> pieces, boolean called) {
    var chunks = new ArrayList<MessageDelta>();
    var builder = new Builder();
    for (var piece : pieces) {
      if (builder.isBehind(piece)) {
        chunks.add(builder.build(called));
        builder = new Builder();
      }
      builder.add(piece);
    }
    chunks.add(builder.build(called));
    return chunks;
  }

  /** Collects pieces into one delta. For one thread. */
  public static final class Builder {
    private final StringBuilder content = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final List<Piece> calls = new ArrayList<>(2);

    /** Adds a piece; its order relative to pieces of other kinds is lost. */
    public void add(Piece piece) {
      switch (piece) {
        case Piece.Content it -> content.append(it.text());
        case Piece.Reasoning it -> reasoning.append(it.text());
        case Piece.CallStarted it -> calls.add(it);
        case Piece.CallArguments it -> calls.add(it);
        case Piece.CallEnded _ -> {}
      }
    }

    /** Whether this already has something that comes after {@code piece} in a chunk. */
    private boolean isBehind(Piece piece) {
      return switch (piece) {
        case Piece.Reasoning _ -> !content.isEmpty() || !calls.isEmpty();
        case Piece.Content _ -> !calls.isEmpty();
        case Piece.CallStarted _, Piece.CallArguments _, Piece.CallEnded _ -> false;
      };
    }

    /** Returns the pieces so far as a delta. */
    public MessageDelta build(boolean called) {
      return new MessageDelta(content.toString(), reasoning.toString(), List.copyOf(calls), called);
    }
  }
}

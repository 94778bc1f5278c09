package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.postprocess.message.Piece;
import java.util.ArrayList;
import java.util.List;

/**
 * What one chunk, or a whole answer, says of a message that was taken apart.
 *
 * @param calls beginnings of calls and parts of their arguments
 * @param called whether the message has a call so far
 */
public record Said(String content, String reasoning, List<Piece> calls, boolean called) {
  /** Nothing. */
  public static Said nothing(boolean called) {
    return new Said("", "", List.of(), called);
  }

  /**
   * Cuts pieces so that each part can be one chunk without a change of order: thoughts, then
   * content, then calls.
   *
   * @return at least one part
   */
  public static List<Said> chunks(List<Piece> pieces, boolean called) {
    var chunks = new ArrayList<Said>();
    var part = new Part();
    for (var piece : pieces) {
      if (part.isBehind(piece)) {
        chunks.add(part.said(called));
        part = new Part();
      }
      part.add(piece);
    }
    chunks.add(part.said(called));
    return chunks;
  }

  /** A part as it grows. For one thread. */
  public static final class Part {
    private final StringBuilder content = new StringBuilder();
    private final StringBuilder reasoning = new StringBuilder();
    private final List<Piece> calls = new ArrayList<>(2);

    /** Adds a piece, whatever came before it. */
    public void add(Piece piece) {
      switch (piece) {
        case Piece.Content it -> content.append(it.text());
        case Piece.Reasoning it -> reasoning.append(it.text());
        case Piece.CallStarted it -> calls.add(it);
        case Piece.CallArguments it -> calls.add(it);
        case Piece.CallEnded _ -> {}
      }
    }

    /** Whether the part already has something that comes after {@code piece} in a chunk. */
    private boolean isBehind(Piece piece) {
      return switch (piece) {
        case Piece.Reasoning _ -> !content.isEmpty() || !calls.isEmpty();
        case Piece.Content _ -> !calls.isEmpty();
        case Piece.CallStarted _, Piece.CallArguments _, Piece.CallEnded _ -> false;
      };
    }

    /** The part as it is now. */
    public Said said(boolean called) {
      return new Said(content.toString(), reasoning.toString(), List.copyOf(calls), called);
    }
  }
}

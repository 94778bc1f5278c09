package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.frontend.sse.ByteText;
import java.util.List;

/** Writes the calls of a message. */
final class ToolCallsText {
  private ToolCallsText() {}

  /**
   * Appends {@code "tool_calls":[…]} with one entry for each call of {@code pieces}.
   *
   * @param pieces beginnings of calls and parts of arguments; the parts of a call follow each other
   * @param indexed whether each entry says which call it belongs to, as in a stream
   */
  static void append(List<Piece> pieces, boolean indexed, ByteText json) {
    json.ascii("\"tool_calls\":[");
    for (int at = 0; at < pieces.size(); ) {
      json.ascii(at == 0 ? "{" : ",{");
      if (indexed) {
        json.ascii("\"index\":").number(index(pieces.get(at))).ascii(",");
      }
      int end = at + 1;
      while (end < pieces.size() && pieces.get(end) instanceof Piece.CallArguments) {
        end++;
      }
      if (pieces.get(at) instanceof Piece.CallStarted(var _, var id, var name)) {
        json.ascii("\"id\":").quoted(id).ascii(",\"type\":\"function\",\"function\":{\"name\":");
        json.quoted(name).ascii(",\"arguments\":").quoted(arguments(pieces.subList(at + 1, end)));
      } else {
        json.ascii("\"function\":{\"arguments\":").quoted(arguments(pieces.subList(at, end)));
      }
      json.ascii("}}");
      at = end;
    }
    json.ascii("]");
  }

  private static int index(Piece piece) {
    return switch (piece) {
      case Piece.CallStarted it -> it.index();
      case Piece.CallArguments it -> it.index();
      case Piece.CallEnded it -> it.index();
      case Piece.Content _, Piece.Reasoning _ ->
          throw new IllegalArgumentException("no part of a call");
    };
  }

  private static String arguments(List<Piece> pieces) {
    var all = new StringBuilder();
    for (var piece : pieces) {
      if (piece instanceof Piece.CallArguments(var _, var json)) {
        all.append(json);
      }
    }
    return all.toString();
  }
}

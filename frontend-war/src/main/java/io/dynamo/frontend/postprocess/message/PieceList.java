package io.dynamo.frontend.postprocess.message;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Collects pieces, numbers the calls and names those that have no id. For one thread. */
public final class PieceList implements MessageSink {
  private final Supplier<String> ids;
  private List<Piece> pieces = new ArrayList<>(2);
  private int calls;

  /**
   * @param ids a new id for each call
   */
  public PieceList(Supplier<String> ids) {
    this.ids = ids;
  }

  /** Returns and removes the pieces since the last call. */
  public List<Piece> take() {
    if (pieces.isEmpty()) {
      return List.of();
    }
    var taken = pieces;
    pieces = new ArrayList<>(2);
    return taken;
  }

  /** The number of calls so far. */
  public int calls() {
    return calls;
  }

  @Override
  public void content(String text) {
    pieces.add(new Piece.Content(text));
  }

  @Override
  public void reasoning(String text) {
    pieces.add(new Piece.Reasoning(text));
  }

  @Override
  public void callStarted(String name, @Nullable String id) {
    pieces.add(new Piece.CallStarted(calls++, id == null ? ids.get() : id, name));
  }

  @Override
  public void callArguments(String json) {
    pieces.add(new Piece.CallArguments(calls - 1, json));
  }

  @Override
  public void callEnded() {
    pieces.add(new Piece.CallEnded(calls - 1));
  }
}

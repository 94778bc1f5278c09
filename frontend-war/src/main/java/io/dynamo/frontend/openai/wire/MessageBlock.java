package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.postprocess.message.Piece;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A whole block of a message. */
public sealed interface MessageBlock {
  /** Text for the user. */
  record Text(String text) implements MessageBlock {}

  /** Text of the model's thoughts. */
  record Thoughts(String text) implements MessageBlock {}

  /**
   * A tool call.
   *
   * @param arguments as the model wrote them, JSON when the model made no mistake
   */
  record Call(String id, String name, String arguments) implements MessageBlock {}

  /** Joins pieces of the same kind that follow each other to blocks. For one thread. */
  final class Folder {
    private final List<MessageBlock> blocks = new ArrayList<>(2);
    private final StringBuilder text = new StringBuilder();
    private @Nullable Piece open; // the first piece of the block that grows

    /** Adds a piece. */
    public void add(Piece piece) {
      switch (piece) {
        case Piece.Content it -> append(piece, it.text());
        case Piece.Reasoning it -> append(piece, it.text());
        case Piece.CallStarted _ -> {
          close();
          open = piece;
        }
        case Piece.CallArguments it -> text.append(it.json());
        case Piece.CallEnded _ -> close();
      }
    }

    private void append(Piece piece, String more) {
      if (open == null || open.getClass() != piece.getClass()) {
        close();
        open = piece;
      }
      text.append(more);
    }

    private void close() {
      switch (open) {
        case null -> {}
        case Piece.Content _ -> blocks.add(new Text(text.toString()));
        case Piece.Reasoning _ -> blocks.add(new Thoughts(text.toString()));
        case Piece.CallStarted call ->
            blocks.add(new Call(call.id(), call.name(), text.toString()));
        case Piece.CallArguments _, Piece.CallEnded _ -> throw new IllegalStateException();
      }
      open = null;
      text.setLength(0);
    }

    /** The blocks so far; the last one is closed. */
    public List<MessageBlock> blocks() {
      close();
      return List.copyOf(blocks);
    }
  }
}

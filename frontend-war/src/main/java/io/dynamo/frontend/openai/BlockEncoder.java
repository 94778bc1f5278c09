package io.dynamo.frontend.openai;

import io.dynamo.error.DynamoException;
import io.dynamo.frontend.openai.wire.BlockFormat;
import io.dynamo.frontend.openai.wire.MessageBlock;
import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.frontend.sse.FrameEncoder;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.StopReason;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Turns the items of a request's one text into the blocks of a message. For one thread. */
final class BlockEncoder implements FrameEncoder<ChoiceDelta> {
  private final BlockFormat format;
  private final Choices choices;
  private final GatheredAnswer gathered;
  private boolean begun;
  private @Nullable FinishReason finish;
  private @Nullable StopReason stop;
  private boolean called;
  private boolean afterCall; // the last piece was of a call
  private String blank = ""; // held back since

  /**
   * @param choices the one text; asked for the usage
   * @param gathered charged with text that is kept
   */
  BlockEncoder(BlockFormat format, Choices choices, GatheredAnswer gathered) {
    this.format = format;
    this.choices = choices;
    this.gathered = gathered;
  }

  /** Gathers the whole answer, in the place of a stream's events. */
  WholeAnswer whole() {
    var blocks = new MessageBlock.Folder();
    return new WholeAnswer() {
      @Override
      public void add(ChoiceDelta delta) {
        BlockEncoder.this.add(delta, blocks::add);
      }

      @Override
      public byte[] write() {
        return format.whole(blocks.blocks(), ending());
      }
    };
  }

  private void add(ChoiceDelta delta, Consumer<Piece> to) {
    var pieces = delta.pieces();
    if (pieces != null) {
      for (var piece : pieces) {
        add(piece, to);
      }
    } else if (!delta.text().isEmpty()) {
      to.accept(new Piece.Content(delta.text()));
    }
    if (delta.finish() != null) {
      finish = delta.finish();
      stop = delta.stop();
    }
    called |= delta.called();
  }

  /** Passes a piece on; whitespace that only separates calls is no block of its own. */
  private void add(Piece piece, Consumer<Piece> to) {
    switch (piece) {
      case Piece.Content(var text) -> {
        if (afterCall && text.isBlank()) {
          blank += text;
          return;
        }
        to.accept(blank.isEmpty() ? piece : new Piece.Content(blank + text));
        afterCall = false;
      }
      case Piece.Reasoning _ -> {
        to.accept(piece);
        afterCall = false;
      }
      case Piece.CallStarted _, Piece.CallArguments _, Piece.CallEnded _ -> {
        to.accept(piece);
        afterCall = true;
      }
    }
    blank = "";
  }

  private BlockFormat.Ending ending() {
    return new BlockFormat.Ending(finish, stop, called, choices.usage());
  }

  @Override
  public void item(ChoiceDelta delta, ByteText frames) {
    begin(frames);
    var item = delta.item();
    if (item != null && item.annotation() != null) {
      return; // these APIs have no such events
    }
    if (format.keepsText()) {
      gathered.charge(delta);
    }
    add(delta, piece -> format.piece(frames, piece));
  }

  @Override
  public void end(ByteText frames) {
    begin(frames);
    format.end(frames, ending());
  }

  @Override
  public void failure(DynamoException cause, ByteText frames) {
    begin(frames);
    format.failure(frames, choices.errorFor(cause));
  }

  private void begin(ByteText frames) {
    if (!begun) {
      begun = true;
      format.begin(frames, choices.usage().promptTokens());
    }
  }
}

package io.dynamo.transfer.tcp;

import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.tcp.RegionFrame.Kind;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Asks for the bytes of a peer's region in pieces, a bounded number at a time, places them in a
 * region of its own, and ends the transfer when the last one is in place undamaged. Used by one
 * event loop.
 */
final class RegionReader extends RegionCaller {
  private long asked; // bytes, and so the offset of the next question in the range
  private long arrived; // bytes, and so the offset of the next answer
  private long nextTicket = 1;
  private long answered; // the ticket of the last piece that has arrived

  RegionReader(Order order, Transfer transfer) {
    super(order, transfer);
  }

  private int pieceAt(long offset) {
    return (int) Math.min(PIECE_BYTES, order.byteSize() - offset);
  }

  /** Answers come in the order of their questions. */
  @Override
  boolean isExpected(RegionFrame frame) {
    return frame.kind() == Kind.DATA
        && answered + 1 < nextTicket
        && frame.ticket() == answered + 1
        && frame.offset() == order.range().sourceOffset() + arrived
        && frame.length() == pieceAt(arrived);
  }

  @Override
  void take(RegionFrame frame, ByteBuffer bytes, int done) {
    order.own().write(order.range().targetOffset() + arrived + done, bytes);
  }

  @Override
  void taken(RegionFrame frame) {
    answered = frame.ticket();
    arrived += frame.length();
    if (arrived == order.byteSize()) {
      finish();
    }
  }

  @Override
  @Nullable ByteBuf next() {
    if (asked == order.byteSize() || nextTicket - answered > MOST_UNANSWERED) {
      return null;
    }
    int length = pieceAt(asked);
    var question =
        RegionFrame.message(
            channel().alloc(),
            new RegionFrame.Label(
                Kind.READ, nextTicket, order.peer().lease(), order.range().sourceOffset() + asked),
            Long.BYTES,
            room -> RegionFrame.putCount(room, length));
    nextTicket++;
    asked += length;
    return question;
  }
}

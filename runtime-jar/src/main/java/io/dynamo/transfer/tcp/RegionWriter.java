package io.dynamo.transfer.tcp;

import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.tcp.RegionFrame.Kind;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the bytes of a region in pieces, as many at a time as the socket takes, and ends the
 * transfer when the last one is acknowledged. Used by one event loop.
 */
final class RegionWriter extends RegionCaller {
  private long sent; // bytes, and so the offset of the next piece in the range
  private long nextTicket = 1;
  private long acknowledged; // the ticket of the last piece that is in place

  RegionWriter(Order order, Transfer transfer) {
    super(order, transfer);
  }

  @Override
  boolean isExpected(RegionFrame frame) {
    return frame.kind() == Kind.ACK
        && acknowledged + 1 < nextTicket
        && frame.ticket() == acknowledged + 1
        && frame.length() == 0;
  }

  @Override
  void take(RegionFrame frame, ByteBuffer bytes, int done) {} // acknowledgements are empty

  @Override
  void taken(RegionFrame frame) {
    acknowledged = frame.ticket();
    if (sent == order.byteSize() && acknowledged == nextTicket - 1) {
      finish();
    }
  }

  @Override
  @Nullable ByteBuf next() {
    if (sent == order.byteSize() || nextTicket - acknowledged > MOST_UNANSWERED) {
      return null;
    }
    int length = (int) Math.min(PIECE_BYTES, order.byteSize() - sent);
    long from = order.range().sourceOffset() + sent;
    var piece =
        RegionFrame.message(
            channel().alloc(),
            new RegionFrame.Label(
                Kind.WRITE, nextTicket, order.peer().lease(), order.range().targetOffset() + sent),
            length,
            room -> order.own().read(from, room));
    nextTicket++;
    sent += length;
    return piece;
  }
}

package io.dynamo.transfer.tcp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a connection's bytes into messages, and hands payloads on as they arrive. Used by one event
 * loop; holds one header at most.
 */
final class FrameReader {
  /** Receives the messages. */
  interface Sink {
    /**
     * Begins a message.
     *
     * @throws RegionProtocolException when it must not come now, or its payload must not be read
     */
    void begin(RegionFrame frame) throws RegionProtocolException;

    /**
     * Takes the next bytes of the payload.
     *
     * @param done how many came before
     */
    void payload(RegionFrame frame, ByteBuffer bytes, int done) throws RegionProtocolException;

    /** Ends a message whose payload is complete and undamaged. */
    void end(RegionFrame frame) throws RegionProtocolException;
  }

  private final Sink sink;
  private final ByteBuf header =
      Unpooled.buffer(RegionFrame.HEADER_BYTES, RegionFrame.HEADER_BYTES);
  private final CRC32C crc = new CRC32C();
  private @Nullable RegionFrame current;
  private int done; // bytes of the payload that came

  FrameReader(Sink sink) {
    this.sink = sink;
  }

  /** Reads all of {@code in}, whose owner releases it. */
  void read(ByteBuf in) throws RegionProtocolException {
    while (in.isReadable() || isComplete()) {
      var frame = current;
      if (frame == null) {
        in.readBytes(header, Math.min(header.writableBytes(), in.readableBytes()));
        if (header.isWritable()) {
          return;
        }
        frame = RegionFrame.read(header);
        header.clear();
        sink.begin(frame);
        current = frame;
        done = 0;
        crc.reset();
      } else if (done < frame.length()) {
        pass(frame, in);
      } else {
        current = null;
        if ((int) crc.getValue() != frame.payloadCrc()) {
          throw new RegionProtocolException("a payload is damaged");
        }
        sink.end(frame);
      }
    }
  }

  private boolean isComplete() {
    var frame = current;
    return frame != null && done == frame.length();
  }

  private void pass(RegionFrame frame, ByteBuf in) throws RegionProtocolException {
    int count = Math.min(frame.length() - done, in.readableBytes());
    for (var piece : in.nioBuffers(in.readerIndex(), count)) {
      crc.update(piece.duplicate());
      int length = piece.remaining();
      sink.payload(frame, piece, done);
      done += length;
    }
    in.skipBytes(count);
  }
}

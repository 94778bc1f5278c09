package io.dynamo.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/** Writes values of one type to MessagePack, all into the same memory. For one thread at a time. */
public final class MsgpackEncoder<R> implements ItemEncoder<R> {
  private final MsgpackWriter out = new MsgpackWriter(MsgpackWriter.ITEM_BYTES);
  private final WireWriter.Shape<R> shape;

  public MsgpackEncoder(WireWriter.Shape<R> shape) {
    this.shape = shape;
  }

  @Override
  public ByteBuffer encode(R item) {
    out.reset();
    try {
      shape.write(out, item);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // memory does no I/O
    }
    return out.written();
  }
}

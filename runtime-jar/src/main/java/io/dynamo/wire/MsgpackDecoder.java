package io.dynamo.wire;

import io.dynamo.net.PayloadFormat;
import java.nio.ByteBuffer;

/** Reads values of one type from MessagePack with one reader. For one thread at a time. */
public final class MsgpackDecoder<R> implements ItemDecoder<R> {
  private final MsgpackReader in = new MsgpackReader(ByteBuffer.allocate(0));
  private final WireReader.Shape<R> shape;

  public MsgpackDecoder(WireReader.Shape<R> shape) {
    this.shape = shape;
  }

  @Override
  public R decode(ByteBuffer body) {
    in.reset(body);
    return WireReader.read("item", body, PayloadFormat.MSGPACK, in, shape);
  }
}

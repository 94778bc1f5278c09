package io.dynamo.router.ingest;

import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.MessageCodec;
import java.nio.ByteBuffer;

/** Leaves items as bytes, so that the event loop which receives a large one does not decode it. */
record UndecodedItems<Q>(MessageCodec<Q, ?> codec) implements MessageCodec<Q, byte[]> {
  @Override
  public ItemForm itemForm() {
    return codec.itemForm();
  }

  @Override
  public byte[] encodeRequest(Q request, PayloadFormat format) {
    return codec.encodeRequest(request, format);
  }

  @Override
  public Q decodeRequest(ByteBuffer body, PayloadFormat format) {
    return codec.decodeRequest(body, format);
  }

  @Override
  public byte[] encodeItem(byte[] item, PayloadFormat format) {
    return item.clone();
  }

  @Override
  public byte[] decodeItem(ByteBuffer body, PayloadFormat format) {
    var item = new byte[body.remaining()];
    body.get(item);
    return item;
  }
}

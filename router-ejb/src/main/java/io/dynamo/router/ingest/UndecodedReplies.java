package io.dynamo.router.ingest;

import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.ItemForm;
import io.dynamo.request.MessageCodec;
import java.nio.ByteBuffer;

/** Leaves replies as bytes, so that the event loop which receives a dump does not decode it. */
record UndecodedReplies(MessageCodec<KvQuery, KvReply> codec)
    implements MessageCodec<KvQuery, byte[]> {
  @Override
  public ItemForm itemForm() {
    return codec.itemForm();
  }

  @Override
  public byte[] encodeRequest(KvQuery request, PayloadFormat format) {
    return codec.encodeRequest(request, format);
  }

  @Override
  public KvQuery decodeRequest(ByteBuffer body, PayloadFormat format) {
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

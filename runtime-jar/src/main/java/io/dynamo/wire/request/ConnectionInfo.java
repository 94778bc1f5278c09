package io.dynamo.wire.request;

import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The address to which a worker delivers the answer.
 *
 * @param address {@code ip:port}, an IPv6 address in brackets
 * @param subject the name of the stream
 * @param context the request's id
 * @param streamType {@code response} or {@code request}
 */
public record ConnectionInfo(String address, String subject, String context, String streamType) {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int ADDRESS = 0;
    static final int SUBJECT = 1;
    static final int CONTEXT = 2;
    static final int STREAM_TYPE = 3;
    static final Keys KEYS =
        new Keys(
            Keys.entry(ADDRESS, "address"),
            Keys.entry(SUBJECT, "subject"),
            Keys.entry(CONTEXT, "context"),
            Keys.entry(STREAM_TYPE, "stream_type"));
  }

  /** Returns the JSON text that travels as a string inside the control message. */
  String toJson() {
    return new String(
        WireWriter.write(
            this,
            PayloadFormat.JSON,
            (out, it) -> {
              out.beginMap(4);
              out.stringOrNil("address", it.address);
              out.stringOrNil("subject", it.subject);
              out.stringOrNil("context", it.context);
              out.stringOrNil("stream_type", it.streamType);
              out.endMap();
            }),
        StandardCharsets.UTF_8);
  }

  static ConnectionInfo ofJson(String json) {
    var bytes = ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
    return WireReader.read("connection info", bytes, PayloadFormat.JSON, ConnectionInfo::read);
  }

  private static ConnectionInfo read(WireReader in) throws IOException {
    String address = null;
    String subject = null;
    String context = null;
    String type = null;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      switch (key) {
        case Field.ADDRESS -> address = in.string();
        case Field.SUBJECT -> subject = in.string();
        case Field.CONTEXT -> context = in.string();
        case Field.STREAM_TYPE -> type = in.string();
        default -> in.skip();
      }
    }
    if (address == null || subject == null || context == null || type == null) {
      throw new IOException("one of address, subject, context and stream_type is missing");
    }
    return new ConnectionInfo(address, subject, context, type);
  }
}

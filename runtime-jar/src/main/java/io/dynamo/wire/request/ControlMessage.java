package io.dynamo.wire.request;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The head of a request: its id, the encoding of the body, and the address for the answer. Always
 * JSON.
 *
 * @param id of the request
 * @param requestType {@code single_in} or {@code many_in}
 * @param format of the body and of every item of the answer
 * @param metadata the caller's own pairs
 * @param input where the requester expects the call home for the items of a {@code many_in} request
 */
public record ControlMessage(
    String id,
    String requestType,
    PayloadFormat format,
    ConnectionInfo connection,
    Map<String, String> metadata,
    @Nullable ConnectionInfo input) {
  public static final String SINGLE_IN = "single_in";
  public static final String MANY_IN = "many_in";
  public static final int MAX_BYTES = 128 * 1024;

  private static final String TCP = "tcp_server";
  private static final String RESPONSE_TYPE = "response_type";

  static {
    Keys.expect(RESPONSE_TYPE); // skipped, and in every message
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int ID = 0;
    static final int REQUEST_TYPE = 1;
    static final int PAYLOAD_CODEC = 2;
    static final int CONNECTION_INFO = 3;
    static final int METADATA = 4;
    static final int REQUEST_STREAM_CONNECTION_INFO = 5;
    static final Keys KEYS =
        new Keys(
            Keys.entry(ID, "id"),
            Keys.entry(REQUEST_TYPE, "request_type"),
            Keys.entry(PAYLOAD_CODEC, "payload_codec"),
            Keys.entry(CONNECTION_INFO, "connection_info"),
            Keys.entry(METADATA, "metadata"),
            Keys.entry(REQUEST_STREAM_CONNECTION_INFO, "request_stream_connection_info"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class ConnectionField {
    static final int TRANSPORT = 0;
    static final int INFO = 1;
    static final Keys KEYS = new Keys(Keys.entry(TRANSPORT, "transport"), Keys.entry(INFO, "info"));
  }

  public ControlMessage {
    metadata = Map.copyOf(metadata);
  }

  /** Creates the head of a request that is sent whole. */
  public ControlMessage(
      String id,
      String requestType,
      PayloadFormat format,
      ConnectionInfo connection,
      Map<String, String> metadata) {
    this(id, requestType, format, connection, metadata, null);
  }

  /** Returns the bytes, in the order of Dynamo's fields. */
  public byte[] toJson() {
    var home = connection.toJson(); // encoded beforehand: one generator, one set of buffers
    var source = input == null ? null : input.toJson();
    return WireWriter.write(this, PayloadFormat.JSON, (out, it) -> it.write(out, home, source));
  }

  private void write(WireWriter out, String home, @Nullable String source) throws IOException {
    out.beginMap(5 + (metadata.isEmpty() ? 0 : 1) + (source == null ? 0 : 1));
    out.key("id");
    out.string(id);
    out.key("request_type");
    out.string(requestType);
    out.key(RESPONSE_TYPE);
    out.string("many_out"); // an answer of one item is a stream too
    out.key("payload_codec");
    out.string(format.wireName());
    out.key("connection_info");
    writeConnection(out, home);
    if (!metadata.isEmpty()) {
      out.key("metadata");
      out.beginMap(metadata.size());
      for (var entry : metadata.entrySet()) {
        out.key(entry.getKey());
        out.string(entry.getValue());
      }
      out.endMap();
    }
    if (source != null) {
      out.key("request_stream_connection_info");
      writeConnection(out, source);
    }
    out.endMap();
  }

  private static void writeConnection(WireWriter out, String info) throws IOException {
    out.beginMap(2);
    out.key("transport");
    out.string(TCP);
    out.key("info");
    out.string(info);
    out.endMap();
  }

  /**
   * @throws io.dynamo.error.InvalidRequestException when the bytes are not a control message, or
   *     one whose answer cannot be delivered over TCP
   */
  public static ControlMessage ofJson(ByteBuffer json) {
    return WireReader.read("control message", json, PayloadFormat.JSON, ControlMessage::read);
  }

  /**
   * Returns the requester's call-home address from a control message that is otherwise invalid;
   * null when not even that can be read.
   */
  public static @Nullable ConnectionInfo homeOf(ByteBuffer json) {
    try {
      return WireReader.read("control message", json, PayloadFormat.JSON, ControlMessage::readHome);
    } catch (InvalidRequestException e) {
      return null;
    }
  }

  private static ConnectionInfo readHome(WireReader in) throws IOException {
    ConnectionInfo home = null;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      if (key == Field.CONNECTION_INFO) {
        home = connection(in);
      } else {
        in.skip();
      }
    }
    if (home == null) {
      throw new IOException("connection_info is missing");
    }
    return home;
  }

  private static ControlMessage read(WireReader in) throws IOException {
    String id = null;
    String type = null;
    var format = PayloadFormat.JSON;
    ConnectionInfo connection = null;
    Map<String, String> metadata = Map.of();
    ConnectionInfo input = null;
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      switch (key) {
        case Field.ID -> id = in.string();
        case Field.REQUEST_TYPE -> type = in.string();
        case Field.PAYLOAD_CODEC -> format = formatOf(in.isNil() ? null : in.string());
        case Field.CONNECTION_INFO -> connection = connection(in);
        case Field.METADATA -> metadata = in.isNil() ? Map.of() : pairs(in);
        case Field.REQUEST_STREAM_CONNECTION_INFO -> input = in.isNil() ? null : connection(in);
        default -> in.skip();
      }
    }
    if (id == null || type == null || connection == null) {
      throw new IOException("one of id, request_type and connection_info is missing");
    }
    if (!connection.context().equals(id) || (input != null && !input.context().equals(id))) {
      throw new IOException("the context of the connection is not the request's id");
    }
    return new ControlMessage(id, type, format, connection, metadata, input);
  }

  private static PayloadFormat formatOf(@Nullable String name) throws IOException {
    try {
      return PayloadFormat.ofWire(name);
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static ConnectionInfo connection(WireReader in) throws IOException {
    String transport = null;
    String info = null;
    in.beginMap();
    for (int key = in.nextKey(ConnectionField.KEYS);
        key != Keys.END;
        key = in.nextKey(ConnectionField.KEYS)) {
      switch (key) {
        case ConnectionField.TRANSPORT -> transport = in.string();
        case ConnectionField.INFO -> info = in.string();
        default -> in.skip();
      }
    }
    if (info == null || !TCP.equals(transport)) {
      throw new IOException("response transport " + transport + " is not " + TCP);
    }
    return ConnectionInfo.ofJson(info);
  }

  static Map<String, String> pairs(WireReader in) throws IOException {
    Map<String, String> pairs = new LinkedHashMap<>();
    if (in.any() instanceof Map<?, ?> map) {
      map.forEach(
          (key, value) -> {
            if (value instanceof String text) {
              pairs.put(String.valueOf(key), text);
            }
          });
    }
    return pairs;
  }
}

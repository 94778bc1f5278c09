package io.dynamo.wire.request;

import io.dynamo.error.ErrorCode;
import io.dynamo.inference.Annotation;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One frame of an answer: {@code {"data":{"data":item,…},"complete_final":false}}, or the end mark
 * {@code {"complete_final":true}}. The inner map is Dynamo's annotated item; in {@linkplain
 * ItemForm#PLAIN plain} form the item is in its place.
 *
 * @param item the bytes of the item, null when there is none; a view of the read buffer
 * @param error the error sent in place of an item
 * @param complete whether this is the last frame
 * @param annotated whether there was an outer {@code data}, though it may hold notes only
 * @param annotation the annotation sent in place of an item, with the name of its event
 */
public record ResponseEnvelope(
    @Nullable ByteBuffer item,
    @Nullable DynamoError error,
    boolean complete,
    boolean annotated,
    @Nullable Annotation annotation) {
  /** The positions of the names in {@link #KEYS}. */
  private static final class FrameField {
    static final int DATA = 0;
    static final int COMPLETE_FINAL = 1;
    static final Keys KEYS =
        new Keys(Keys.entry(DATA, "data"), Keys.entry(COMPLETE_FINAL, "complete_final"));
  }

  /** The positions of the names in {@link #KEYS}. */
  private static final class AnnotatedField {
    static final int DATA = 0;
    static final int ID = 1;
    static final int EVENT = 2;
    static final int COMMENT = 3;
    static final int ERROR = 4;
    static final Keys KEYS =
        new Keys(
            Keys.entry(DATA, "data"),
            Keys.entry(ID, "id"),
            Keys.entry(EVENT, "event"),
            Keys.entry(COMMENT, "comment"),
            Keys.entry(ERROR, "error"));
  }

  private static final byte[] JSON_HEAD = ascii("{\"data\":{\"data\":");
  private static final byte[] JSON_TAIL = ascii("},\"complete_final\":false}");
  private static final byte[] JSON_PLAIN_HEAD = ascii("{\"data\":");
  private static final byte[] JSON_PLAIN_TAIL = ascii(",\"complete_final\":false}");
  private static final byte[] JSON_END = ascii("{\"complete_final\":true}");
  private static final byte[] MSGPACK_HEAD = ascii("\u0082\u00a4data\u0081\u00a4data");
  private static final byte[] MSGPACK_PLAIN_HEAD = ascii("\u0082\u00a4data");
  private static final byte[] MSGPACK_TAIL = ascii("\u00aecomplete_final\u00c2");
  private static final byte[] MSGPACK_END = ascii("\u0081\u00aecomplete_final\u00c3");

  private static byte[] ascii(String bytes) {
    return bytes.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Returns the bytes before an item in its frame. */
  public static byte[] head(ItemForm form, PayloadFormat format) {
    return switch (form) {
      case ANNOTATED -> format == PayloadFormat.JSON ? JSON_HEAD : MSGPACK_HEAD;
      case PLAIN -> format == PayloadFormat.JSON ? JSON_PLAIN_HEAD : MSGPACK_PLAIN_HEAD;
    };
  }

  /** Returns {@link #head(ItemForm, PayloadFormat)} of an annotated item. */
  public static byte[] head(PayloadFormat format) {
    return head(ItemForm.ANNOTATED, format);
  }

  /** Returns the bytes after an item in its frame. */
  public static byte[] tail(ItemForm form, PayloadFormat format) {
    if (format == PayloadFormat.MSGPACK) {
      return MSGPACK_TAIL;
    }
    return form == ItemForm.ANNOTATED ? JSON_TAIL : JSON_PLAIN_TAIL;
  }

  /** Returns {@link #tail(ItemForm, PayloadFormat)} of an annotated item. */
  public static byte[] tail(PayloadFormat format) {
    return tail(ItemForm.ANNOTATED, format);
  }

  /** Returns the end mark. */
  public static byte[] end(PayloadFormat format) {
    return format == PayloadFormat.JSON ? JSON_END : MSGPACK_END;
  }

  /** Returns a frame that carries an error; the end mark must follow. */
  public static byte[] ofError(DynamoError error, PayloadFormat format) {
    return WireWriter.write(
        error,
        format,
        (out, it) -> {
          out.beginMap(2);
          out.key("data");
          out.beginMap(2);
          out.key("event");
          out.string("error");
          out.key("error");
          it.write(out);
          out.endMap();
          out.key("complete_final");
          out.bool(false);
          out.endMap();
        });
  }

  /**
   * Reads one frame.
   *
   * @param body a heap buffer; the item is a view of it
   * @throws io.dynamo.error.InvalidRequestException when it is not an envelope
   */
  public static ResponseEnvelope read(ByteBuffer body, ItemForm form, PayloadFormat format) {
    var item = body.duplicate();
    return narrowToItem(item, form, format)
        ? new ResponseEnvelope(item, null, false, true, null)
        : WireReader.read("response frame", body, format, in -> read(in, form, body));
  }

  /** Reads one frame with an annotated item, if any. */
  public static ResponseEnvelope read(ByteBuffer body, PayloadFormat format) {
    return read(body, ItemForm.ANNOTATED, format);
  }

  /**
   * Narrows {@code body} to the item of a frame in Dynamo's own layout, recognized by its fixed
   * bytes. An item that does not fill the space between them is detected by its reader.
   *
   * @return whether it has that layout; if not it is unchanged, for {@link #read}
   */
  public static boolean narrowToItem(ByteBuffer body, ItemForm form, PayloadFormat format) {
    if (format == PayloadFormat.JSON) {
      return false; // a string may contain the tail: only a parser can decide
    }
    byte[] head = head(form, format);
    byte[] tail = tail(form, format);
    int from = body.position();
    int to = body.limit() - tail.length;
    if (to - from <= head.length || !matches(body, from, head) || !matches(body, to, tail)) {
      return false;
    }
    body.position(from + head.length).limit(to);
    return true;
  }

  private static boolean matches(ByteBuffer body, int at, byte[] bytes) {
    for (int i = 0; i < bytes.length; i++) {
      if (body.get(at + i) != bytes[i]) {
        return false;
      }
    }
    return true;
  }

  private static ResponseEnvelope read(WireReader in, ItemForm form, ByteBuffer body)
      throws IOException {
    var item = new ItemRead();
    boolean complete = false;
    boolean hasComplete = false;
    in.beginMap();
    for (int key = in.nextKey(FrameField.KEYS);
        key != Keys.END;
        key = in.nextKey(FrameField.KEYS)) {
      switch (key) {
        case FrameField.DATA -> item.read(in, form, body);
        case FrameField.COMPLETE_FINAL -> {
          complete = in.bool();
          hasComplete = true;
        }
        default -> in.skip();
      }
    }
    if (!hasComplete) {
      throw new IOException("complete_final is missing");
    }
    return new ResponseEnvelope(
        item.bytes, item.failure(), complete, item.present, item.annotation());
  }

  /** The value of {@code data} while it is being read. */
  private static final class ItemRead {
    boolean present;
    @Nullable ByteBuffer bytes;
    @Nullable String event;
    @Nullable DynamoError error;
    List<String> comments = List.of();

    void read(WireReader in, ItemForm form, ByteBuffer body) throws IOException {
      if (form == ItemForm.PLAIN) {
        bytes = extent(in, body);
        present = bytes != null;
        return;
      }
      if (in.isNil()) {
        return;
      }
      present = true;
      in.beginMap();
      for (int key = in.nextKey(AnnotatedField.KEYS);
          key != Keys.END;
          key = in.nextKey(AnnotatedField.KEYS)) {
        if (key == Keys.UNKNOWN || key == AnnotatedField.ID) {
          in.skip();
        } else if (key == AnnotatedField.DATA) {
          bytes = extent(in, body);
        } else if (!in.isNil()) {
          switch (key) {
            case AnnotatedField.EVENT -> event = in.string();
            case AnnotatedField.COMMENT -> comments = in.strings();
            case AnnotatedField.ERROR -> error = DynamoError.read(in);
            default -> throw new IllegalStateException("key " + key);
          }
        }
      }
    }

    private static @Nullable ByteBuffer extent(WireReader in, ByteBuffer body) throws IOException {
      int from = in.position();
      if (in.isNil()) {
        return null;
      }
      in.skip();
      return body.duplicate()
          .position(body.position() + from)
          .limit(body.position() + in.endOfSkipped());
    }

    @Nullable Annotation annotation() {
      return event == null || bytes != null ? null : new Annotation(event, comments);
    }

    @Nullable DynamoError failure() {
      if (error != null) {
        return error;
      }
      if (!"error".equals(event)) {
        return null;
      }
      var text = comments.isEmpty() ? "the worker failed" : String.join(", ", comments);
      return DynamoError.of(ErrorCode.UNKNOWN, text, null);
    }
  }
}

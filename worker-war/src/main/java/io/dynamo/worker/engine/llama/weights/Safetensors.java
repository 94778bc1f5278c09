package io.dynamo.worker.engine.llama.weights;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One safetensors file: 8 bytes of header length, little-endian, the header as JSON, the tensors.
 * Used by one thread at a time. Every length is checked against the file's size before memory is
 * allocated for it.
 *
 * @see <a href="https://huggingface.co/docs/safetensors">the format</a>
 */
public final class Safetensors implements AutoCloseable {
  private static final long MAX_HEADER_BYTES = 100L << 20; // the format's own bound
  private static final int PIECE_BYTES = 1 << 20;

  /** The storage type of a number. */
  private enum Type {
    F16(2),
    BF16(2),
    F32(4);

    private final int bytes;

    Type(int bytes) {
      this.bytes = bytes;
    }
  }

  /** The place of a tensor in the file; {@code begin} counts bytes from the file's start. */
  private record Entry(Type type, List<Long> shape, long begin, long elements) {}

  private final Path path;
  private final FileChannel file;
  private final MessageDigest digest = sha256(); // of what was read as tensors
  private final Map<String, Entry> entries = new HashMap<>();

  private Safetensors(Path path, FileChannel file) {
    this.path = path;
    this.file = file;
  }

  /**
   * Opens a file and reads its header.
   *
   * @throws IllegalArgumentException when it is not a whole safetensors file
   */
  public static Safetensors open(Path path) throws IOException {
    var file = FileChannel.open(path, StandardOpenOption.READ);
    try {
      var opened = new Safetensors(path, file);
      opened.readHeader();
      return opened;
    } catch (IOException | RuntimeException failure) {
      file.close();
      throw failure;
    }
  }

  private void readHeader() throws IOException {
    long size = file.size();
    if (size < Long.BYTES) {
      throw wrong("has " + size + " bytes; a header alone has more");
    }
    long length = read(0, Long.BYTES).getLong();
    if (length < 2 || length > MAX_HEADER_BYTES || length > size - Long.BYTES) {
      throw wrong(
          "says that its header has %s bytes; the file has %d"
              .formatted(Long.toUnsignedString(length), size));
    }
    var header = read(Long.BYTES, (int) length);
    var bytes = new byte[(int) length];
    header.get(bytes);
    JsonObject json;
    try {
      json = Json.readObject(bytes);
    } catch (IllegalArgumentException e) {
      throw wrong("has a header that " + e.getMessage());
    }
    long data = Long.BYTES + length;
    for (var name : json.members().keySet()) {
      if (!name.equals("__metadata__")) {
        entries.put(name, entry(name, json.object(name), data, size - data));
      }
    }
  }

  private Entry entry(String name, JsonObject json, long data, long dataBytes) {
    var offsets = longs(name, json.list("data_offsets"));
    var shape = longs(name, json.list("shape"));
    if (offsets.size() != 2) {
      throw wrong("gives tensor " + name + " no two offsets");
    }
    long begin = offsets.get(0);
    long end = offsets.get(1);
    if (begin > end || end > dataBytes) {
      throw wrong(
          "puts tensor %s at %d to %d of %d bytes; the file is cut or wrong"
              .formatted(name, begin, end, dataBytes));
    }
    var type = type(name, json.text("dtype"));
    long elements = 1;
    for (long dim : shape) {
      long product = Math.multiplyHigh(elements, dim) == 0 ? elements * dim : -1;
      if (product < 0 || product > dataBytes) {
        throw wrong("gives tensor " + name + " the shape " + shape + ", more than the file holds");
      }
      elements = product;
    }
    if (elements * type.bytes != end - begin) {
      throw wrong(
          "gives tensor %s of shape %s and type %s %d bytes"
              .formatted(name, shape, type, end - begin));
    }
    return new Entry(type, shape, data + begin, elements);
  }

  private Type type(String name, String text) {
    for (var type : Type.values()) {
      if (type.name().equals(text)) {
        return type;
      }
    }
    throw wrong("has tensor " + name + " as " + text + "; F16, BF16 and F32 are read");
  }

  private List<Long> longs(String name, List<@Nullable Object> values) {
    return values.stream()
        .map(
            value -> {
              if (value instanceof Number number && number.longValue() >= 0) {
                return number.longValue();
              }
              throw wrong("gives tensor " + name + " a size of " + value);
            })
        .toList();
  }

  /** Whether there is a tensor of that name. */
  public boolean has(String name) {
    return entries.containsKey(name);
  }

  /**
   * Reads a tensor's numbers, row by row.
   *
   * @throws IllegalArgumentException when no tensor has that name and shape
   */
  public float[] read(String name, int... shape) throws IOException {
    var entry = entries.get(name);
    if (entry == null) {
      throw wrong("has no tensor " + name);
    }
    if (!matches(entry.shape, shape)) {
      throw wrong(
          "has tensor %s in the shape %s; config.json asks for %s"
              .formatted(name, entry.shape, Arrays.toString(shape)));
    }
    if (entry.elements > Integer.MAX_VALUE - 8) {
      throw wrong("has tensor " + name + " of " + entry.elements + " numbers, too many for memory");
    }
    digest.update("%s %s %s".formatted(name, entry.type, entry.shape).getBytes(UTF_8));
    var numbers = new float[(int) entry.elements];
    int perPiece = PIECE_BYTES / entry.type.bytes;
    for (int at = 0; at < numbers.length; at += perPiece) {
      int count = Math.min(perPiece, numbers.length - at);
      long offset = entry.begin + (long) at * entry.type.bytes;
      var piece = read(offset, count * entry.type.bytes);
      digest.update(piece.duplicate());
      decode(entry.type, piece, numbers, at, count);
    }
    return numbers;
  }

  /** Returns the SHA-256 of the tensors that were read so far, in their order. */
  public String digest() {
    try {
      var all = (MessageDigest) digest.clone();
      return "sha256:" + HexFormat.of().formatHex(all.digest());
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("the JDK's SHA-256 can be cloned", e);
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static boolean matches(List<Long> found, int... asked) {
    if (found.size() != asked.length) {
      return false;
    }
    for (int i = 0; i < asked.length; i++) {
      if (found.get(i) != asked[i]) {
        return false;
      }
    }
    return true;
  }

  private static void decode(Type type, ByteBuffer from, float[] into, int at, int count) {
    switch (type) {
      case F32 -> from.asFloatBuffer().get(into, at, count);
      case F16 -> {
        for (int i = 0; i < count; i++) {
          into[at + i] = Float.float16ToFloat(from.getShort());
        }
      }
      case BF16 -> {
        for (int i = 0; i < count; i++) {
          into[at + i] = Float.intBitsToFloat(from.getShort() << 16);
        }
      }
    }
  }

  private ByteBuffer read(long offset, int length) throws IOException {
    var bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    while (bytes.hasRemaining()) {
      if (file.read(bytes, offset + bytes.position()) < 0) {
        throw wrong("ended while it was read");
      }
    }
    return bytes.flip();
  }

  private IllegalArgumentException wrong(String what) {
    return new IllegalArgumentException(path + " " + what);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}

package io.dynamo.token;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import org.apache.commons.codec.digest.Blake3;
import org.jspecify.annotations.Nullable;

/**
 * A secret under which routers report active blocks to each other ({@code keyed-xxh3-v1}), so that
 * other receivers cannot infer the prompts. Only routers with the same key, model and group compute
 * equal block hashes. Immutable; never printed.
 */
public final class TrackingKey {
  public static final int KEY_BYTES = 32;

  private static final byte[] DOMAIN =
      "dynamo.router.tracking-hash/keyed-xxh3-v1\0".getBytes(StandardCharsets.US_ASCII);
  private static final int ABSENT = 0;
  private static final int PRESENT = 1;

  private final byte[] key;
  private final byte[] id;

  /**
   * @param id identifies the key, so that a new one can follow
   */
  public TrackingKey(byte[] key, String id) {
    if (key.length != KEY_BYTES) {
      throw new IllegalArgumentException(
          "a tracking key of %d bytes; it must have %d".formatted(key.length, KEY_BYTES));
    }
    this.key = key.clone();
    this.id = id.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Reads the key from {@code file}, whose bytes are the key. Error messages contain neither the
   * file's name nor its content.
   *
   * @throws IllegalArgumentException when it cannot be read or has another length
   */
  public static TrackingKey read(Path file, String id) {
    try (var in = Files.newInputStream(file)) {
      return new TrackingKey(in.readNBytes(KEY_BYTES + 1), id);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "the tracking key's file cannot be read: " + e.getClass().getSimpleName());
    }
  }

  /** Returns a random key that no other process has. */
  public static TrackingKey random() {
    var key = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(key);
    return new TrackingKey(key, "");
  }

  /**
   * Returns a hasher of blocks under this key.
   *
   * @param model its name
   * @param group the routing group, {@code default} where there is only one
   * @param salt null and empty mean none; so for {@code loraName}
   */
  public BlockHasher hasher(
      String model,
      String group,
      int blockTokens,
      @Nullable String salt,
      @Nullable String loraName,
      boolean eagle) {
    var digest = Blake3.initKeyedHash(key).update(DOMAIN);
    frame(digest, 1, id);
    frame(digest, 2, utf8(model));
    frame(digest, 3, utf8(group));
    frame(
        digest,
        4,
        ByteBuffer.allocate(Integer.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(blockTokens)
            .array());
    optionalFrame(digest, 5, salt);
    optionalFrame(digest, 6, loraName);
    frame(digest, 7, new byte[] {(byte) (eagle ? 1 : 0)});
    var seeds = ByteBuffer.wrap(digest.doFinalize(2 * Long.BYTES)).order(ByteOrder.LITTLE_ENDIAN);
    return BlockHasher.keyed(blockTokens, eagle, seeds.getLong(), seeds.getLong());
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void frame(Blake3 digest, int tag, byte[] content) {
    digest.update(
        ByteBuffer.allocate(1 + Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .put((byte) tag)
            .putLong(content.length)
            .array());
    digest.update(content);
  }

  private static void optionalFrame(Blake3 digest, int tag, @Nullable String text) {
    if (text == null || text.isEmpty()) {
      digest.update(new byte[] {(byte) tag, ABSENT});
      return;
    }
    var content = utf8(text);
    digest.update(
        ByteBuffer.allocate(2 + Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .put((byte) tag)
            .put((byte) PRESENT)
            .putLong(content.length)
            .array());
    digest.update(content);
  }

  @Override
  public String toString() {
    return "tracking key " + new String(id, StandardCharsets.UTF_8);
  }
}

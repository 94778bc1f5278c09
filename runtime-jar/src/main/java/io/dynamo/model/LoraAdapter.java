package io.dynamo.model;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.commons.codec.digest.Blake3;
import org.jspecify.annotations.Nullable;

/**
 * The LoRA adapter that a card describes.
 *
 * @param name the name in requests, in {@code routing.lora_name}
 * @param maxCount adapters that the worker holds at once; null when unknown
 * @param id its number, for engines that need one; null when unknown
 */
public record LoraAdapter(String name, @Nullable Integer maxCount, @Nullable Integer id) {
  /** Returns an adapter with the number that Dynamo derives from its name. */
  public static LoraAdapter of(String name, int maxCount) {
    return new LoraAdapter(name, maxCount, idOf(name));
  }

  /** Returns Dynamo's number of a name: derived from its BLAKE3 hash, positive. */
  public static int idOf(String name) {
    var hash = Blake3.initHash();
    hash.update(name.getBytes(StandardCharsets.UTF_8));
    var digest = new byte[Long.BYTES];
    hash.doFinalize(digest);
    int id = (int) (ByteBuffer.wrap(digest).getLong() & Integer.MAX_VALUE);
    return id == 0 ? 1 : id;
  }
}

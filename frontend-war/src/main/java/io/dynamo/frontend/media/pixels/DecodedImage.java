package io.dynamo.frontend.media.pixels;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A decoded image that workers can read until it is closed.
 *
 * @param format of the file
 */
public record DecodedImage(PixelPool.Slot slot, String format, int width, int height)
    implements AutoCloseable {
  /** Returns where the pixels are, as Dynamo's workers read it. */
  public Map<String, Object> toField() {
    var place = new LinkedHashMap<String, Object>();
    place.put("addr", slot.address());
    place.put("size", slot.byteSize());
    place.put("mem_type", "Dram");
    place.put("device_id", 0);
    var field = new LinkedHashMap<String, Object>();
    field.put("nixl_metadata", slot.agent());
    field.put("nixl_descriptor", place);
    field.put("shape", List.of(height, width, ImageFile.CHANNELS));
    field.put("dtype", "UINT8");
    field.put("metadata", Map.of("format", format));
    return field;
  }

  /** Ends it: its memory is wiped and used for others. Idempotent. */
  @Override
  public void close() {
    slot.close();
  }

  @Override
  public String toString() {
    return "%s of %d x %d".formatted(format, width, height);
  }
}

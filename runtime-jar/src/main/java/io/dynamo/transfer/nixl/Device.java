package io.dynamo.transfer.nixl;

import java.util.Locale;

/**
 * The device whose memory a descriptor is of.
 *
 * @param id number among the devices of its kind
 */
public record Device(DeviceKind kind, int id) {
  public static final Device HOST = new Device(DeviceKind.HOST, 0);

  public Device {
    if (id < 0) {
      throw new IllegalArgumentException("device %d; numbers begin at 0".formatted(id));
    }
  }

  /**
   * Reads a device as Dynamo does: {@code cpu} or {@code host}, {@code cuda:1} or {@code gpu:1},
   * {@code xpu:1}; without a number it is 0. Case and spaces around do not count.
   *
   * @throws IllegalArgumentException for any other text
   */
  public static Device of(String text) {
    var word = text.strip().toLowerCase(Locale.ROOT);
    if (word.startsWith("cuda") || word.startsWith("gpu")) {
      return new Device(DeviceKind.CUDA, number(text, word));
    }
    if (word.startsWith("xpu")) {
      return new Device(DeviceKind.XPU, number(text, word));
    }
    if (word.startsWith("cpu") || word.startsWith("host")) {
      return HOST;
    }
    throw wrong(text);
  }

  private static int number(String text, String word) {
    int colon = word.indexOf(':');
    if (colon < 0) {
      return 0;
    }
    try {
      return Integer.parseUnsignedInt(word.substring(colon + 1).strip());
    } catch (NumberFormatException e) {
      throw wrong(text);
    }
  }

  private static IllegalArgumentException wrong(String text) {
    var shown = text.length() > 40 ? text.substring(0, 40) + "…" : text;
    return new IllegalArgumentException(
        "device \"%s\" is not cpu, cuda:<number> or xpu:<number>".formatted(shown));
  }

  /** Returns the text that Dynamo writes: {@code cpu}, {@code cuda:0}, {@code xpu:0}. */
  @Override
  public String toString() {
    return kind == DeviceKind.CUDA || kind == DeviceKind.XPU ? kind + ":" + id : kind.toString();
  }
}

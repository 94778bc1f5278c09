package io.dynamo.kv;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tier that holds a block: the accelerator's memory, or a place that it must be fetched from.
 */
public enum StorageTier {
  DEVICE,
  HOST_PINNED,
  DISK,
  EXTERNAL;

  /** The tiers from which blocks must be fetched, nearest first. */
  public static final List<StorageTier> BELOW_DEVICE = List.of(HOST_PINNED, DISK, EXTERNAL);

  /**
   * Returns the tier of a medium as engines name it in their KV events.
   *
   * @param medium null or empty means the device
   * @return null when the medium is unknown
   */
  public static @Nullable StorageTier ofMedium(@Nullable String medium) {
    return switch (medium == null ? "" : medium) {
      case "", "GPU", "DEVICE" -> DEVICE;
      case "CPU", "CPU_PINNED", "CPU_TIER1" -> HOST_PINNED;
      case "CPU_TIER2", "DISK", "NVME", "STORAGE" -> DISK;
      case "EXTERNAL", "NETWORK", "REMOTE", "SHARED" -> EXTERNAL;
      default -> null;
    };
  }
}

package io.dynamo.kv;

/** Where a block lies: in the accelerator's memory, or in a place that it must be fetched from. */
public enum StorageTier {
  DEVICE,
  HOST_PINNED,
  DISK,
  EXTERNAL
}

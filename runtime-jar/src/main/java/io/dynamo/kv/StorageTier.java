package io.dynamo.kv;

/**
 * The tier that holds a block: the accelerator's memory, or a place that it must be fetched from.
 */
public enum StorageTier {
  DEVICE,
  HOST_PINNED,
  DISK,
  EXTERNAL
}

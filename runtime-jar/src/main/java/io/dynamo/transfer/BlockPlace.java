package io.dynamo.transfer;

/**
 * A place where blocks are kept.
 *
 * @param isRemote whether it belongs to another process
 */
public record BlockPlace(Storage storage, boolean isRemote) {
  /** The kinds of storage that the ways between two places depend on. */
  public enum Storage {
    /** Memory of the host. */
    SYSTEM,
    /** Memory of the host that stays in RAM; a GPU reaches what its driver has pinned. */
    PINNED,
    /** Memory of a GPU. */
    DEVICE,
    /** A file. */
    DISK
  }

  /** A place of this process. */
  public static BlockPlace local(Storage storage) {
    return new BlockPlace(storage, false);
  }

  /** A place of another process, on this host or on another one. */
  public static BlockPlace remote(Storage storage) {
    return new BlockPlace(storage, true);
  }

  boolean isHostMemory() {
    return storage == Storage.SYSTEM || storage == Storage.PINNED;
  }

  @Override
  public String toString() {
    return (isRemote ? "remote " : "") + storage.name().toLowerCase(java.util.Locale.ROOT);
  }
}

package io.dynamo.pipeline;

/**
 * The share that one incomplete request has of a budget of bytes for all connections. Only the
 * difference to the charge before is taken or given, so that a request keeps its share while it
 * grows. Confined to one event loop.
 */
public final class ArrivalCharge {
  /** The budget. Safe for concurrent use; must not block. */
  public interface Room {
    /**
     * Takes bytes for a request that has taken others before.
     *
     * @param more to take
     * @param held what the request has already
     * @return whether there was room; if not, nothing is taken
     */
    boolean take(long more, long held);

    /** Returns bytes. */
    void give(long bytes);
  }

  private final Room room;
  private long charged;

  public ArrivalCharge(Room room) {
    this.room = room;
  }

  /**
   * Sets the charge to {@code bytes}.
   *
   * @return whether there was room; if not, the whole charge is returned
   */
  public boolean set(long bytes) {
    if (bytes > charged && !room.take(bytes - charged, charged)) {
      release();
      return false;
    }
    if (bytes < charged) {
      room.give(charged - bytes);
    }
    charged = bytes;
    return true;
  }

  /** Returns the whole charge. */
  public void release() {
    if (charged > 0) {
      room.give(charged);
      charged = 0;
    }
  }
}

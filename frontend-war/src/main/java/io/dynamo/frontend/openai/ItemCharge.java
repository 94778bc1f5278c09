package io.dynamo.frontend.openai;

/** The memory of the present item of a streamed answer. For one thread. */
final class ItemCharge {
  private final ReceivedRequest received;
  private long charged; // bytes

  ItemCharge(ReceivedRequest received) {
    this.received = received;
  }

  /** Charges {@code bytes} of an item in the place of the one before. */
  void replace(long bytes) {
    received.gatherStreamed(bytes - charged);
    charged = bytes;
  }
}

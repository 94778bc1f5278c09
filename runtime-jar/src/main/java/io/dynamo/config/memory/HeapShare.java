package io.dynamo.config.memory;

/**
 * How much of the heap each area of the server may take at most, in sixteenths. Three are left for
 * classes, the router's index, events, and answers.
 */
public enum HeapShare {
  /** Request bodies and what is made of them, while they arrive, are prepared or run. */
  REQUESTS_AT_WORK(5),
  /** The same of requests that wait for their turn. */
  WAITING_REQUESTS(1),
  /** The first bytes of each request, which are not charged to the areas above. */
  SMALL_REQUESTS(1),
  /** One long piece of a prompt, while it is encoded. */
  LONG_PIECE(2),
  /** Token ids of parts of prompts: bounds {@code dynamo.frontend.prefix-cache-bytes}. */
  PREFIX_CACHE(1),
  /** Requests that wait to be written to workers: bounds {@code dynamo.request.tcp.max-unsent}. */
  UNSENT_REQUESTS(1),
  /** Requests that the worker has received and not yet answered to their end. */
  RECEIVED_REQUESTS(1),
  /** The engines' tables of KV blocks: which are free, who holds them, what they are cached as. */
  BLOCK_TABLES(1);

  private static final int PARTS = 16;

  private final int sixteenths;

  HeapShare(int sixteenths) {
    this.sixteenths = sixteenths;
  }

  /** Its bytes in a heap of {@code heapBytes}. */
  public long of(long heapBytes) {
    return heapBytes / PARTS * sixteenths;
  }

  /**
   * The bytes for requests that a worker has received.
   *
   * <p>A server without a frontend prepares none, so that the part of those goes to the worker's.
   */
  public static long receivedRequests(boolean besideFrontend) {
    long bytes = RECEIVED_REQUESTS.bytes();
    return besideFrontend ? bytes : bytes + REQUESTS_AT_WORK.bytes();
  }

  /** The smallest heap in which it has {@code bytes}. */
  public long heapFor(long bytes) {
    return Math.multiplyExact(Math.ceilDiv(bytes, sixteenths), PARTS);
  }

  /** Its bytes in the largest heap that this process may have. */
  public long bytes() {
    return of(Runtime.getRuntime().maxMemory());
  }
}

package io.dynamo.config.memory;

/**
 * The areas of the server that use heap, each with its maximal share in sixteenths. Three
 * sixteenths remain for classes, the router's index, events, and answers.
 */
public enum HeapShare {
  /** Request bodies and the data made of them, while they arrive, are prepared or run. */
  REQUESTS_AT_WORK(5),
  /** The same data of requests that wait for their turn. */
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
  /**
   * The engines' tables of KV blocks: the free ones, their holders, and the hashes under which they
   * are cached.
   */
  BLOCK_TABLES(1);

  private static final int PARTS = 16;

  private final int sixteenths;

  HeapShare(int sixteenths) {
    this.sixteenths = sixteenths;
  }

  /** Returns the area's bytes in a heap of {@code heapBytes}. */
  public long of(long heapBytes) {
    return heapBytes / PARTS * sixteenths;
  }

  /**
   * Returns the bytes for requests that a worker has received.
   *
   * <p>A server without a frontend prepares no requests, so that the frontend's share goes to the
   * worker.
   */
  public static long receivedRequests(boolean besideFrontend) {
    long bytes = RECEIVED_REQUESTS.bytes();
    return besideFrontend ? bytes : bytes + REQUESTS_AT_WORK.bytes();
  }

  /** Returns the smallest heap in which the area has {@code bytes}. */
  public long heapFor(long bytes) {
    return Math.multiplyExact(Math.ceilDiv(bytes, sixteenths), PARTS);
  }

  /** Returns the area's bytes in the largest heap that this process may have. */
  public long bytes() {
    return of(Runtime.getRuntime().maxMemory());
  }
}

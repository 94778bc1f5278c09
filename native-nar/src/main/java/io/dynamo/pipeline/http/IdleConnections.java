package io.dynamo.pipeline.http;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** The open connections of one event loop that serve no request. Used on that loop alone. */
final class IdleConnections {
  private static final int MOST = 64;

  private final Deque<ClientConnection> idle = new ArrayDeque<>();

  /** Keeps a connection; the one that has waited longest is closed when there are too many. */
  void add(ClientConnection free) {
    idle.addFirst(free);
    if (idle.size() > MOST) {
      idle.removeLast().close();
    }
  }

  /**
   * Takes the connection that was used last; null when there is none. Those that were closed in
   * this turn of the loop have not told so yet.
   */
  @Nullable ClientConnection take() {
    var last = idle.pollFirst();
    while (last != null && !last.isOpen()) {
      last = idle.pollFirst();
    }
    return last;
  }

  void remove(ClientConnection gone) {
    idle.remove(gone);
  }

  /** Closes all, as they may be as stale as one that has just failed. */
  void closeAll() {
    for (var each = take(); each != null; each = take()) {
      each.close();
    }
  }
}

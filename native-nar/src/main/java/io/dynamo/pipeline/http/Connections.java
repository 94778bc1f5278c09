package io.dynamo.pipeline.http;

import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;

/**
 * Tracks the open connections of a server, and the bytes of their requests. When there are too many
 * connections, the one is closed that has held its place longest without a request being answered:
 * a client that sends or reads slowly cannot keep others out. Safe for concurrent use.
 */
final class Connections {
  /** The phases of a connection, those first that are closed first to make room. */
  enum Phase {
    RECEIVING,
    SENDING,
    ANSWERING
  }

  private static final Comparator<HttpConnection> FIRST_TO_GO =
      Comparator.comparing(HttpConnection::phase)
          .thenComparing((a, b) -> Long.signum(a.sinceNanos() - b.sinceNanos()));

  private final int most;
  private final long mostBodyBytes;
  private final Set<HttpConnection> open = new HashSet<>(); // guarded by this
  private long bodyBytes; // guarded by this

  /**
   * @param most the maximum number of open connections
   * @param mostBodyBytes the most bytes of all requests that are being read or answered
   */
  Connections(int most, long mostBodyBytes) {
    this.most = most;
    this.mostBodyBytes = mostBodyBytes;
  }

  /**
   * Adds {@code connection}, in place of another when there are too many.
   *
   * @return false when there is no room, since every other one is being answered
   */
  boolean admit(HttpConnection connection) {
    HttpConnection leaving = null;
    synchronized (this) {
      if (open.size() >= most) {
        leaving = open.stream().min(FIRST_TO_GO).orElse(null);
        if (leaving == null || leaving.phase() == Phase.ANSWERING) {
          return false;
        }
        open.remove(leaving);
      }
      open.add(connection);
    }
    if (leaving != null) {
      leaving.giveWay();
    }
    return true;
  }

  synchronized void remove(HttpConnection connection) {
    open.remove(connection);
  }

  /**
   * Reserves room for a part of a body.
   *
   * @return false when there is none
   */
  synchronized boolean takeBody(int bytes) {
    if (bodyBytes + bytes > mostBodyBytes) {
      return false;
    }
    bodyBytes += bytes;
    return true;
  }

  synchronized void freeBody(long bytes) {
    bodyBytes -= bytes;
  }

  /** Returns the number of open connections. */
  synchronized int size() {
    return open.size();
  }
}

package io.dynamo.frontend;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Marks whether the failure of a request is counted where the request is served, instead of at the
 * edge. The edge attaches one before it passes a request on and keeps the reference: after that the
 * request may be complete, and the container's objects may belong to another request. Used on the
 * container's thread only.
 */
public final class CountingMark {
  private static final String ATTRIBUTE = "io.dynamo.frontend.counting";

  private boolean taken;

  private CountingMark() {}

  /** Attaches a new mark to {@code request}. */
  static CountingMark attach(HttpServletRequest request) {
    var mark = new CountingMark();
    request.setAttribute(ATTRIBUTE, mark);
    return mark;
  }

  /**
   * Takes over the counting of {@code request}: the edge neither counts it nor touches it again.
   * Called before the request becomes asynchronous.
   */
  public static void take(HttpServletRequest request) {
    if (request.getAttribute(ATTRIBUTE) instanceof CountingMark mark) {
      mark.taken = true;
    }
  }

  /** Whether {@link #take} was called for the request. */
  boolean isTaken() {
    return taken;
  }
}

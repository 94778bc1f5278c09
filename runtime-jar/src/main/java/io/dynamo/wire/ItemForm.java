package io.dynamo.wire;

/** The form of an endpoint's items in the {@code data} of their frames. */
public enum ItemForm {
  /** An item is in a map with room for notes and for an error: {@code {"data":{"data":item}}}. */
  ANNOTATED,
  /**
   * An item is in {@code data} directly: {@code {"data":item}}. Such an endpoint reports failures
   * in its own items; a stream that fails otherwise is cut, and its requester takes the worker for
   * lost.
   */
  PLAIN
}

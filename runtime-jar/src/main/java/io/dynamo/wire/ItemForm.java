package io.dynamo.wire;

/** How the items of an endpoint stand in the {@code data} of their frames. */
public enum ItemForm {
  /** In a map with room for notes and for an error: {@code {"data":{"data":item}}}. */
  ANNOTATED,
  /**
   * As they are: {@code {"data":item}}. Such an endpoint says in its own items what went wrong; a
   * stream that fails otherwise is cut, and its requester takes the worker for lost.
   */
  PLAIN
}

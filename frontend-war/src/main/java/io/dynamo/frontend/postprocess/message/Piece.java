package io.dynamo.frontend.postprocess.message;

/** A part of a message, as a client gets it. */
public sealed interface Piece {
  /** Text to read; not empty. */
  record Content(String text) implements Piece {}

  /** Text that was thought; not empty. */
  record Reasoning(String text) implements Piece {}

  /**
   * A tool call begins.
   *
   * @param index its place among the message's calls, from 0
   */
  record CallStarted(int index, String id, String name) implements Piece {}

  /** More of the arguments of call {@code index}. */
  record CallArguments(int index, String json) implements Piece {}

  /** The arguments of call {@code index} are complete. */
  record CallEnded(int index) implements Piece {}
}

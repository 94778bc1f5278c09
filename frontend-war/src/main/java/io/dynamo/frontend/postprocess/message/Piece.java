package io.dynamo.frontend.postprocess.message;

/** A part of a message, as a client gets it. */
public sealed interface Piece {
  /** Text for the user; not empty. */
  record Content(String text) implements Piece {}

  /** Text of the model's thoughts; not empty. */
  record Reasoning(String text) implements Piece {}

  /**
   * The start of a tool call.
   *
   * @param index its place among the message's calls, from 0
   */
  record CallStarted(int index, String id, String name) implements Piece {}

  /** A part of the arguments of call {@code index}. */
  record CallArguments(int index, String json) implements Piece {}

  /** The end of the arguments of call {@code index}. */
  record CallEnded(int index) implements Piece {}
}

package io.dynamo.frontend.responses;

/**
 * Items that were added to a conversation together.
 *
 * @param conversation id of it
 * @param id among the turns of the conversation
 * @param createdMillis UNIX time
 * @param items a JSON array in UTF-8
 */
public record ConversationTurn(String conversation, String id, long createdMillis, byte[] items) {
  static final int ROW_BYTES = 256; // ids, times and index entries

  /** Returns an id for a turn that is no response. */
  public static String newId() {
    return "turn_" + ResponseIds.random();
  }

  /** About how much room it takes. */
  long bytes() {
    return items.length + (long) ROW_BYTES;
  }

  /** Shows no text of the client or the model. */
  @Override
  public String toString() {
    return "ConversationTurn[" + bytes() + " bytes]";
  }
}

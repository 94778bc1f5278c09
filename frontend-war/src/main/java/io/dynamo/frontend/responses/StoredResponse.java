package io.dynamo.frontend.responses;

import org.jspecify.annotations.Nullable;

/**
 * A response as it is stored.
 *
 * @param previousId of the response that it continues; null for none
 * @param createdMillis UNIX time
 * @param input the items of its own request, a JSON array in UTF-8
 * @param answer the response object, JSON in UTF-8
 */
public record StoredResponse(
    String id, @Nullable String previousId, long createdMillis, byte[] input, byte[] answer) {
  private static final int ROW_BYTES = 256; // ids, times and index entries

  /** About how much room it takes. */
  long bytes() {
    return (long) input.length + answer.length + ROW_BYTES;
  }

  /** Returns it without its texts. */
  StoredRows.Entry entry() {
    return new StoredRows.Entry(id, previousId, bytes());
  }

  /** Shows no text of the client or the model. */
  @Override
  public String toString() {
    return "StoredResponse[" + bytes() + " bytes]";
  }
}

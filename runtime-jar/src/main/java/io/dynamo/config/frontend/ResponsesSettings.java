package io.dynamo.config.frontend;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The responses that the frontend stores, where and how long. Keys: {@code
 * dynamo.frontend.responses.*}.
 *
 * @param database the JDBC URL of a PostgreSQL database; null for the embedded one
 * @param folder of the embedded database
 * @param maxAge how long a response is kept
 * @param maxResponses kept at most
 * @param maxBytes of all that are kept
 * @param maxInputBytes of the input of one
 * @param queueBytes memory for responses that wait to be written
 * @param conversations kept beside the responses
 */
public record ResponsesSettings(
    Storing storing,
    @Nullable String database,
    @Nullable String user,
    @Nullable String password,
    Path folder,
    Duration maxAge,
    int maxResponses,
    long maxBytes,
    int maxInputBytes,
    int queueBytes,
    ConversationBounds conversations) {
  /** Which responses are stored. */
  public enum Storing {
    /** No response is stored, and none can be continued. */
    OFF,
    /** Responses are stored when their request asks for it. */
    ON_REQUEST,
    /** Responses are stored unless their request forbids it. */
    BY_DEFAULT
  }

  @Override
  public String toString() {
    return "ResponsesSettings[" + storing + "]"; // the password stays out of logs
  }
}

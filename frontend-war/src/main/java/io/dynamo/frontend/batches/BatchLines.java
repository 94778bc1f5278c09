package io.dynamo.frontend.batches;

import io.dynamo.frontend.ApiException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Reads the lines of batches, serves them as requests, and writes lines of results. */
public interface BatchLines {
  /**
   * A request of a batch.
   *
   * @param customId the client's name for it
   * @param body as the endpoint takes it
   */
  record Line(String customId, byte[] body) {}

  /**
   * The answer to a request.
   *
   * @param retryAfterSeconds what a refusal asked for; null for nothing
   */
  record Outcome(int status, String requestId, byte[] body, @Nullable Integer retryAfterSeconds) {}

  /** A request that is served. */
  interface Call {
    /** Completes with the answer, also with that of a failure. */
    CompletableFuture<Outcome> outcome();

    /** Ends the request; its outcome follows soon. Idempotent. */
    void cancel();
  }

  /** Whether requests of batches may ask {@code endpoint}. */
  boolean serves(String endpoint);

  /**
   * Reads a line.
   *
   * @throws MalformedLineException when it is none of a batch for {@code endpoint}
   * @throws ApiException with 503 when there is no memory for it now
   */
  Line read(byte[] line, String endpoint) throws MalformedLineException;

  /**
   * Starts to serve a line.
   *
   * @param tenant whose the request is; empty for nobody's
   * @throws ApiException when it is not admitted
   */
  Call start(Line line, String endpoint, String tenant);

  /** Whether requests of clients wait for room; those of batches should not begin then. */
  boolean areClientsWaiting();

  /** Writes the line of a result, with its line feed. */
  byte[] result(Line line, Outcome outcome);

  /** Writes the line of a request that was not served in time, with its line feed. */
  byte[] expired(Line line);

  /** Writes the JSON list of what is wrong with an input. */
  String errors(List<InputError> errors);

  /**
   * A fault of an input.
   *
   * @param line counted from 1; 0 for the whole
   */
  record InputError(String code, String message, long line) {}
}

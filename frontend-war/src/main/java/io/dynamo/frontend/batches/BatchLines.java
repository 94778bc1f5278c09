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
   * @param isOverload whether it is a refusal for want of room, whatever its status
   * @param retryAfterSeconds what a refusal asked for; null for nothing
   */
  record Outcome(
      int status,
      String requestId,
      byte[] body,
      boolean isOverload,
      @Nullable Integer retryAfterSeconds) {}

  /** Memory that is charged to the requests of this frontend. For one thread at a time. */
  interface Memory extends AutoCloseable {
    /**
     * Changes the charge.
     *
     * @param bytes in total
     * @throws ApiException with 503 when there is no room now, with 413 when there never is
     */
    void hold(long bytes);

    /** Ends the charge. Idempotent. */
    @Override
    void close();
  }

  /** A request that is served. */
  interface Call {
    /** Completes with the answer, also with that of a failure. */
    CompletableFuture<Outcome> outcome();

    /** Ends the request; its outcome follows soon. Idempotent. */
    void cancel();
  }

  /** Whether requests of batches may ask {@code endpoint}. */
  boolean serves(String endpoint);

  /** Opens a charge, of nothing at first. */
  Memory memory();

  /**
   * Reads a line; charges for what that takes meanwhile.
   *
   * @throws MalformedLineException when it is none of a batch for {@code endpoint}
   * @throws ApiException with 503 when there is no memory for it now, with 413 when there never is
   */
  Line read(byte[] line, String endpoint) throws MalformedLineException;

  /**
   * Starts to serve a line.
   *
   * @param tenant whose the request is; empty for nobody's
   * @param memory charged for the answer, too, before its outcome is there; an answer that finds no
   *     room is the failure of its request
   * @throws ApiException when it is not admitted
   */
  Call start(Line line, String endpoint, String tenant, Memory memory);

  /** Whether requests of clients wait for room; those of batches should not begin then. */
  boolean areClientsWaiting();

  /** Writes the line of a result, with its line feed. */
  byte[] result(Line line, Outcome outcome);

  /**
   * Writes the line of a request that has no answer, with its line feed.
   *
   * @param customId null when it could not be read
   */
  byte[] error(@Nullable String customId, String code, String message);

  /** Writes the JSON list of what is wrong with an input. */
  String errors(List<InputError> errors);

  /**
   * A fault of an input.
   *
   * @param line counted from 1; 0 for the whole
   */
  record InputError(String code, String message, long line) {}
}

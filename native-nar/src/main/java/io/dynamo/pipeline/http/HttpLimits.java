package io.dynamo.pipeline.http;

import java.time.Duration;

/**
 * The bounds that the server sets for its clients.
 *
 * @param maxHeaderBytes of the request line, and of all headers together
 * @param maxBodyBytes of a request
 * @param maxTotalBodyBytes of all requests that are being read or answered; one for which there is
 *     no room is closed
 * @param maxConnections open at once; a further one takes the place of the one that has waited
 *     longest for its client
 * @param receive from the moment a connection is free until a whole request has come: ends idle
 *     clients and those that trickle
 * @param handle from a whole request to the answer of the handler
 * @param stall how long a client may take nothing of an answer
 */
public record HttpLimits(
    int maxHeaderBytes,
    int maxBodyBytes,
    int maxTotalBodyBytes,
    int maxConnections,
    Duration receive,
    Duration handle,
    Duration stall) {
  /** For probes, scrapers and operators. */
  public static final HttpLimits STANDARD =
      new HttpLimits(
          16 * 1024,
          1 << 20,
          16 << 20,
          128,
          Duration.ofSeconds(60),
          Duration.ofMinutes(10),
          Duration.ofSeconds(30));
}

package io.dynamo.pipeline.http;

import java.time.Duration;

/**
 * The bounds that the server sets for its clients.
 *
 * @param maxHeaderBytes the most bytes of the request line, and of all headers together
 * @param maxBodyBytes the most body bytes of a request
 * @param maxTotalBodyBytes the most body bytes of all requests that are being read or answered; a
 *     connection whose request finds no room is closed
 * @param maxConnections open at once; a further one takes the place of the one that has waited
 *     longest for its client
 * @param receive the longest time from when a connection is free until a whole request has arrived:
 *     ends idle clients and those that trickle
 * @param handle the longest time from a whole request to the handler's answer
 * @param stall how long a client may read nothing of an answer
 */
public record HttpLimits(
    int maxHeaderBytes,
    int maxBodyBytes,
    int maxTotalBodyBytes,
    int maxConnections,
    Duration receive,
    Duration handle,
    Duration stall) {
  /** Limits for probes, scrapers and operators. */
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

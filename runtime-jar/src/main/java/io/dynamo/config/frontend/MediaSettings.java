package io.dynamo.config.frontend;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Which media of prompts the frontend fetches, from where, and how much of them. Keys: {@code
 * dynamo.frontend.media.*}.
 *
 * @param fetching whose media are fetched whole and sent to workers as data URLs
 * @param measuring whether the first bytes of images are fetched to route by them
 * @param allowsInternal whether hosts may have addresses that are not public, and any port
 * @param hosts the only hosts to fetch from; empty is any
 * @param ports the only ports to fetch from
 * @param maxBytes of one medium
 * @param maxRequestBytes of all media of a request, as data URLs
 * @param maxPixels of an image, width times height
 * @param timeout of one fetch with all redirects
 * @param connectTimeout of one attempt to connect
 * @param maxFetches by the whole server at once
 * @param maxFetchesPerRequest by one request at once
 * @param cacheBytes for media that were fetched; 0 keeps none
 * @param nixlBytes for images that are decoded for workers to read over NIXL; 0 decodes none
 */
public record MediaSettings(
    Fetching fetching,
    boolean measuring,
    boolean allowsInternal,
    List<String> hosts,
    Set<Integer> ports,
    int maxBytes,
    int maxRequestBytes,
    int maxPixels,
    Duration timeout,
    Duration connectTimeout,
    int maxFetches,
    int maxFetchesPerRequest,
    long cacheBytes,
    long nixlBytes) {
  /** The models whose media the frontend fetches whole. */
  public enum Fetching {
    /** Those of models whose card has a decoder for their kind. */
    CARD,
    /** Those of all models. */
    ALWAYS,
    /** None: all URLs go to workers. */
    NEVER
  }

  public MediaSettings {
    hosts = List.copyOf(hosts);
    ports = Set.copyOf(ports);
  }
}

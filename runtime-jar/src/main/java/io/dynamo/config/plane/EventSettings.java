package io.dynamo.config.plane;

import org.jspecify.annotations.Nullable;

/**
 * How events travel. Keys: {@code dynamo.event.*}.
 *
 * @param zmqBind IP literal that publishers bind
 * @param zmqHost the address that others connect to; null is {@code zmqBind}
 * @param queueCapacity events held per publisher and per subscription
 * @param queueBytes of their payloads, per publisher and per subscription
 * @param zmqHighWaterMark events that wait for one subscriber of a publisher
 * @param zmqMaxMessageBytes of one event on the wire
 * @param zmqBroker what events go through; null lets them go from publisher to subscriber
 */
public record EventSettings(
    Plane plane,
    String zmqBind,
    @Nullable String zmqHost,
    int queueCapacity,
    int queueBytes,
    int zmqHighWaterMark,
    int zmqMaxMessageBytes,
    @Nullable ZmqBroker zmqBroker) {
  /** The planes of this version. */
  public enum Plane {
    ZMQ,
    LOCAL
  }
}

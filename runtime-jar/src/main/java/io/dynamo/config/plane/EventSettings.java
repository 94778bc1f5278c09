package io.dynamo.config.plane;

import org.jspecify.annotations.Nullable;

/**
 * The settings of the event plane. Keys: {@code dynamo.event.*}.
 *
 * @param zmqBind IP literal that publishers bind
 * @param zmqHost the address that others connect to; null is {@code zmqBind}
 * @param queueCapacity queued events per publisher and per subscription
 * @param queueBytes bytes of their payloads, per publisher and per subscription
 * @param zmqHighWaterMark events that wait for one subscriber of a publisher
 * @param zmqMaxMessageBytes size of one event on the wire
 * @param zmqBroker brokers that events go through; null sends them directly from publisher to
 *     subscriber
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
    NATS,
    LOCAL
  }
}

package io.dynamo.discovery;

/**
 * The address under which the events of one publisher can be received.
 *
 * @param publisherId random, at most 2^53 - 1, the same in the envelope of each of its events
 */
public record EventChannel(
    EventScope scope, String topic, long publisherId, EventTransport transport)
    implements DiscoveryRecord {
  public static final String BUCKET = "v1/event_channels";

  @Override
  public String bucket() {
    return BUCKET;
  }

  @Override
  public String key() {
    return key(scope, topic, publisherId);
  }

  static String key(EventScope scope, String topic, long publisherId) {
    return scope.path()
        + "/topic/"
        + EventScope.segment(topic)
        + "/"
        + Long.toHexString(publisherId);
  }
}

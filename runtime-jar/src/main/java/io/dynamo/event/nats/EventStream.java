package io.dynamo.event.nats;

import io.dynamo.config.plane.NatsSettings.EventStorage;
import io.dynamo.event.EventHistory;
import io.dynamo.event.EventSubject;
import io.dynamo.event.StoredPosition;
import io.dynamo.nats.NatsLink;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.JetStreamOptions;
import io.nats.client.PurgeOptions;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.ConsumerInfo;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.RetentionPolicy;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The JetStream stream of one subject. It takes what is published on the subject of core NATS, so
 * that Dynamo's own publishers are stored as well. Each call waits for the server. Safe for
 * concurrent use.
 */
final class EventStream {
  static final JetStreamOptions OPTIONS =
      JetStreamOptions.builder().requestTimeout(Duration.ofSeconds(10)).build();

  /** How long a consumer whose process is gone holds up a purge. */
  private static final Duration INACTIVE = Duration.ofMinutes(5);

  /** How long the server waits for an acknowledgement before it delivers again. */
  private static final Duration ACK_WAIT = Duration.ofSeconds(30);

  private static final Duration REMEMBER = Duration.ofMinutes(2); // ids of messages
  private static final int MAX_UNACKNOWLEDGED = 1000;
  private static final int STREAM_NOT_FOUND = 10059;
  private static final int CONSUMER_NOT_FOUND = 10014;
  private static final int STREAM_NAME_IN_USE = 10058;
  private static final Pattern FAITHFUL = Pattern.compile("[a-z0-9.-]*");
  private static final Pattern NOT_IN_NAMES = Pattern.compile("[^a-z0-9-]");

  private final NatsLink link;
  private final EventSubject subject;
  private final EventStorage storage;
  private final String name;

  EventStream(NatsLink link, EventSubject subject, EventStorage storage) {
    this.link = link;
    this.subject = subject;
    this.storage = storage;
    this.name = nameOf(subject.text());
  }

  /** Names a stream or a bucket; names that differ only in what a slug loses get a checksum. */
  static String nameOf(String text) {
    var slug = NOT_IN_NAMES.matcher(text.toLowerCase(Locale.ROOT)).replaceAll("-");
    if (FAITHFUL.matcher(text).matches()) {
      return slug;
    }
    var sum = new CRC32();
    sum.update(text.getBytes(StandardCharsets.UTF_8));
    return "%s-%08x".formatted(slug, sum.getValue());
  }

  String name() {
    return name;
  }

  EventSubject subject() {
    return subject;
  }

  JetStreamManagement management() throws IOException {
    return link.connection().jetStreamManagement(OPTIONS);
  }

  /** Makes the stream if it is missing, with the settings of this process. */
  StreamInfo ensure() throws IOException {
    try {
      var known = find();
      return known == null ? create() : adapt(known);
    } catch (JetStreamApiException e) {
      throw refused("is not available", e);
    }
  }

  private @Nullable StreamInfo find() throws IOException, JetStreamApiException {
    try {
      return management().getStreamInfo(name);
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() == STREAM_NOT_FOUND) {
        return null;
      }
      throw e;
    }
  }

  private StreamInfo create() throws IOException, JetStreamApiException {
    var configuration =
        StreamConfiguration.builder()
            .name(name)
            .subjects(subject.text())
            .retentionPolicy(RetentionPolicy.Limits)
            .storageType(StorageType.File)
            .discardPolicy(DiscardPolicy.Old)
            .maxAge(storage.maxAge())
            .maxBytes(storage.maxBytes())
            .duplicateWindow(storage.maxAge().compareTo(REMEMBER) < 0 ? storage.maxAge() : REMEMBER)
            .build();
    try {
      return management().addStream(configuration);
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() == STREAM_NAME_IN_USE) { // another process with other settings
        return management().getStreamInfo(name);
      }
      throw e;
    }
  }

  private StreamInfo adapt(StreamInfo known) throws IOException, JetStreamApiException {
    var configuration = known.getConfiguration();
    if (!configuration.getSubjects().equals(List.of(subject.text()))) {
      throw new IOException(
          "stream %s is not for %s but for %s; delete it or rename one of them"
              .formatted(name, subject.text(), configuration.getSubjects()));
    }
    return configuration.getMaxAge().equals(storage.maxAge())
            && configuration.getMaxBytes() == storage.maxBytes()
        ? known
        : management()
            .updateStream(
                StreamConfiguration.builder(configuration)
                    .maxAge(storage.maxAge())
                    .maxBytes(storage.maxBytes())
                    .build());
  }

  private IOException refused(String what, JetStreamApiException cause) {
    return new IOException(
        "stream %s %s: %s".formatted(name, what, cause.getErrorDescription()), cause);
  }

  EventHistory.Span span() throws IOException {
    var known = ensure();
    var state = known.getStreamState();
    return new EventHistory.Span(
        lifeOf(known), state.getFirstSequence(), state.getLastSequence(), state.getMsgCount());
  }

  /**
   * Returns when the stream was made, in nanoseconds since 1970: a server keeps that across
   * restarts, and a stream of the same name that is made later has another.
   */
  private static long lifeOf(StreamInfo stream) {
    var made = stream.getCreateTime().toInstant();
    return TimeUnit.SECONDS.toNanos(made.getEpochSecond()) + made.getNano();
  }

  /** Makes the consumer anew: its next event is the first one after {@code position}. */
  ConsumerInfo startConsumer(String consumer, long position) throws IOException {
    deleteConsumer(consumer);
    try {
      return management()
          .createConsumer(
              name,
              ConsumerConfiguration.builder()
                  .durable(consumer)
                  .ackPolicy(AckPolicy.Explicit)
                  .ackWait(ACK_WAIT)
                  .maxAckPending(MAX_UNACKNOWLEDGED)
                  .deliverPolicy(DeliverPolicy.ByStartSequence)
                  .startSequence(position + 1)
                  .inactiveThreshold(INACTIVE)
                  .build());
    } catch (JetStreamApiException e) {
      throw refused("accepts no consumer", e);
    }
  }

  /** Returns how many events the consumer has not been given yet. */
  long pending(String consumer) throws IOException {
    try {
      return management().getConsumerInfo(name, consumer).getNumPending();
    } catch (JetStreamApiException e) {
      throw refused("has lost the consumer " + consumer, e);
    }
  }

  void deleteConsumer(String consumer) throws IOException {
    try {
      boolean _ = management().deleteConsumer(name, consumer);
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() != CONSUMER_NOT_FOUND && e.getApiErrorCode() != STREAM_NOT_FOUND) {
        throw refused("does not delete the consumer " + consumer, e);
      }
    }
  }

  /** Removes events up to {@code position} that every consumer has acknowledged. */
  long purge(StoredPosition position) throws IOException {
    if (span().life() != position.life()) {
      return 0;
    }
    try {
      long upTo = position.number();
      for (var consumer : management().getConsumers(name)) {
        upTo = Math.min(upTo, consumer.getAckFloor().getStreamSequence());
      }
      return upTo <= 0
          ? 0
          : management()
              .purgeStream(name, PurgeOptions.builder().sequence(upTo + 1).build())
              .getPurged();
    } catch (JetStreamApiException e) {
      throw refused("is not purged", e);
    }
  }

  void purgeAll() throws IOException {
    try {
      var _ = management().purgeStream(name);
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() != STREAM_NOT_FOUND) {
        throw refused("is not purged", e);
      }
    }
  }
}

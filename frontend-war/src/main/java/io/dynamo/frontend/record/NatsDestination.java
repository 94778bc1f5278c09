package io.dynamo.frontend.record;

import io.dynamo.config.plane.NatsSettings;
import io.dynamo.nats.NatsLink;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Publishes each record as a message. Connects with the first record, not at the start: a server
 * without NATS serves all the same.
 */
final class NatsDestination implements Destination {
  private static final Batch BATCH = new Batch(1 << 20, Duration.ZERO);
  private static final Duration CONNECT = Duration.ofSeconds(2);

  /** The time between attempts to connect, each of which leaves a warning in the log. */
  static final Duration PAUSE = Duration.ofSeconds(30);

  private final NatsSettings settings;
  private final String subject;
  private final Duration pause;
  private @Nullable NatsLink link; // of the sender's thread, as are the others
  private @Nullable IOException unreachable; // the latest attempt to connect
  private long nextAttempt;

  /**
   * @param pause after an attempt to connect that failed
   */
  NatsDestination(NatsSettings settings, String subject, Duration pause) {
    this.settings =
        new NatsSettings(
            settings.servers(), settings.identity(), settings.tls(), CONNECT, settings.storage());
    this.subject = subject;
    this.pause = pause;
  }

  @Override
  public Batch batch() {
    return BATCH;
  }

  @Override
  public byte[] entry(TraceRecord record, byte[] json) {
    return json;
  }

  @Override
  public int send(List<byte[]> entries) throws IOException {
    var open = link;
    if (open == null) {
      open = connect();
      link = open;
    }
    if (!open.isUp()) {
      throw new IOException("there is no connection to NATS");
    }
    int gone = 0;
    for (var entry : entries) {
      gone += open.publish(subject, entry) == NatsLink.Outcome.SENT ? 0 : 1;
    }
    // else a server that stalls would find them all in memory, and they would count as written
    return open.flush() ? gone : entries.size();
  }

  private NatsLink connect() throws IOException {
    if (unreachable != null && System.nanoTime() - nextAttempt < 0) {
      throw unreachable;
    }
    try {
      return NatsLink.open(settings, (_, _) -> () -> {}); // nobody asks about outages
    } catch (IllegalStateException e) {
      unreachable = new IOException(e.getMessage(), e);
      nextAttempt = System.nanoTime() + pause.toNanos();
      throw unreachable;
    }
  }

  @Override
  public void close() {
    var open = link;
    if (open != null) {
      boolean _ = open.flush();
      open.close();
    }
  }
}

package io.dynamo.event.nats;

import io.dynamo.nats.NatsLink;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.PublishOptions;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * Sends the events of one publisher to a stream, each until the server has confirmed that it is
 * stored: an event that was stored before its confirmation was lost is sent again under the same id
 * and stored once. For one thread at a time, which waits.
 */
final class StoredSending implements NatsPublisher.Sender {
  private static final System.Logger LOG = System.getLogger(StoredSending.class.getName());
  private static final long BETWEEN_ATTEMPTS_MILLIS = 250;

  private final NatsLink link;
  private final EventStream stream;
  private final String subject;
  private final String publisher;
  private boolean prepared; // whether the stream has been there
  private boolean failing;

  StoredSending(NatsLink link, EventStream stream, long publisherId) {
    this.link = link;
    this.stream = stream;
    this.subject = stream.subject().text();
    this.publisher = Long.toHexString(publisherId);
  }

  @Override
  public NatsLink.Outcome send(long sequence, byte[] envelope) {
    var options = PublishOptions.builder().messageId(publisher + "-" + sequence).build();
    while (link.isUp()) {
      try {
        if (!prepared) {
          var _ = stream.ensure();
          prepared = true;
        }
        var _ = jetStream().publish(subject, envelope, options);
        stored();
        return NatsLink.Outcome.SENT;
      } catch (IllegalArgumentException _) {
        return NatsLink.Outcome.TOO_LARGE;
      } catch (IOException | JetStreamApiException | IllegalStateException e) {
        prepared = false;
        if (Thread.currentThread().isInterrupted() || !rest(e)) {
          return NatsLink.Outcome.DOWN; // the plane is closing
        }
      }
    }
    return NatsLink.Outcome.DOWN;
  }

  private JetStream jetStream() throws IOException {
    return link.connection().jetStream(EventStream.OPTIONS);
  }

  private void stored() {
    if (failing) {
      failing = false;
      LOG.log(Level.INFO, "events of {0} are stored again", stream.subject());
    }
  }

  /** Waits a moment; returns false when interrupted. */
  private boolean rest(Exception why) {
    if (!failing && link.isUp()) {
      failing = true;
      LOG.log(
          Level.WARNING,
          "events of " + stream.subject() + " are not stored; they wait in the publisher's queue",
          why);
    }
    try {
      TimeUnit.MILLISECONDS.sleep(BETWEEN_ATTEMPTS_MILLIS);
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}

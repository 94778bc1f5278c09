package io.dynamo.worker;

import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.wire.event.EventEnvelope;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * An event plane that keeps all published messages; can be made to fail. Publishers' ids count up.
 * For one thread.
 */
public final class SentPlane implements EventPlane {
  public final List<EventSubject> subjects = new ArrayList<>();
  public final List<byte[]> sent = new ArrayList<>();
  public int closed;
  public boolean broken;

  private long nextId;

  public SentPlane() {
    this(1);
  }

  public SentPlane(long firstId) {
    this.nextId = firstId;
  }

  @Override
  public Publisher publisher(EventSubject subject) {
    subjects.add(subject);
    long id = nextId++;
    return new Publisher() {
      @Override
      public long id() {
        return id;
      }

      @Override
      public void publish(byte[] payload) {
        if (broken) {
          throw new IllegalStateException("broken");
        }
        sent.add(payload);
      }

      @Override
      public void close() {
        closed++;
      }
    };
  }

  @Override
  public Subscription subscribe(EventSubject subject, Consumer<EventEnvelope> listener) {
    throw new UnsupportedOperationException("publishes only");
  }

  @Override
  public void close() {}
}

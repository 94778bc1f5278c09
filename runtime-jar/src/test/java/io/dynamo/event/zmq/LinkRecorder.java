package io.dynamo.event.zmq;

import io.dynamo.event.LinkListener;
import io.dynamo.testing.Recorder;
import io.dynamo.wire.event.EventEnvelope;
import java.util.function.LongPredicate;

/** Hears of the way to publishers, and of their events, in order. */
final class LinkRecorder implements LinkListener {
  /** {@code publishers} is true of those meant. */
  private record News(String what, LongPredicate publishers) {}

  private final Recorder<News> news = new Recorder<>();

  @Override
  public void accept(EventEnvelope event) {
    news.accept(new News("event", publisher -> publisher == event.publisherId()));
  }

  @Override
  public void linked(LongPredicate publishers) {
    news.accept(new News("linked", publishers));
  }

  @Override
  public void cut(LongPredicate publishers) {
    news.accept(new News("cut", publishers));
  }

  /** The next event, which must be this publisher's; fails when none comes. */
  String next(long publisher) throws InterruptedException {
    var next = news.next();
    return next.publishers.test(publisher) ? next.what : next.what + " of another";
  }

  /** The next that is no event, as {@link #next}. */
  String nextButEvents(long publisher) throws InterruptedException {
    var next = next(publisher);
    while (next.startsWith("event")) {
      next = next(publisher);
    }
    return next;
  }
}

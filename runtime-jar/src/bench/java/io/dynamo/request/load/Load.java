package io.dynamo.request.load;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Calls that follow one another, a number of them open at any time. */
final class Load {
  interface Next {
    void ended(Throwable cause);
  }

  interface Call {
    void start(LongAdder items, Next next);
  }

  /**
   * Keeps {@code streams} calls open for a while; gives requests, items, failures and nanoseconds.
   */
  static String run(int streams, int millis, Call call) throws InterruptedException {
    var items = new LongAdder();
    var requests = new LongAdder();
    var failures = new AtomicInteger();
    var done = new CountDownLatch(streams);
    long start = System.nanoTime();
    long end = start + millis * 1_000_000L;
    for (int i = 0; i < streams; i++) {
      // a fresh thread for each turn would be ours, not the plane's: the next call starts where the
      // last one ended
      class Turn implements Next {
        private boolean starting;
        private boolean again;

        void go() {
          do {
            again = false;
            starting = true;
            call.start(items, this);
            starting = false;
          } while (again);
        }

        @Override
        public void ended(Throwable cause) {
          if (cause != null && failures.getAndIncrement() == 0) {
            System.err.println(cause);
          }
          requests.increment();
          if (System.nanoTime() >= end) {
            done.countDown();
          } else if (starting && Thread.currentThread() == owner) {
            again = true;
          } else {
            go();
          }
        }

        private final Thread owner = Thread.currentThread();
      }
      new Turn().go();
    }
    if (!done.await(millis + 60_000L, TimeUnit.MILLISECONDS)) {
      return "stuck " + done.getCount();
    }
    return "%d %d %d %d"
        .formatted(requests.sum(), items.sum(), failures.get(), System.nanoTime() - start);
  }
}

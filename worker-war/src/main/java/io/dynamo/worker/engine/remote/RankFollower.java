package io.dynamo.worker.engine.remote;

import io.dynamo.event.RawStreams;
import io.dynamo.event.zmq.ZmqReplay;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.wire.kv.EngineEventCodec;
import io.dynamo.worker.engine.remote.blocks.EngineBlocks;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Follows the KV events of one rank on a thread of its own. The stream's thread hands messages over
 * in a bounded queue; a message that finds it full is lost. Lost messages are requested again from
 * the publisher; where it no longer has them, the rank's blocks are cleared. They are cleared, too,
 * when the connection has been down for a while, as nobody says then which are left, and after a
 * new connection, whose engine may be another one; everything is requested again from that.
 */
final class RankFollower implements RawStreams.Listener, AutoCloseable {
  private static final System.Logger LOG = System.getLogger(RankFollower.class.getName());
  private static final int MAX_QUEUED = 1024;
  private static final int MAX_FRAME_BYTES = 32 << 20;
  private static final long MAX_QUEUED_BYTES = 2L * MAX_FRAME_BYTES;
  private static final Duration REPLAY = Duration.ofSeconds(10);
  private static final Duration JOIN = Duration.ofSeconds(5);
  private static final long UNKNOWN = -1; // the first message says where the stream is

  /**
   * A message of the publisher; without a payload it only wakes the thread.
   *
   * @param link the number of the connection that it came by
   */
  private record Message(int link, long sequence, byte @Nullable [] payload) {}

  private final int rank;
  private final KvEventEndpoint endpoint;
  private final EngineBlocks blocks;
  private final Counter dropped;
  private final ArrayBlockingQueue<Message> queue = new ArrayBlockingQueue<>(MAX_QUEUED);
  private final AtomicLong queuedBytes = new AtomicLong();
  private final AtomicInteger links = new AtomicInteger(); // connections and cuts so far
  private final Thread thread;
  private volatile boolean down; // whether the latest of links is a cut
  private int link; // the connection whose messages are applied; of the follower's thread
  private long next = UNKNOWN; // of the follower's thread

  RankFollower(int rank, KvEventEndpoint endpoint, EngineBlocks blocks, Counter dropped) {
    this.rank = rank;
    this.endpoint = endpoint;
    this.blocks = blocks;
    this.dropped = dropped;
    this.thread = Thread.ofVirtual().name("kv-events-" + rank).unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  @Override
  public void message(byte[][] frames) throws IOException {
    var sequence = frames[1];
    if (sequence.length != Long.BYTES) {
      throw new IOException("a sequence of %d bytes".formatted(sequence.length));
    }
    int bytes = frames[2].length;
    if (queuedBytes.addAndGet(bytes) > MAX_QUEUED_BYTES
        || !queue.offer(new Message(links.get(), ByteBuffer.wrap(sequence).getLong(), frames[2]))) {
      queuedBytes.addAndGet(-bytes);
      throw new IOException("its follower is too slow");
    }
  }

  @Override
  public void up() {
    down = false;
    beginAnew();
  }

  private void beginAnew() {
    int newest = links.incrementAndGet();
    var _ = queue.offer(new Message(newest, UNKNOWN, null)); // a full queue wakes the thread, too
  }

  @Override
  public void cut() {
    LOG.log(
        Level.WARNING,
        "the KV events of rank {0} at {1} are cut off; its blocks are forgotten",
        rank,
        endpoint.events());
    down = true;
    beginAnew();
  }

  private void run() {
    try {
      while (true) {
        follow(queue.take());
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt(); // closed: the thread ends
    }
  }

  private void follow(Message message) {
    var payload = message.payload();
    if (payload != null) {
      queuedBytes.addAndGet(-payload.length);
    }
    try {
      int newest = links.get();
      if (link != newest) {
        link = newest;
        blocks.forget();
        next = endpoint.replay() == null || down ? UNKNOWN : 0;
        if (next == 0) {
          fill();
        }
      }
      if (payload != null && message.link() == link) { // not of an engine that is gone
        take(message.sequence(), payload);
      }
    } catch (RuntimeException e) {
      dropped.add(1);
      LOG.log(
          Level.WARNING,
          "KV events of rank " + rank + " at " + endpoint.events() + " cannot be followed",
          e);
      blocks.forget();
      next = UNKNOWN;
    }
  }

  private void take(long sequence, byte[] payload) {
    if (next == UNKNOWN) {
      next = sequence;
    }
    if (sequence > next && endpoint.replay() != null) {
      fill();
    }
    advance(sequence, payload);
  }

  /** Applies a message, unless it was applied before. */
  private void advance(long sequence, byte[] payload) {
    if (sequence < next) {
      return;
    }
    if (sequence > next && blocks.forget()) {
      LOG.log(
          Level.WARNING,
          "{0} messages of KV events of rank {1} at {2} are lost; its blocks are forgotten",
          sequence - next,
          rank,
          endpoint.events());
    }
    next = sequence + 1;
    try {
      EngineEventCodec.decode(payload).forEach(blocks::apply);
    } catch (IllegalArgumentException e) {
      dropped.add(1);
      LOG.log(
          Level.WARNING,
          "a message of KV events of rank {0} at {1} is not understood, its blocks are forgotten:"
              + " {2}",
          rank,
          endpoint.events(),
          e.getMessage());
      blocks.forget();
    }
  }

  /** Asks for the messages from the next one on. */
  private void fill() {
    var replay = endpoint.replay();
    if (replay == null) {
      return;
    }
    try {
      ZmqReplay.request(replay, next, MAX_FRAME_BYTES, REPLAY, this::advance);
    } catch (IOException e) {
      if (thread.isInterrupted()) {
        return; // closed
      }
      LOG.log(
          Level.WARNING,
          "KV events of rank {0} from {1} on are not repeated by {2}: {3}",
          rank,
          next,
          replay,
          e.toString());
    }
  }

  /** Ends the thread; reports nothing after it returns, unless the thread hangs. Idempotent. */
  @Override
  public void close() {
    thread.interrupt();
    try {
      if (thread.getState() != Thread.State.NEW && !thread.join(JOIN)) {
        LOG.log(Level.WARNING, "the follower of {0} still runs after {1}", endpoint.events(), JOIN);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

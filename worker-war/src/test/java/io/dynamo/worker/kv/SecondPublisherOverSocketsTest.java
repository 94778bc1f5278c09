package io.dynamo.worker.kv;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.plane.EventSettings;
import io.dynamo.event.zmq.ZmqRawStreams;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.zmtp.ZmtpLimits;
import io.dynamo.pipeline.zmtp.ZmtpPublisher;
import io.dynamo.token.BlockHasher;
import io.dynamo.wire.WireWriter;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.KvEventEndpoint;
import io.dynamo.worker.engine.remote.RemoteEvents;
import io.dynamo.worker.engine.remote.ZmqKvEvents;
import io.dynamo.worker.engine.remote.blocks.MergedBlocks;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Merges what an engine and a manager of lower tiers publish, each on a ZeroMQ socket of its own,
 * up to a router's index.
 */
class SecondPublisherOverSocketsTest {
  private static final WorkerRank RANK = new WorkerRank(Fleet.WORKER, 0);
  private static final int BLOCK = 4;
  private static final int[] TOKENS = IntStream.range(0, 3 * BLOCK).toArray();
  private static final long[] PROMPT = contents(TOKENS);
  private static final int TRIES = 400;
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final Fleet fleet = new Fleet(1);
  private final ZmqRawStreams streams =
      new ZmqRawStreams(
          new EventSettings(
              EventSettings.Plane.LOCAL, "127.0.0.1", null, 1000, 1 << 20, 1000, 1 << 20, null),
          SharedLoops.LOOPS);
  private final Publisher engine = new Publisher();
  private final Publisher manager = new Publisher();
  private final List<RemoteEvents.RemoteEventSubscription> followed = new ArrayList<>();
  private final Counter dropped = fleet.metrics.counter(WorkerMetrics.KV_EVENTS_DROPPED);
  private int markers;

  private static long[] contents(int[] tokens) {
    var hashes = BlockHasher.of(BLOCK).hash(tokens);
    return IntStream.range(0, hashes.length()).mapToLong(hashes::block).toArray();
  }

  /** A PUB socket that numbers its messages. */
  private final class Publisher {
    private final ZmtpPublisher socket =
        ZmtpPublisher.bound(
            SharedLoops.LOOPS,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            new ZmtpLimits(1 << 10, 1000, 1 << 20),
            () -> {});
    private long next;

    KvEventEndpoint endpoint() {
      return new KvEventEndpoint("tcp://127.0.0.1:" + socket.address().getPort(), null);
    }

    void send(byte[] payload) {
      socket.write(new byte[0], ByteBuffer.allocate(8).putLong(next++).array(), payload);
      socket.flush();
    }

    /** Stores a block of its own; returns its content. */
    long mark() {
      int[] tokens = {1000 + markers++, 1, 2, 3};
      send(stored("GPU", null, tokens, 1_000_000 + markers));
      return contents(tokens)[0];
    }

    /** Waits until all that was sent has arrived, if the socket is connected by then. */
    void settle() throws InterruptedException {
      for (int i = 0; i < TRIES; i++) {
        long mark = mark();
        if (fleet.index.await(() -> fleet.index.held(RANK, mark) == 1, PAUSE)) {
          return;
        }
      }
      throw new AssertionError("nothing arrives");
    }
  }

  /** Returns a batch of one event. */
  private static byte[] batch(WireWriter.Shape<String> event, String type) {
    return WireWriter.write(
        type,
        PayloadFormat.MSGPACK,
        (out, name) -> {
          out.beginArray(3);
          out.float64(0.5);
          out.beginArray(1);
          event.write(out, name);
          out.endArray();
          out.integer(0);
          out.endArray();
        });
  }

  private static byte[] stored(String medium, @Nullable Long parent, int[] tokens, long... hashes) {
    return batch(
        (out, type) -> {
          out.beginMap(6);
          out.key("type");
          out.string(type);
          out.key("block_hashes");
          longs(out, hashes);
          out.key("parent_block_hash");
          if (parent == null) {
            out.nil();
          } else {
            out.integer(parent);
          }
          out.key("token_ids");
          out.ints(tokens);
          out.key("block_size");
          out.integer(BLOCK);
          out.key("medium");
          out.string(medium);
          out.endMap();
        },
        "BlockStored");
  }

  private static byte[] removed(String medium, long... hashes) {
    return batch(
        (out, type) -> {
          out.beginArray(3);
          out.string(type);
          longs(out, hashes);
          out.string(medium);
          out.endArray();
        },
        "BlockRemoved");
  }

  private static void longs(WireWriter out, long[] values) throws IOException {
    out.beginArray(values.length);
    for (long value : values) {
      out.integer(value);
    }
    out.endArray();
  }

  @BeforeEach
  void follow() throws InterruptedException {
    var worker = fleet.tell(1);
    fleet.register();
    fleet.follow();
    var merged = MergedBlocks.of(0, BLOCK, 100, worker.events);
    var events = new ZmqKvEvents(streams, dropped);
    followed.add(events.follow(List.of(engine.endpoint()), _ -> merged.newEngine()));
    engine.settle();
    followed.add(events.follow(List.of(manager.endpoint()), _ -> merged.newManager()));
    manager.settle();
  }

  @AfterEach
  void close() {
    followed.forEach(RemoteEvents.RemoteEventSubscription::close);
    streams.close();
    engine.socket.close();
    manager.socket.close();
    fleet.close();
  }

  private void await(BooleanSupplier condition) throws InterruptedException {
    for (int i = 0; i < TRIES; i++) {
      if (fleet.index.await(condition, PAUSE)) {
        return;
      }
      engine.mark(); // the router may have missed the last event
    }
    throw new AssertionError("it has not come true");
  }

  private int onDevice() {
    return fleet.index.held(RANK, PROMPT);
  }

  private List<Integer> below() {
    return fleet.index.below(RANK, PROMPT);
  }

  @Test
  void aBlockIsHeldAsLongAsEitherPublisherHoldsIt() throws InterruptedException {
    engine.send(stored("GPU", null, TOKENS, 1, 2, 3));
    await(() -> onDevice() == 3);
    manager.send(stored("GPU", null, TOKENS, 71, 72, 73));
    manager.settle();
    engine.send(removed("GPU", 3, 2, 1));
    engine.settle();
    assertThat(onDevice()).as("held by the manager").isEqualTo(3);

    manager.send(stored("CPU", null, new int[0], 71, 72));
    manager.send(removed("GPU", 73, 72, 71));
    await(() -> onDevice() == 0 && below().equals(List.of(2, 0)));
    engine.send(stored("GPU", null, new int[] {0, 1, 2, 3}, 1));
    await(() -> onDevice() == 1 && below().equals(List.of(1, 0)));
  }

  @Test
  void aPublisherThatLosesMessagesOrSendsNonsenseLosesItsOwnBlocksAlone()
      throws InterruptedException {
    engine.send(stored("GPU", null, new int[] {0, 1, 2, 3}, 1));
    await(() -> onDevice() == 1);
    manager.send(stored("CPU", 1L, new int[] {4, 5, 6, 7}, 72)); // behind the engine's block
    await(() -> below().equals(List.of(1, 0)));

    manager.next++; // a message is lost
    manager.settle();
    await(() -> below().equals(List.of(0, 0)));
    assertThat(onDevice()).isEqualTo(1);

    manager.send(stored("CPU", 1L, new int[] {4, 5, 6, 7}, 72));
    await(() -> below().equals(List.of(1, 0)));
    manager.send(new byte[] {1});
    await(() -> below().equals(List.of(0, 0)));
    assertThat(onDevice()).isEqualTo(1);
    assertThat(dropped.value()).isEqualTo(1);
    manager.send(stored("CPU", 1L, new int[] {4, 5, 6, 7}, 72));
    await(() -> below().equals(List.of(1, 0)));

    engine.next++;
    engine.settle();
    await(() -> onDevice() == 0);
    manager.send(stored("CPU", null, new int[] {0, 1, 2, 3}, 71));
    await(() -> below().equals(List.of(2, 0)));
  }

  @Test
  void aPublisherThatEndsLosesItsOwnBlocks() throws InterruptedException {
    engine.send(stored("GPU", null, new int[] {0, 1, 2, 3}, 1));
    await(() -> onDevice() == 1);
    manager.send(stored("CPU", 1L, new int[] {4, 5, 6, 7}, 72));
    await(() -> below().equals(List.of(1, 0)));

    manager.socket.close();
    await(() -> below().equals(List.of(0, 0)));
    assertThat(onDevice()).isEqualTo(1);
  }
}

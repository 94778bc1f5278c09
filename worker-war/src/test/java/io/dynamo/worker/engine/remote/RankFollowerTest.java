package io.dynamo.worker.engine.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.kv.StoredBlock;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.remote.blocks.EngineBlocks;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Follows recorded messages, with a publisher that repeats what a test lets it keep. */
class RankFollowerTest {
  private static final int BLOCK = 32;
  private static final byte[] TOPIC = {'k'};

  private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
  private final KvEventSink sink =
      new KvEventSink() {
        @Override
        public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
          heard.add("stored " + blocks.size());
        }

        @Override
        public void removed(int rank, List<SequenceHash> blocks) {
          heard.add("removed " + blocks.size());
        }

        @Override
        public void cleared(int rank) {
          heard.add("cleared");
        }
      };
  private final Metrics.Counter dropped = new Metrics().counter(WorkerMetrics.KV_EVENTS_DROPPED);
  private Repeater repeater;
  private @Nullable RankFollower follower;

  /** A ROUTER socket that repeats messages from the requested one on. */
  private static final class Repeater implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    private final BlockingQueue<Long> requests = new LinkedBlockingQueue<>();
    volatile long firstKept;
    volatile long afterLast;

    Repeater() throws IOException {
      Thread.ofVirtual().start(this::serve);
    }

    String address() {
      return "tcp://127.0.0.1:" + server.getLocalPort();
    }

    private void serve() {
      while (!server.isClosed()) {
        try (var socket = server.accept()) {
          var in = new DataInputStream(socket.getInputStream());
          var out = socket.getOutputStream();
          var greeting = in.readNBytes(64);
          out.write(greeting); // the same version and mechanism
          out.write(new byte[] {4, 6, 5, 'R', 'E', 'A', 'D', 'Y'});
          frame(in); // its READY
          frame(in); // the empty frame
          long from = ByteBuffer.wrap(frame(in)).getLong();
          requests.add(from);
          for (long i = Math.max(from, firstKept); i < afterLast; i++) {
            message(out, i, payload((int) i));
          }
          message(out, -1, new byte[0]);
          in.read(); // until the requester has gone
        } catch (IOException e) {
          // the requester has gone
        }
      }
    }

    private static byte[] frame(DataInputStream in) throws IOException {
      in.readByte();
      return in.readNBytes(in.readUnsignedByte());
    }

    private static void message(java.io.OutputStream out, long sequence, byte[] payload)
        throws IOException {
      var bytes = ByteBuffer.allocate(2 + 2 + TOPIC.length + 2 + 8 + 9 + payload.length);
      bytes.put((byte) 1).put((byte) 0);
      bytes.put((byte) 1).put((byte) TOPIC.length).put(TOPIC);
      bytes.put((byte) 1).put((byte) 8).putLong(sequence);
      bytes.put((byte) 2).putLong(payload.length).put(payload);
      out.write(bytes.array());
      out.flush();
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }

  /** Returns the recorded payload that stands for the message {@code sequence}. */
  private static byte[] payload(int sequence) {
    return Recording.file("vllm-0.32.0/kv-events/%03d.frame2.bin".formatted(sequence));
  }

  @BeforeEach
  void serve() throws IOException {
    repeater = new Repeater();
  }

  @AfterEach
  void stop() throws IOException {
    if (follower != null) {
      follower.close();
    }
    repeater.close();
  }

  private RankFollower follow(@Nullable String replay) {
    var made =
        new RankFollower(
            0,
            new KvEventEndpoint("tcp://127.0.0.1:1", replay),
            EngineBlocks.of(0, BLOCK, 100, sink),
            dropped);
    follower = made;
    made.start();
    made.up();
    return made;
  }

  private static byte[][] message(long sequence) {
    return new byte[][] {
      TOPIC, ByteBuffer.allocate(8).putLong(sequence).array(), payload((int) sequence)
    };
  }

  private void assertHeard(String... expected) throws InterruptedException {
    for (var one : expected) {
      assertThat(heard.poll(10, TimeUnit.SECONDS)).isEqualTo(one);
    }
  }

  @Test
  void keptEventsAreRequestedAtTheStart() throws Exception {
    repeater.afterLast = 2;
    var from = follow(repeater.address());
    assertHeard("stored 3", "stored 1");
    from.message(message(1)); // was repeated already
    from.message(message(2));
    from.message(message(3));
    assertHeard("stored 1", "stored 3");
    assertThat(heard).isEmpty();
    assertThat(repeater.requests).containsExactly(0L);
  }

  @Test
  void missingMessagesAreAskedForAgain() throws Exception {
    var from = follow(repeater.address());
    from.message(message(0));
    assertHeard("stored 3");
    repeater.afterLast = 4;
    from.message(message(3)); // 1 and 2 are missing
    assertHeard("stored 1", "stored 1", "stored 3");
    from.message(message(4));
    assertHeard("stored 1");
    assertThat(repeater.requests).containsExactly(0L, 1L);
  }

  @Test
  void eventsNoLongerKeptClearTheRank() throws Exception {
    var from = follow(repeater.address());
    from.message(message(0));
    assertHeard("stored 3");
    repeater.firstKept = 2;
    repeater.afterLast = 4;
    from.message(message(3));
    assertHeard("cleared", "stored 1", "stored 3");
  }

  @Test
  void aGapClearsTheRankWhereNothingIsRepeated() throws Exception {
    var from = follow(null);
    from.message(message(5)); // the stream is under way
    assertHeard("stored 1");
    from.message(message(7));
    assertHeard("cleared", "stored 1");
  }

  @Test
  void aPublisherThatDoesNotAnswerClearsTheRankToo() throws Exception {
    var from = follow("tcp://127.0.0.1:1");
    from.message(message(0));
    assertHeard("stored 3");
    from.message(message(2));
    assertHeard("cleared", "stored 1");
  }

  @Test
  void aNewConnectionBeginsAnew() throws Exception {
    repeater.afterLast = 2;
    var from = follow(repeater.address());
    assertHeard("stored 3", "stored 1");
    repeater.afterLast = 1; // the engine was started again
    from.up();
    assertHeard("cleared", "stored 3");
    from.message(message(1));
    assertHeard("stored 1");
  }

  @Test
  void aConnectionThatIsCutClearsTheRankUntilTheNextOne() throws Exception {
    repeater.afterLast = 2;
    var from = follow(repeater.address());
    assertHeard("stored 3", "stored 1");
    from.cut();
    assertHeard("cleared");
    from.up();
    assertHeard("stored 3", "stored 1");
    assertThat(heard).isEmpty();
    assertThat(repeater.requests).as("nothing while it is cut").containsExactly(0L, 0L);
  }

  @Test
  void numbersThatBeginWithOneLoseNothing() throws Exception {
    repeater.firstKept = 1; // as SGLang's
    repeater.afterLast = 2;
    var from = follow(repeater.address());
    assertHeard("stored 1");
    from.message(message(2));
    assertHeard("stored 1");
    assertThat(repeater.requests).containsExactly(0L);
  }

  @Test
  void nothingIsReportedAfterTheClose() throws Exception {
    var from = follow(null);
    from.message(message(0));
    assertHeard("stored 3");
    from.close();
    from.message(message(1));
    assertThat(heard).isEmpty();
  }

  @Test
  void aMessageThatIsNotUnderstoodClearsTheRank() throws Exception {
    var from = follow(null);
    from.message(message(0));
    assertHeard("stored 3");
    var broken = message(1);
    broken[2] = new byte[] {1};
    from.message(broken);
    assertHeard("cleared");
    from.message(message(2));
    assertHeard("stored 1");
  }
}

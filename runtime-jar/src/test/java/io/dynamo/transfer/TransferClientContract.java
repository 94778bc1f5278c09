package io.dynamo.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.transfer.HostMemory.Region;
import io.dynamo.transfer.TransferClient.Priority;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The tests that every {@link TransferClient} passes, beside those of every transfer
 * (TransferContractTest).
 */
public abstract class TransferClientContract {
  private static final int SIZE = 1 << 16;

  private HostMemory memory;
  private TransferClient client;
  private Region source;
  private Region target;

  protected abstract HostMemory newMemory();

  @BeforeEach
  void open() {
    memory = newMemory();
    client = memory.transfers();
    source = memory.allocate(SIZE);
    target = memory.allocate(SIZE);
  }

  @AfterEach
  void close() {
    memory.close();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  private Transfer copy(CopyBatch batch) {
    return client.copy(source, target, batch, Priority.ONBOARD, soon());
  }

  private static byte[] bytes(Region region) {
    var all = ByteBuffer.allocate((int) region.byteSize());
    region.read(0, all);
    return all.array();
  }

  @Test
  void batchesAreCountedByTheirEnds() throws Exception {
    var data = new byte[SIZE];
    new Random(1).nextBytes(data);
    source.write(0, ByteBuffer.wrap(data));
    assertThat(copy(new CopyBatch().add(0, 1, 10).add(5, 20, 7)).await(soon())).isEqualTo(17);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> copy(new CopyBatch().add(0, 0, 10).add(5, 9, 10)).await(soon()))
        .withMessageContaining("overlap");
    assertThat(client.counts()).isEqualTo(new TransferClient.Counts(1, 1, 17));
  }

  @Test
  void batchesLargerThanASliceArriveWhole() throws Exception {
    int size = 5 << 20;
    try (var from = memory.allocate(size);
        var to = memory.allocate(size)) {
      var data = new byte[size];
      new Random(4).nextBytes(data);
      from.write(0, ByteBuffer.wrap(data));
      var batch = new CopyBatch().add(3, 1, size - 3);
      assertThat(client.copy(from, to, batch, Priority.OFFLOAD, soon()).await(soon()))
          .isEqualTo(size - 3);
      assertThat(Arrays.copyOfRange(bytes(to), 1, size - 2))
          .isEqualTo(Arrays.copyOfRange(data, 3, size));
    }
  }

  /** More ranges than fit into a ring at once. */
  @Test
  void batchesOfVeryManyRangesArriveWhole() throws Exception {
    int count = 50_000;
    try (var from = memory.allocate(2L * count);
        var to = memory.allocate(2L * count)) {
      var data = new byte[2 * count];
      new Random(5).nextBytes(data);
      from.write(0, ByteBuffer.wrap(data));
      var batch = new CopyBatch();
      var expected = new byte[2 * count];
      for (int i = 0; i < count; i++) {
        batch.add(2L * i, 2L * (count - 1 - i), 1);
        expected[2 * (count - 1 - i)] = data[2 * i];
      }
      assertThat(client.copy(from, to, batch, Priority.ONBOARD, soon()).await(soon()))
          .isEqualTo(count);
      assertThat(bytes(to)).isEqualTo(expected);
      to.write(0, ByteBuffer.wrap(new byte[2 * count]));
      var leaving = batch.part(0, count).add(0, 2L * count, 1);
      assertThatExceptionOfType(IndexOutOfBoundsException.class)
          .isThrownBy(() -> client.copy(from, to, leaving, Priority.ONBOARD, soon()).await(soon()))
          .withMessageContaining("range 50000");
      var twice = batch.part(0, count).add(0, 0, 1);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> client.copy(from, to, twice, Priority.ONBOARD, soon()).await(soon()));
      var late = Deadline.after(Duration.ofSeconds(-1));
      assertThatExceptionOfType(DeadlineExceededException.class)
          .isThrownBy(() -> client.copy(from, to, batch, Priority.ONBOARD, late).await(soon()));
      assertThat(bytes(to)).containsOnly(0);
      var given = client.copy(from, to, batch, Priority.OFFLOAD, soon());
      given.cancel();
      try {
        assertThat(given.await(soon())).isEqualTo(count);
      } catch (CancelledException expectedEnd) {
        assertThat(expectedEnd).hasMessageContaining("cancelled");
      }
    }
  }

  @Test
  void aRangeThatLeavesItsRegionMovesNothing() {
    source.write(0, ByteBuffer.wrap(new byte[] {1}));
    for (var bad :
        new long[][] {
          {SIZE, 0, 1},
          {0, SIZE, 1},
          {-1, 0, 1},
          {0, -1, 1},
          {0, 0, -1},
          {1, 0, SIZE},
          {Long.MAX_VALUE, 0, 1},
          {0, 1, Long.MAX_VALUE}
        }) {
      var batch = new CopyBatch().add(0, 0, 1).add(bad[0], bad[1], bad[2]);
      assertThatExceptionOfType(IndexOutOfBoundsException.class)
          .isThrownBy(() -> copy(batch).await(soon()))
          .withMessageContaining("range 1");
    }
    assertThat(bytes(target)).containsOnly(0);
  }

  @Test
  void rangesWithinOneRegionMustNotOverlap() throws Exception {
    var overlapping = new CopyBatch().add(0, 5, 10);
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> client.copy(source, source, overlapping, Priority.ONBOARD, soon()).await(soon()));
    var apart = new CopyBatch().add(0, 10, 10);
    assertThat(client.copy(source, source, apart, Priority.ONBOARD, soon()).await(soon()))
        .isEqualTo(10);
  }

  @Test
  void anEmptyBatchCompletes() throws Exception {
    assertThat(copy(new CopyBatch()).await(soon())).isZero();
    assertThat(copy(new CopyBatch().add(0, 0, 0)).await(soon())).isZero();
  }

  @Test
  void closedRegionsAreRefused() {
    target.close();
    assertThatIllegalStateException()
        .isThrownBy(() -> copy(new CopyBatch().add(0, 0, 1)).await(soon()));
  }

  @Test
  void regionsOfAnotherMemoryAreRefused() {
    try (var other = newMemory();
        var foreign = other.allocate(16)) {
      var batch = new CopyBatch().add(0, 0, 1);
      assertThatIllegalArgumentException()
          .isThrownBy(
              () -> client.copy(source, foreign, batch, Priority.ONBOARD, soon()).await(soon()));
    }
  }

  @Test
  void aBatchWhoseDeadlineHasPassedMovesNothing() {
    source.write(0, ByteBuffer.wrap(new byte[] {1}));
    var late = Deadline.after(Duration.ofSeconds(-1));
    var batch = new CopyBatch().add(0, 0, 1);
    assertThatExceptionOfType(DeadlineExceededException.class)
        .isThrownBy(() -> client.copy(source, target, batch, Priority.ONBOARD, late).await(soon()));
    assertThat(bytes(target)).containsOnly(0);
  }

  /** A cancelled batch ends exactly once, at every stage that the cancel reaches it. */
  @Test
  void cancelledBatchesEnd() throws Exception {
    int size = 8 << 20;
    try (var from = memory.allocate(size);
        var to = memory.allocate(size)) {
      for (int round = 0; round < 50; round++) {
        var batch = new CopyBatch().add(0, 0, size);
        var running = client.copy(from, to, batch, Priority.OFFLOAD, soon());
        var waiting = client.copy(from, to, batch, Priority.OFFLOAD, soon());
        waiting.cancel();
        running.cancel();
        for (var one : new Transfer[] {running, waiting}) {
          try {
            assertThat(one.await(soon())).isEqualTo(size);
          } catch (CancelledException expected) {
            assertThat(expected).hasMessageContaining("cancelled");
          }
          one.cancel(); // too late: of no effect
        }
      }
    }
  }

  @Test
  void aRegionClosedMeanwhileKeepsItsBytesUntilTheEnd() throws Exception {
    int size = 8 << 20;
    for (int round = 0; round < 20; round++) {
      var from = memory.allocate(size);
      var to = memory.allocate(size);
      var transfer =
          client.copy(from, to, new CopyBatch().add(0, 0, size), Priority.OFFLOAD, soon());
      from.close();
      to.close();
      try {
        assertThat(transfer.await(soon())).isEqualTo(size);
      } catch (IllegalStateException closedBefore) {
        assertThat(closedBefore).hasMessageContaining("closed");
      }
    }
  }

  @Test
  void closingEndsEveryBatch() throws Exception {
    var all = new ArrayList<Transfer>();
    for (int i = 0; i < 500; i++) {
      all.add(copy(new CopyBatch().add(0, 0, SIZE)));
    }
    client.close();
    for (var one : all) {
      try {
        assertThat(one.await(soon())).isEqualTo(SIZE);
      } catch (CancelledException expected) {
        assertThat(expected).hasMessageContaining("cancelled");
      }
    }
    assertThatIllegalStateException().isThrownBy(() -> copy(new CopyBatch()));
    client.close();
  }

  @Test
  void manyThreadsSubmitAtOnce() throws Exception {
    int threads = 4;
    int each = 500;
    var data = new byte[SIZE];
    new Random(9).nextBytes(data);
    source.write(0, ByteBuffer.wrap(data));
    int share = SIZE / threads;
    try (var pool = Executors.newFixedThreadPool(threads)) {
      var done = new ArrayList<Future<Long>>();
      for (int t = 0; t < threads; t++) {
        int base = t * share;
        Callable<Long> work =
            () -> {
              long moved = 0;
              for (int i = 0; i < each; i++) {
                var batch = new CopyBatch().add(base, base, share);
                moved +=
                    client
                        .copy(
                            source,
                            target,
                            batch,
                            i % 2 == 0 ? Priority.ONBOARD : Priority.OFFLOAD,
                            soon())
                        .await(soon());
              }
              return moved;
            };
        done.add(pool.submit(work));
      }
      for (var one : done) {
        assertThat(one.get(60, TimeUnit.SECONDS)).isEqualTo((long) each * share);
      }
    }
    assertThat(bytes(target)).isEqualTo(data);
    assertThat(client.counts().bytes()).isEqualTo((long) threads * each * share);
  }
}

package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.natives.NativeTransfer;
import io.dynamo.transfer.CopyBatch;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.Transfer;
import io.dynamo.transfer.TransferBusyException;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.TransferClientContract;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

/** Runs the contract on the thread of the native library. */
class NativeTransferClientTest extends TransferClientContract {
  @Override
  protected HostMemory newMemory() {
    return new NativeHostMemory();
  }

  private static Deadline soon() {
    return Deadline.after(Duration.ofSeconds(20));
  }

  @Test
  void moreBatchesThanThereIsRoomForAreRefusedAndTheRestEnds() throws Exception {
    int size = 1 << 20;
    try (var memory = new NativeHostMemory()) {
      var client = memory.transfers();
      var region = memory.allocate(2L * size);
      var accepted = new ArrayList<Transfer>();
      int refused = 0;
      for (int i = 0; i < 2 * client.capacity(); i++) {
        try {
          accepted.add(
              client.copy(
                  region,
                  region,
                  new CopyBatch().add(0, size, size),
                  Priority.OFFLOAD,
                  Deadline.after(Duration.ofMinutes(2))));
        } catch (TransferBusyException full) {
          assertThat(full).hasMessageContaining("4096");
          refused++;
        }
      }
      assertThat(refused).isPositive();
      for (var one : accepted) {
        assertThat(one.await(Deadline.after(Duration.ofMinutes(2)))).isEqualTo(size);
      }
    }
  }

  @Test
  void closingFreesAllBytes() throws Exception {
    long before = NativeTransfer.heldBytes();
    for (int round = 0; round < 20; round++) {
      try (var memory = new NativeHostMemory()) {
        var region = memory.allocate(4 << 20);
        var batch = new CopyBatch().add(0, 2 << 20, 2 << 20);
        memory.transfers().copy(region, region, batch, Priority.OFFLOAD, soon());
      }
    }
    assertThat(NativeTransfer.heldBytes()).isEqualTo(before);
  }
}

package io.dynamo.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Deadline;
import io.dynamo.transfer.TransferClient.Priority;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Runs the contract on the thread without native code. */
class JavaTransferClientTest extends TransferClientContract {
  @Override
  protected HostMemory newMemory() {
    return new JavaHostMemory();
  }

  /** Copies like another memory, but fails with an error of the JVM while a test asks for it. */
  private record FailingMemory(HostMemory memory, AtomicBoolean failing) implements HostMemory {
    @Override
    public String kind() {
      return memory.kind();
    }

    @Override
    public Region allocate(long byteSize) {
      return memory.allocate(byteSize);
    }

    @Override
    public Region allocateShared(long byteSize) {
      return memory.allocateShared(byteSize);
    }

    @Override
    public Region allocatePinned(long byteSize) {
      return memory.allocatePinned(byteSize);
    }

    @Override
    public void copy(Region source, Region target, CopyBatch batch) {
      if (failing.get()) {
        throw new InternalError("a page is gone");
      }
      memory.copy(source, target, batch);
    }

    @Override
    public TransferClient transfers() {
      return memory.transfers();
    }

    @Override
    public void close() {
      memory.close();
    }
  }

  @Test
  void anErrorOfTheJvmEndsItsBatchAndNoOther() throws Exception {
    var failing = new AtomicBoolean(true);
    try (var memory = new FailingMemory(new JavaHostMemory(), failing);
        var client = new JavaTransferClient(memory)) {
      var region = memory.allocate(2);
      var batch = new CopyBatch().add(0, 1, 1);
      var soon = Deadline.after(Duration.ofSeconds(20));
      var broken = client.copy(region, region, batch, Priority.ONBOARD, soon);
      assertThatExceptionOfType(TransferFailedException.class)
          .isThrownBy(() -> broken.await(soon))
          .withMessageContaining("a page is gone")
          .satisfies(failure -> assertThat(failure.reason()).isEqualTo(Reason.BACKEND));
      failing.set(false);
      var whole = client.copy(region, region, batch, Priority.ONBOARD, soon);
      assertThat(whole.await(soon)).isOne();
      assertThat(client.counts()).isEqualTo(new TransferClient.Counts(1, 1, 1));
    }
  }
}

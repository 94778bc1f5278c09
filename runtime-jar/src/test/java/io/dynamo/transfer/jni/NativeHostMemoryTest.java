package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.natives.NativeTransfer;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.HostMemoryContract;
import org.junit.jupiter.api.Test;

class NativeHostMemoryTest extends HostMemoryContract {
  @Override
  protected HostMemory newMemory() {
    return new NativeHostMemory();
  }

  @Test
  void closingTheMemoryFreesWhatWasLeftOpen() {
    var before = NativeTransfer.heldBytes();
    try (var memory = newMemory()) {
      for (var i = 0; i < 100; i++) {
        memory.allocate(1000);
      }
      assertThat(NativeTransfer.heldBytes()).isEqualTo(before + 100_000);
    }
    assertThat(NativeTransfer.heldBytes()).isEqualTo(before);
  }
}

package io.dynamo.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.transfer.HostMemory.Residency;
import org.junit.jupiter.api.Test;

class JavaHostMemoryTest extends HostMemoryContract {
  @Override
  protected HostMemory newMemory() {
    return new JavaHostMemory();
  }

  @Test
  void plainJavaDoesNotClaimThatItPins() {
    try (var memory = newMemory();
        var region = memory.allocatePinned(4096)) {
      assertThat(region.residency()).isEqualTo(Residency.PAGEABLE);
    }
  }
}

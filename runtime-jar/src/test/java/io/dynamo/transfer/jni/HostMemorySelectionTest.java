package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class HostMemorySelectionTest {
  @Test
  void nativeMemoryIsTakenWhenTheLibraryIsThere() {
    var selection = HostMemorySelection.open(List.of());
    try (var memory = selection.memory()) {
      assertThat(memory.kind()).isEqualTo("native");
      assertThat(selection.whyNotNative()).isNull();
    }
  }

  @Test
  void plainJavaTakesOverAndTheReasonIsKept() {
    var selection = HostMemorySelection.choose(false, "/tmp: failed to map segment");
    try (var memory = selection.memory()) {
      assertThat(memory.kind()).isEqualTo("java");
      assertThat(selection.whyNotNative()).isEqualTo("/tmp: failed to map segment");
      assertThat(memory.allocate(8).byteSize()).isEqualTo(8);
    }
  }
}

package io.dynamo.frontend.grpc;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.InternalMetadata;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CallMetadataTest {
  @Test
  void namesThatOnlyHttpHasAreLeftOut() {
    var received =
        InternalMetadata.newMetadata(
            Stream.of("x!y", "1", "x-some", "2", "x|z", "3", "a_b.c", "4", "d-bin", "5")
                .map(text -> text.getBytes(US_ASCII))
                .toArray(byte[][]::new));

    assertThat(CallMetadata.headers(received)).isEqualTo(Map.of("x-some", "2", "a_b.c", "4"));
  }
}

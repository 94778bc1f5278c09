package io.dynamo.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.testing.TestSettings;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchesKeysTest {
  @ParameterizedTest
  @CsvSource({
    ", on-request, true",
    ", by-default, true",
    ", off, false",
    "true, off, true",
    "false, on-request, false",
  })
  void batchesAreServedWhereResponsesAreStoredUnlessASettingSaysOtherwise(
      @Nullable String enabled, String store, boolean served) {
    var settings = new HashMap<>(Map.of("dynamo.frontend.responses.store", store));
    if (enabled != null) {
      settings.put("dynamo.frontend.batches.enabled", enabled);
    }

    assertThat(TestSettings.with(settings).batches().enabled()).isEqualTo(served);
  }
}

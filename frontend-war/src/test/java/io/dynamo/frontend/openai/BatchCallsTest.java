package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.Listing;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The parameters of lists. */
class BatchCallsTest {
  private static final BatchCalls.Catalog CATALOG = new BatchCalls.Catalog(5000, 9000, 1000, 1);

  @Test
  void pagesAreBoundedWhateverTheirLimit() {
    assertThat(BatchCalls.page(null, null, null, CATALOG))
        .isEqualTo(new Listing.Page("", 1000, false));
    assertThat(BatchCalls.page("a", "9000", "asc", CATALOG))
        .isEqualTo(new Listing.Page("a", 1000, true));
    assertThat(BatchCalls.page(null, "7", "desc", CATALOG))
        .isEqualTo(new Listing.Page("", 7, false));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "9001", "-1", "x", "1e3", "99999999999", ""})
  void badLimitsAreRefused(String limit) {
    assertThatThrownBy(() -> BatchCalls.page(null, limit, null, CATALOG))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("1 to 9000");
  }

  @Test
  void badOrdersAreRefused() {
    assertThatThrownBy(() -> BatchCalls.page(null, null, "up", CATALOG))
        .hasMessageContaining("asc or desc");
  }
}

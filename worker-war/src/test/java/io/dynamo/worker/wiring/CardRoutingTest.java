package io.dynamo.worker.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.router.RouterCard;
import io.dynamo.config.router.RouterSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CardRoutingTest {
  private static final RouterSettings OWN = RouterSettings.of(RouterSettings.Mode.RANDOM);

  @Test
  void withoutAWishTheCardSaysNothing() {
    assertThat(CardRouting.of(null, OWN)).isEmpty();
  }

  @Test
  void requestedRoutingIsPublishedWithWhatDynamoDemandsAndAppliedByARouter() {
    var wish =
        CardRouting.of(
            "{\"router_mode\":\"k_v\",\"kv_router_config\":{\"overlap_score_credit\":0.5}}", OWN);
    assertThat(wish)
        .isEqualTo(
            Map.of(
                "router_mode",
                "k_v",
                "kv_router_config",
                Map.of("overlap_score_credit", 0.5),
                "load_threshold_config",
                Map.of()));
    var heeded = RouterCard.read(wish, OWN);
    assertThat(heeded.settings().mode()).isEqualTo(RouterSettings.Mode.KV);
    assertThat(heeded.settings()).isNotEqualTo(RouterSettings.of(RouterSettings.Mode.KV));
  }

  @Test
  void embeddingsAreRoutedByLoad() {
    var heeded = RouterCard.read(CardRouting.byLoad(), OWN);
    assertThat(heeded.ignored()).isEmpty();
    assertThat(heeded.settings().mode()).isEqualTo(RouterSettings.Mode.LEAST_LOADED);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kv|is no JSON object",
        "[1]|is no JSON object",
        "{\"router_mode\":\"sideways\"}|no router would heed",
        "{\"kv_router_config\":{\"overlap_score_credit\":-1}}|no router would heed"
      })
  void aWishThatNobodyWouldHeedStopsTheStart(String text, String why) {
    assertThatThrownBy(() -> CardRouting.of(text, OWN))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("dynamo.worker.router-config")
        .hasMessageContaining(why);
  }
}

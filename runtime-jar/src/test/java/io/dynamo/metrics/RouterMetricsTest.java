package io.dynamo.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The router's metrics beside those that the published release shows. */
class RouterMetricsTest {
  /** Shown only by a router that asks another's index: SharedRoutingIT sees it. */
  private static final Set<String> WHEN_ASKING =
      Set.of("dynamo_component_router_remote_indexer_query_failures_total");

  private static JsonNode recorded() throws IOException {
    try (var in =
        RouterMetricsTest.class.getResourceAsStream("/golden/metrics/router-families.json")) {
      return new ObjectMapper().readTree(in);
    }
  }

  private static List<MetricName> own() {
    return Arrays.stream(RouterMetrics.class.getFields())
        .filter(field -> Modifier.isStatic(field.getModifiers()))
        .map(
            field -> {
              try {
                return (MetricName) field.get(null);
              } catch (IllegalAccessException e) {
                throw new AssertionError(e);
              }
            })
        .toList();
  }

  @Test
  void histogramsHaveTheRecordedBuckets() throws IOException {
    var families = recorded();
    int compared = 0;
    for (var name : own()) {
      var family = families.path(name.name());
      if (family.path("type").asText().equals("histogram")) {
        var bounds = new ArrayList<Double>();
        for (var bound : family.path("le")) {
          if (!bound.asText().equals("+Inf")) {
            bounds.add(Double.valueOf(bound.asText()));
          }
        }
        assertThat(name.buckets()).as(name.name()).isEqualTo(bounds);
        compared++;
      } else {
        assertThat(name.buckets()).as(name.name()).isEmpty();
      }
    }
    assertThat(compared).isEqualTo(13);
  }

  @Test
  void aNameThatLooksLikeDynamosIsDynamos() throws IOException {
    var families = recorded();
    assertThat(own())
        .extracting(MetricName::name)
        .filteredOn(
            name ->
                name.startsWith("dynamo_component_")
                    || name.startsWith("dynamo_router_overhead_")
                    || name.startsWith("dynamo_frontend_"))
        .filteredOn(name -> !WHEN_ASKING.contains(name))
        .isNotEmpty()
        .allSatisfy(name -> assertThat(families.has(name)).as(name).isTrue());
  }
}

package io.dynamo.frontend.openai.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StrictSchemasTest {
  private static final String CLOSED = "\"type\":\"object\",\"additionalProperties\":false";

  @Test
  void openSchemaIsFoundWithItsPlace() throws JsonText.Malformed {
    assertThat(
            open("{%s,\"properties\":{\"a\":{\"items\":{\"anyOf\":[{},{\"type\":\"object\"}]}}}}"))
        .isEqualTo("#/properties/a/items/anyOf/1");
    assertThat(open("{\"properties\":{}}")).isEqualTo("#");
    assertThat(open("{%s,\"properties\":{\"a\":{\"type\":\"string\"}}}")).isNull();
  }

  /** 360 KB: the place of each of 10,000 properties has 250,000 characters. */
  @Test
  void schemaOfManyDeepPropertiesIsCheckedInProportionToItsLength() throws JsonText.Malformed {
    var text = new StringBuilder();
    int levels = 50;
    for (int i = 0; i < levels; i++) {
      text.append('{')
          .append(CLOSED)
          .append(",\"properties\":{\"")
          .repeat('k', 5_000)
          .append("\":");
    }
    text.append('{').append(CLOSED).append(",\"properties\":{");
    for (int i = 0; i < 10_000; i++) {
      text.append(i == 0 ? "\"" : ",\"").append(i).append("\":{}");
    }
    text.append("}}").repeat("}}", levels);
    JsonNode schema = JsonText.parse(text.toString());
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThat(StrictSchemas.openContext(schema)).isNull();
    assertThat(threads.getCurrentThreadAllocatedBytes() - before)
        .as("bytes allocated")
        .isLessThan(100L * text.length());
  }

  private static @Nullable String open(String schema) throws JsonText.Malformed {
    return StrictSchemas.openContext(JsonText.parse(schema.formatted(CLOSED)));
  }
}

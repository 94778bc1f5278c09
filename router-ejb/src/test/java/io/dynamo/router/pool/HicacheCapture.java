package io.dynamo.router.pool;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A capture of the objects that Dynamo 1.6.1's frontend looks for: workers' cards, and for each the
 * keys of a prompt's objects, of which one at a time was missing. {@code golden/hicache/README.md}
 * describes how it was recorded.
 */
final class HicacheCapture {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * One card.
   *
   * @param blocksFound blocks found with all objects present
   * @param foundWithout blocks found by the key of an object of the first page: while it was
   *     missing, and after it was back
   */
  record Card(
      String name,
      Map<?, ?> card,
      List<List<String>> keys,
      int blocksFound,
      Map<String, List<Integer>> foundWithout) {
    @Override
    public String toString() {
      return name;
    }
  }

  private HicacheCapture() {}

  static JsonNode read(String name) {
    try (var in = HicacheCapture.class.getResourceAsStream("/golden/hicache/" + name)) {
      return JSON.readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static int[] tokens() {
    return JSON.convertValue(read("keys.json").path("tokens"), int[].class);
  }

  static Stream<Card> cards() {
    return StreamSupport.stream(read("keys.json").path("cards").spliterator(), false)
        .map(
            node -> {
              var keys = new ArrayList<List<String>>();
              node.path("keys")
                  .forEach(page -> keys.add(List.of(JSON.convertValue(page, String[].class))));
              return new Card(
                  node.path("name").textValue(),
                  JSON.convertValue(node.path("card"), Map.class),
                  keys,
                  node.path("blocks_found").intValue(),
                  JSON.convertValue(
                      node.path("found_without_key"),
                      new TypeReference<Map<String, List<Integer>>>() {}));
            });
  }

  static Card card(String name) {
    return cards().filter(card -> card.name.equals(name)).findAny().orElseThrow();
  }
}

package io.dynamo.router.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.kv.ObjectEvent;
import io.dynamo.kv.ObjectEvent.Medium;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the names of objects with those that Dynamo 1.6.1 was recorded to look for. */
class HicacheKeysTest {
  static Stream<HicacheCapture.Card> cardsOfFoundPages() {
    return HicacheCapture.cards().filter(card -> card.blocksFound() > 0);
  }

  private static List<PageHash> pages(HicacheLayout layout) {
    var hasher = new PageHasher(HicacheCapture.tokens(), layout);
    return Stream.generate(hasher::next).limit(hasher.pages()).toList();
  }

  private static ObjectEvent stored(String key) {
    return new ObjectEvent.Stored(ObjectEvent.DEFAULT_TENANT, key, Medium.MEMORY);
  }

  private static ObjectEvent removed(String key) {
    return new ObjectEvent.Removed(ObjectEvent.DEFAULT_TENANT, key, Medium.MEMORY);
  }

  @ParameterizedTest
  @MethodSource("cardsOfFoundPages")
  void aPageIsThereWithTheObjectsThatDynamoLooksForAndWithoutOneOfThemItIsNot(
      HicacheCapture.Card captured) {
    var layout = HicacheLayout.read(captured.card());
    var pages = pages(layout);
    assertThat(pages).hasSize(captured.blocksFound()).hasSameSizeAs(captured.keys());
    var index = new PageIndex(layout);
    for (int i = 0; i < pages.size(); i++) {
      var page = pages.get(i);
      var keys = captured.keys().get(i);
      assertThat(layout.suffixes()).hasSameSizeAs(keys);
      for (var key : keys) {
        assertThat(index.holds(page)).as("before %s", key).isFalse();
        assertThat(index.apply(stored(key))).isTrue();
      }
      assertThat(index.holds(page)).as("%s", keys).isTrue();
    }
    assertThat(captured.foundWithout()).containsOnlyKeys(captured.keys().getFirst());
    captured
        .foundWithout()
        .forEach(
            (key, found) -> {
              index.apply(removed(key));
              assertThat(pages).filteredOn(index::holds).as("no %s", key).hasSize(found.get(0));
              index.apply(stored(key));
              assertThat(pages).filteredOn(index::holds).as("again").hasSize(found.get(1));
            });
  }

  @Test
  void theCaptureHasEveryKindOfLayout() {
    var layouts = cardsOfFoundPages().map(card -> HicacheLayout.read(card.card())).toList();
    assertThat(layouts).extracting(HicacheLayout::drafting).contains(true, false);
    assertThat(layouts).extracting(layout -> layout.suffixes().size()).contains(1, 2, 3, 4, 8);
    assertThat(layouts)
        .extracting(HicacheLayout::prefix)
        .contains("", "_", "tag_", "tag_model_", "Qwen-Qwen3-0.6B_");
  }

  @Test
  void anIncompletePageHasNoName() {
    var whole = HicacheLayout.read(HicacheCapture.card("plain").card());
    var pairs = HicacheLayout.read(HicacheCapture.card("drafting").card());
    for (int tokens = 0; tokens < 50; tokens++) {
      assertThat(new PageHasher(new int[tokens], whole).pages()).isEqualTo(tokens / 16);
      assertThat(new PageHasher(new int[tokens], pairs).pages())
          .isEqualTo(Math.max(0, tokens - 1) / 16);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "page_size, 0",
    "page_size, -1",
    "page_size, 1.5",
    "page_size,",
    "tp_size, 99999999999",
    "tp_size, 4096",
    "is_mla_model, 1",
    "is_eagle,",
    "should_split_heads, yes",
    "key_prefix, 7",
    "extra_backend_tag, 7"
  })
  void aCardThatMakesNoSenseIsRefusedByWhatItSays(String name, String text) {
    var card = new HashMap<Object, Object>(HicacheCapture.card("plain").card());
    Object value = text == null || !text.matches("-?[0-9.]+") ? text : Double.valueOf(text);
    card.put(name, value);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HicacheLayout.read(card))
        .withMessageMatching("its (%s is|pages are cut) .*".formatted(name));
  }

  @Test
  void cardsThatNameTheSameObjectsAreTheSameWhateverElseTheySay() {
    var card = new HashMap<Object, Object>(HicacheCapture.card("latent").card());
    var layout = HicacheLayout.read(card);
    card.put("tp_size", 8);
    card.put("kv_events_endpoint", "tcp://elsewhere:1");
    assertThat(HicacheLayout.read(card)).isEqualTo(layout);
    card.put("pp_size", 2);
    assertThat(HicacheLayout.read(card)).isNotEqualTo(layout);
  }

  @Test
  void keysOfOthersTakeNoRoom() {
    var captured = HicacheCapture.card("taggedprefix");
    var index = new PageIndex(HicacheLayout.read(captured.card()));
    var ours = captured.keys().getFirst().getFirst();
    var hash = ours.substring("tag_model_".length(), "tag_model_".length() + PageHash.DIGITS);
    var others = new ArrayList<String>();
    others.add("");
    others.add("tag_model_");
    others.add("tag_model_" + hash);
    others.add("tag_model_" + hash.substring(1) + "_0_k");
    others.add("tag_model_" + hash.toUpperCase(Locale.ROOT) + "_0_k");
    others.add("tag_" + hash + "_0_k");
    others.add("tag_model_" + hash + "_1_k");
    others.add("tag_model_" + hash + "_0_k ");
    others.add("sglang_mooncake_store_warmup_key" + hash);
    for (var other : others) {
      assertThat(index.apply(stored(other))).isTrue();
      index.apply(removed(other));
    }
    assertThat(index.isEmpty()).isTrue();
    index.apply(stored(ours));
    assertThat(index.size()).isEqualTo(1);
    assertThat(Objects.requireNonNull(PageHash.read(hash, 0)))
        .isEqualTo(pages(HicacheLayout.read(captured.card())).getFirst());
  }
}
